package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;
import org.jspecify.annotations.Nullable;

/**
 * One page of a tenant's memories.
 *
 * @param limit how many memories at most, 1 to 1,000
 * @param cursor where to go on, as {@link MemoryPage#next()} gave it, or null for the first page
 */
public record ListQuery(int limit, @Nullable String cursor) {

    private static final int MAX_LIMIT = 1_000;

    /** Checks the parts. */
    public ListQuery {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new InvalidInputException("limit", "must be 1 to " + MAX_LIMIT + ", is " + limit);
        }
    }

    /**
     * The first page.
     *
     * @param limit how many memories at most, 1 to 1,000
     * @return the query
     */
    public static ListQuery first(int limit) {
        return new ListQuery(limit, null);
    }

    /**
     * Reads a cursor that is a number, as a backend gave it out.
     *
     * @return the number, or the highest one for the first page
     * @throws InvalidInputException if the cursor is none of ours
     */
    public long cursorAsNumber() {
        if (cursor == null) {
            return Long.MAX_VALUE;
        }
        try {
            return Long.parseLong(cursor);
        } catch (NumberFormatException e) {
            throw new InvalidInputException("cursor", "is none that a page of this log gave out");
        }
    }
}
