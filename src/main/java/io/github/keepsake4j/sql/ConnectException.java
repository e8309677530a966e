package io.github.keepsake4j.sql;

import java.sql.SQLException;

/**
 * Thrown when no connection could be obtained. Connection pools report this in different ways, often without an
 * SQLSTATE.
 */
final class ConnectException extends SQLException {

    ConnectException(SQLException cause) {
        super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
    }
}
