package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;

/**
 * A query for one page of a memory's history. Start with {@link #newest} or {@link #oldest}, and continue with
 * {@link HistoryPage#next()}.
 *
 * @param limit the maximum number of messages, 1 to 10,000
 * @param sequence where the page starts: below this sequence going back, above it going forward
 * @param forward whether pages go from old to new
 */
public record HistoryQuery(int limit, long sequence, boolean forward) {

    private static final int MAX_LIMIT = 10_000;

    /** Checks the components. */
    public HistoryQuery {
        InvalidInputException.checkRange("limit", 1, MAX_LIMIT, limit);
        InvalidInputException.checkAtLeast("sequence", 0, sequence);
    }

    /**
     * Creates a query for the newest page. The next pages go back in time.
     *
     * @param pageSize the maximum number of messages of a page, 1 to 10,000
     * @return the query
     * @throws InvalidInputException if the size is out of range
     */
    public static HistoryQuery newest(int pageSize) {
        return new HistoryQuery(pageSize, Long.MAX_VALUE, false);
    }

    /**
     * Creates a query for the oldest page. The next pages go forward in time.
     *
     * @param pageSize the maximum number of messages of a page, 1 to 10,000
     * @return the query
     * @throws InvalidInputException if the size is out of range
     */
    public static HistoryQuery oldest(int pageSize) {
        return new HistoryQuery(pageSize, 0, true);
    }
}
