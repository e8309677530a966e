package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.sql.SqlConnection;
import io.github.keepsake4j.sql.SqlStates;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Provides connections to PostgreSQL from any {@link DataSource}. Work runs on a connection of its own, independent of
 * the caller's transaction, and is committed when the method returns. It needs and leaves no state in the session, because
 * a transaction pooler may assign another session to each transaction; what statements leave, {@link Preparation} tells.
 * The isolation level is that of the data source. If that level makes a transaction fail because of concurrent
 * transactions, the work is repeated.
 */
final class PostgresConnections extends Connections {

    /** The maximum number of attempts. With the pauses between them they take about ten seconds. */
    private static final int MAX_TRIES = 40;

    private static final long LONGEST_PAUSE_MILLIS = 500;

    private final DataSource dataSource;
    private final int timeoutSeconds;
    private final Watchdog watchdog;
    private final boolean transactionPooler;
    private final @Nullable AutoCloseable owned;
    private final Dialect dialect;
    private final PostgresSchema schema;
    private final Preparation preparation;
    private volatile boolean closed;

    /**
     * Creates the object without connecting.
     *
     * @param transactionPooler whether nothing may be prepared on the server
     * @param owned the resource to close together with this object, or null
     */
    PostgresConnections(
            DataSource dataSource,
            Duration statementTimeout,
            PostgresSchema schema,
            boolean transactionPooler,
            @Nullable AutoCloseable owned) {
        this.dataSource = dataSource;
        // The check of the tables takes JDBC's timeout, in whole seconds, where 0 means no limit.
        this.timeoutSeconds =
                Math.toIntExact(Math.max(1, statementTimeout.plusMillis(999).toSeconds()));
        this.watchdog = new Watchdog(statementTimeout);
        this.transactionPooler = transactionPooler;
        this.owned = owned;
        this.schema = schema;
        PlanRenewal renewal = new PlanRenewal();
        this.preparation = new Preparation(renewal);
        this.dialect = new PostgresDialect(schema::isDistributed, renewal);
    }

    @Override
    Dialect dialect() {
        return dialect;
    }

    @Override
    <T> T write(Object what, Work<T> work) {
        return retried(what, false, work);
    }

    @Override
    <T> T single(Object what, Work<T> work) {
        return retried(what, true, work);
    }

    @Override
    public void close() {
        closed = true;
        watchdog.close();
        if (owned != null) {
            try {
                owned.close();
            } catch (Exception e) {
                throw new KeepsakeException("the connection pool could not be closed", e);
            }
        }
    }

    private <T> T retried(Object what, boolean autoCommit, Work<T> work) {
        if (closed) {
            throw new StorageClosedException(String.valueOf(what));
        }
        boolean isFirst = true;
        for (int tries = 1; ; tries++) {
            try {
                return onConnection(autoCommit, work);
            } catch (SQLException e) {
                if (isFirst && schema.isChecked() && SqlStates.mayHaveOtherTables(e)) {
                    // Another script was run beneath this process. What was checked before may be otherwise now.
                    isFirst = false;
                    schema.forget();
                    continue;
                }
                if (tries == MAX_TRIES || !SqlStates.isLostRace(e)) {
                    throw PostgresErrors.translate(String.valueOf(what), e, autoCommit && !transactionPooler);
                }
                pause(String.valueOf(what), tries);
            } catch (DamagedException e) {
                throw e.during(String.valueOf(what));
            }
        }
    }

    private <T> T onConnection(boolean autoCommit, Work<T> work) throws SQLException {
        try (SqlConnection connection = SqlConnection.postgres(connect())) {
            if (transactionPooler) {
                connection.requireUnprepared("transactionPooler()");
            }
            try {
                if (!schema.isChecked()) {
                    connection.setAutoCommit(false);
                    schema.check(connection, timeoutSeconds);
                }
                connection.setAutoCommit(autoCommit);
                if (autoCommit) {
                    return work.on(
                            new Session(connection, dialect, watchdog, transactionPooler ? null : preparation, null));
                }
                Session session = new Session(connection, dialect, watchdog, null, null);
                return connection.inTransaction(() -> work.on(session));
            } catch (SQLException e) {
                throw SqlStates.readOnlyBySetting(connection, e, timeoutSeconds);
            }
        }
    }

    private Connection connect() throws SQLException {
        try {
            return dataSource.getConnection();
        } catch (SQLException e) {
            throw new ConnectException(e);
        }
    }

    private static void pause(String what, int tries) {
        long longest = Math.min(LONGEST_PAUSE_MILLIS, 2L << Math.min(tries, 20));
        try {
            Thread.sleep(ThreadLocalRandom.current().nextLong(longest + 1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StorageUnavailableException(what + ": interrupted while waiting for concurrent transactions", e);
        }
    }
}
