package io.github.keepsake4j.log.jdbc;

import java.sql.SQLException;

/** Thrown when a session takes no writes although its server does, which no retry mends. */
final class ReadOnlySessionException extends SQLException {

    private static final long serialVersionUID = 1L;

    ReadOnlySessionException(SQLException cause) {
        super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
    }
}
