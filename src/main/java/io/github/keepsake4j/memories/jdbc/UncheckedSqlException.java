package io.github.keepsake4j.memories.jdbc;

import java.sql.SQLException;

/** Carries the error of a database through methods that declare none. */
final class UncheckedSqlException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final SQLException cause;

    UncheckedSqlException(SQLException cause) {
        super(cause);
        this.cause = cause;
    }

    @Override
    public SQLException getCause() {
        return cause;
    }
}
