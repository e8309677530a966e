package io.github.keepsake4j.log.jdbc;

import java.sql.SQLException;

/** No connection was to be had. Pools say so in ways of their own, often without an SQLSTATE. */
final class ConnectException extends SQLException {

    private static final long serialVersionUID = 1L;

    ConnectException(SQLException cause) {
        super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
    }
}
