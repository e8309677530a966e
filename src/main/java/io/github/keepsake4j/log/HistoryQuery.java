package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A query for one page of a memory's history. Start with {@link #newest} or {@link #oldest}, and continue with
 * {@link HistoryPage#next()}. If an application only kept the sequence of a message, continue with {@link #before} or
 * {@link #after}.
 */
public final class HistoryQuery {

    private static final int MAX_LIMIT = 10_000;

    private final int limit;
    private final long sequence;
    private final boolean forward;

    private HistoryQuery(int limit, long sequence, boolean forward) {
        InvalidInputException.checkRange("limit", 1, MAX_LIMIT, limit);
        InvalidInputException.checkAtLeast("sequence", 0, sequence);
        this.limit = limit;
        this.sequence = sequence;
        this.forward = forward;
    }

    /**
     * Creates a query for the newest page. The next pages go back in time.
     *
     * @param pageSize the maximum number of messages of a page, 1 to 10,000
     * @return the query
     * @throws InvalidInputException if the size is out of range
     */
    public static HistoryQuery newest(int pageSize) {
        return before(Long.MAX_VALUE, pageSize);
    }

    /**
     * Creates a query for the oldest page. The next pages go forward in time.
     *
     * @param pageSize the maximum number of messages of a page, 1 to 10,000
     * @return the query
     * @throws InvalidInputException if the size is out of range
     */
    public static HistoryQuery oldest(int pageSize) {
        return after(0, pageSize);
    }

    /**
     * Creates a query for the newest messages before a message. The next pages go back in time.
     *
     * @param sequence the sequence of the message, 0 or more
     * @param pageSize the maximum number of messages of a page, 1 to 10,000
     * @return the query
     * @throws InvalidInputException if a number is out of range
     */
    public static HistoryQuery before(long sequence, int pageSize) {
        return new HistoryQuery(pageSize, sequence, false);
    }

    /**
     * Creates a query for the oldest messages after a message. The next pages go forward in time.
     *
     * @param sequence the sequence of the message, 0 or more
     * @param pageSize the maximum number of messages of a page, 1 to 10,000
     * @return the query
     * @throws InvalidInputException if a number is out of range
     */
    public static HistoryQuery after(long sequence, int pageSize) {
        return new HistoryQuery(pageSize, sequence, true);
    }

    /** Returns the query of another page in the same direction. */
    HistoryQuery at(long edge) {
        return new HistoryQuery(limit, edge, forward);
    }

    /**
     * Returns the maximum number of messages, 1 to 10,000.
     *
     * @return the maximum number of messages
     */
    public int limit() {
        return limit;
    }

    /**
     * Returns the sequence below which the page starts if it goes back, and above which it starts if it goes forward.
     *
     * @return the sequence below which the page starts if it goes back
     */
    public long sequence() {
        return sequence;
    }

    /**
     * Returns whether pages go from old to new.
     *
     * @return whether pages go from old to new
     */
    public boolean forward() {
        return forward;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof HistoryQuery same && parts().equals(same.parts());
    }

    @Override
    public int hashCode() {
        return parts().hashCode();
    }

    @Override
    public String toString() {
        return "HistoryQuery" + parts();
    }

    private List<@Nullable Object> parts() {
        return Arrays.asList(limit, sequence, forward);
    }
}
