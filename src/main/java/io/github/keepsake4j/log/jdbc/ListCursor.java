package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.message.InvalidInputException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;

/**
 * The place of a memory in a list. Numbers and times may repeat; the key, which is the last part of the order, does not.
 *
 * @param activeAt the time of the memory's last activity, in microseconds
 * @param number its number in the order of creation
 * @param memoryKey the bytes that name it
 */
@SuppressWarnings("ArrayRecordComponent") // Private to this package, and never compared.
record ListCursor(long activeAt, long number, byte[] memoryKey) {

    /** The values of a list's statement, in this order. */
    static final String PARAMETERS = "tenant active_at number memory_key rows from_day to_day";

    private static final int KEY_BYTES = 24;

    /** Returns the place behind which a page starts: the place of the query's cursor, or the highest one. */
    static ListCursor of(ListQuery query) {
        String cursor = query.cursor();
        if (cursor == null) {
            byte[] highest = new byte[KEY_BYTES];
            Arrays.fill(highest, (byte) -1);
            return new ListCursor(Long.MAX_VALUE, Long.MAX_VALUE, highest);
        }
        String[] parts = cursor.split("/", -1);
        int first = query.activeFirst() ? 1 : 0;
        try {
            if (parts.length == first + 2) {
                Instant activeAt = query.activeFirst() ? Instant.parse(parts[0]) : Instant.EPOCH;
                return new ListCursor(
                        Rows.micros(InputRules.time("cursor", activeAt)),
                        Long.parseLong(parts[first]),
                        HexFormat.of().parseHex(parts[first + 1]));
            }
        } catch (DateTimeException | IllegalArgumentException e) {
            // Refused below.
        }
        throw new InvalidInputException(
                "cursor", "is not from a list of this log in this order; start with the first page");
    }

    static ListCursor of(ResultSet row) throws SQLException {
        return new ListCursor(
                Rows.number(row, "active_at"),
                Rows.number(row, "number"),
                Objects.requireNonNull(row.getBytes("memory_key")));
    }

    /** Returns the cursor of the page that continues behind this place. */
    String text(boolean activeFirst) {
        String place = number + "/" + HexFormat.of().formatHex(memoryKey);
        return activeFirst ? Rows.time(activeAt) + "/" + place : place;
    }
}
