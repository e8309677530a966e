package io.github.keepsake4j.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * Controls the statements that PostgreSQL's driver prepares on one connection while it is in use. The only class that
 * requires the driver's own types.
 */
record DriverPreparation(PGConnection connection, int threshold) {

    /** Stops preparing on a connection. Returns null if the connection is not a connection of the driver. */
    static @Nullable DriverPreparation stop(Connection connection) throws SQLException {
        if (!connection.isWrapperFor(PGConnection.class)) {
            return null;
        }
        PGConnection driver = connection.unwrap(PGConnection.class);
        DriverPreparation stopped = new DriverPreparation(driver, driver.getPrepareThreshold());
        driver.setPrepareThreshold(0);
        return stopped;
    }

    /** Returns whether a transaction is open. */
    boolean isInTransaction() {
        return connection instanceof BaseConnection driver && driver.getTransactionState() != TransactionState.IDLE;
    }

    boolean prepares() {
        return threshold != 0;
    }

    /** Lets the driver prepare a statement according to the data source's settings. */
    void allow(Statement statement) throws SQLException {
        statement.unwrap(PGStatement.class).setPrepareThreshold(threshold);
    }

    /** Lets the driver prepare on the connection as before. */
    void restore() {
        connection.setPrepareThreshold(threshold);
    }
}
