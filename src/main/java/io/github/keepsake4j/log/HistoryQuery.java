package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;

/**
 * One page of a memory's history. Start with {@link #newest} or {@link #oldest}; {@link HistoryPage#next()} goes on.
 *
 * @param limit how many messages at most, 1 to 10,000
 * @param sequence where the page starts: below this one going back, above it going forward
 * @param forward whether pages go from old to new
 */
public record HistoryQuery(int limit, long sequence, boolean forward) {

    private static final int MAX_LIMIT = 10_000;

    /** Checks the parts. */
    public HistoryQuery {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new InvalidInputException("limit", "must be 1 to " + MAX_LIMIT + ", is " + limit);
        }
        if (sequence < 0) {
            throw new InvalidInputException("sequence", "must not be negative");
        }
    }

    /**
     * The newest page; the next ones go back in time.
     *
     * @param limit how many messages at most, 1 to 10,000
     * @return the query
     */
    public static HistoryQuery newest(int limit) {
        return new HistoryQuery(limit, Long.MAX_VALUE, false);
    }

    /**
     * The oldest page; the next ones go forward in time.
     *
     * @param limit how many messages at most, 1 to 10,000
     * @return the query
     */
    public static HistoryQuery oldest(int limit) {
        return new HistoryQuery(limit, 0, true);
    }
}
