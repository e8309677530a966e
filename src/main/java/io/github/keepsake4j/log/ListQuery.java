package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;
import org.jspecify.annotations.Nullable;

/**
 * A query for one page of a tenant's memories.
 *
 * @param limit the maximum number of memories, 1 to 1,000
 * @param cursor where the page starts, as returned by {@link MemoryPage#next()}, or null for the first page
 */
public record ListQuery(int limit, @Nullable String cursor) {

    private static final int MAX_LIMIT = 1_000;

    /** Checks the components. */
    public ListQuery {
        InvalidInputException.checkRange("limit", 1, MAX_LIMIT, limit);
    }

    /**
     * Creates a query for the first page.
     *
     * @param limit the maximum number of memories, 1 to 1,000
     * @return the query
     * @throws InvalidInputException if the limit is out of range
     */
    public static ListQuery first(int limit) {
        return new ListQuery(limit, null);
    }

    /**
     * Returns the cursor of a backend whose cursors are numbers.
     *
     * @return the number, or the highest one for the first page
     * @throws InvalidInputException if the cursor is not a number
     */
    public long cursorAsNumber() {
        if (cursor == null) {
            return Long.MAX_VALUE;
        }
        try {
            return Long.parseLong(cursor);
        } catch (NumberFormatException e) {
            throw new InvalidInputException("cursor", "was not returned by a page of this log");
        }
    }
}
