package io.github.keepsake4j.sql;

import io.github.keepsake4j.base.Library;
import io.github.keepsake4j.jdbc.PostgresBuilder.Settings;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Provides connections to PostgreSQL from any {@link DataSource}. Work runs on a connection of its own, independent of
 * the caller's transaction, and is committed when the method returns. It needs and leaves no state in the session,
 * because a transaction pooler may assign another session to each transaction; {@link Preparation} describes prepared
 * statements. The isolation level comes from the data source. If that level makes a transaction fail because of
 * concurrent transactions, the work is repeated.
 */
final class PostgresConnections implements Connections {

    /** The maximum number of attempts. The pauses between them take up to 17 seconds, on average half of it. */
    private static final int MAX_TRIES = 40;

    private static final long LONGEST_PAUSE_MILLIS = 500;

    /** The least time limit of a statement that removes everything, however much that is. */
    private static final Duration CLEARING = Duration.ofSeconds(30);

    private final DataSource dataSource;
    private final boolean isOwned;
    private final PostgresSchema schema;
    private final Watchdog watchdog;
    private final Watchdog clearing;
    private final int timeoutSeconds;
    private final boolean transactionPooler;
    private final @Nullable Preparation preparation;
    private volatile boolean closed;

    /**
     * Creates the object without connecting.
     *
     * @param preparation the statements that are prepared unless the settings name a transaction pooler, or null for
     * none
     */
    PostgresConnections(Settings settings, PostgresSchema schema, @Nullable Preparation preparation) {
        DataSource source = settings.dataSource();
        this.isOwned = source == null;
        if (isOwned) {
            Library.require(Library.POSTGRESQL, Library.HIKARI);
        }
        this.dataSource = source == null ? OwnPool.open(settings) : source;
        Duration statementTimeout = settings.statementTimeout();
        this.schema = schema;
        this.watchdog = new Watchdog(statementTimeout);
        this.clearing = new Watchdog(statementTimeout.compareTo(CLEARING) < 0 ? CLEARING : statementTimeout);
        // The check of the tables uses JDBC's timeout, in whole seconds; 0 means no limit.
        this.timeoutSeconds =
                Math.toIntExact(Math.max(1, statementTimeout.plusMillis(999).toSeconds()));
        this.transactionPooler = settings.transactionPooler();
        this.preparation = transactionPooler ? null : preparation;
    }

    @Override
    public <T> T write(Object what, Work<T> work) {
        return retried(what, false, work);
    }

    @Override
    public <T> T clear(Object what, Work<T> work) {
        return retried(what, false, session -> {
            SqlConnection connection = session.connection();
            // Later than the limit of a statement, whose error names the cause.
            return connection.waiting(
                    CLEARING.plusSeconds(1), () -> work.on(new Session(connection, clearing, null, null)));
        });
    }

    @Override
    public <T> T single(Object what, Work<T> work) {
        return retried(what, true, work);
    }

    @Override
    public <T> T snapshot(Object what, Work<T> work) {
        return retried(what, false, session -> {
            session.connection().execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
            return work.on(session);
        });
    }

    @Override
    public void compact(List<String> tables) {
        retried("compact of the " + schema.scripts().schema().what(), true, session -> {
            for (String table : tables) {
                // Like VACUUM FULL, but in the order of the key: rows that are read together are stored together.
                session.connection().execute("CLUSTER " + table + " USING " + table + "_pkey");
                session.connection().execute("ANALYZE " + table);
            }
            return true;
        });
    }

    /** Does not show the data source, whose text may contain a password. */
    @Override
    public String toString() {
        return "PostgreSQL";
    }

    @Override
    public void close() {
        closed = true;
        watchdog.close();
        clearing.close();
        if (isOwned && dataSource instanceof AutoCloseable pool) {
            try {
                pool.close();
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
                    // Another script was run while this process uses the tables. The results of earlier checks may be
                    // outdated.
                    isFirst = false;
                    schema.forget();
                    continue;
                }
                if (tries == MAX_TRIES || !SqlStates.isLostRace(e)) {
                    throw PostgresErrors.translate(what, e, autoCommit && preparation != null, schema.scripts());
                }
                pause(what, tries);
            } catch (DamagedException e) {
                throw e.during(what, schema.scripts().schema());
            }
        }
    }

    private <T> T onConnection(boolean autoCommit, Work<T> work) throws SQLException {
        try (SqlConnection connection = SqlConnection.postgres(connect())) {
            if (transactionPooler) {
                connection.requireUnprepared("transactionPooler()");
            }
            try {
                // A connection that belongs to the caller's transaction refuses this. Nothing was sent yet, so the
                // transaction is as it was.
                connection.setAutoCommit(true);
                if (!schema.isChecked()) {
                    connection.setAutoCommit(false);
                    schema.check(new Session(connection, watchdog, null, null));
                }
                connection.setAutoCommit(autoCommit);
                Session session = new Session(connection, watchdog, autoCommit ? preparation : null, null);
                return autoCommit ? work.on(session) : connection.inTransaction(() -> work.on(session));
            } catch (SQLException e) {
                throw SqlStates.readOnlyBySetting(connection, e, timeoutSeconds);
            }
        }
    }

    private Connection connect() throws SQLException {
        try {
            return dataSource.getConnection();
        } catch (SQLException e) {
            throw new ConnectException(e, dataSource);
        }
    }

    private static void pause(Object what, int tries) {
        long longest = Math.min(LONGEST_PAUSE_MILLIS, 2L << Math.min(tries, 20));
        try {
            Thread.sleep(ThreadLocalRandom.current().nextLong(longest + 1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StorageUnavailableException(what + ": interrupted while waiting for concurrent transactions", e);
        }
    }
}
