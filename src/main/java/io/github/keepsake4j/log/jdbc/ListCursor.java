package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.message.InvalidInputException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Instant;

/**
 * The place of a memory in a list. In PostgreSQL, times and numbers may repeat, and the tie decides.
 *
 * @param place the time of the memory's last activity, in microseconds, or 0 in order of creation
 * @param number its number in the order of creation
 * @param tie the last part of the order
 */
record ListCursor(long place, long number, long tie) {

    /** The values of a list's statement, in this order. */
    static final String PARAMETERS = "tenant list place number tie rows from_day to_day";

    /** Returns the place behind which a page starts: the place of the query's cursor, or the highest one. */
    static ListCursor of(ListQuery query) {
        String cursor = query.cursor();
        if (cursor == null) {
            return new ListCursor(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);
        }
        String[] parts = cursor.split("/", -1);
        int first = query.activeFirst() ? 1 : 0;
        try {
            if (parts.length == first + 2) {
                Instant activeAt = query.activeFirst() ? Instant.parse(parts[0]) : Instant.EPOCH;
                return new ListCursor(
                        Rows.micros(InputRules.time("cursor", activeAt)),
                        Long.parseLong(parts[first]),
                        Long.parseUnsignedLong(parts[first + 1], 16));
            }
        } catch (DateTimeException | IllegalArgumentException e) {
            // Refused below.
        }
        throw new InvalidInputException(
                "cursor", "is not from a list of this log in this order; start with the first page");
    }

    static ListCursor of(ResultSet row) throws SQLException {
        return new ListCursor(Rows.number(row, "place"), Rows.number(row, "number"), Rows.number(row, "tie"));
    }

    /** Returns the cursor of the page that continues behind this place. */
    String text(boolean activeFirst) {
        String behind = number + "/" + Long.toHexString(tie);
        return activeFirst ? Rows.time(place) + "/" + behind : behind;
    }
}
