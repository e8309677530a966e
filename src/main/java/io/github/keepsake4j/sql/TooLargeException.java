package io.github.keepsake4j.sql;

import java.sql.SQLException;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Thrown when the values of a statement are larger than PostgreSQL accepts at once. */
final class TooLargeException extends SQLException {

    /** The largest number of bytes of a message of the protocol. */
    private static final long MOST = 0x3fffffff;

    private TooLargeException(long bytes, SQLException cause) {
        super(
                "what is to be written has " + bytes + " bytes, and PostgreSQL takes at most " + MOST
                        + " in one statement; split it",
                cause.getSQLState(),
                cause.getErrorCode(),
                cause);
    }

    /** Returns the error to throw for a failed statement, whose values are counted only now. */
    static SQLException of(SQLException error, @Nullable Object... values) {
        long bytes = Arrays.stream(values)
                .flatMap(value -> value instanceof Object[] array ? Arrays.stream(array) : Stream.ofNullable(value))
                .filter(Objects::nonNull)
                .mapToLong(TooLargeException::bytes)
                .sum();
        return bytes > MOST ? new TooLargeException(bytes, error) : error;
    }

    private static long bytes(Object value) {
        if (value instanceof byte[] binary) {
            return binary.length;
        }
        return value instanceof String text ? utf8(text) : Long.BYTES;
    }

    /** Counts without a copy, because there may be no heap for one. */
    private static long utf8(String text) {
        return text.codePoints()
                .mapToLong(point -> point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4)
                .sum();
    }
}
