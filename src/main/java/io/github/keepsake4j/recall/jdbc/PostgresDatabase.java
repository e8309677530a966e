package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.sql.SqlConnection;
import io.github.keepsake4j.sql.SqlSchema;
import io.github.keepsake4j.sql.SqlStates;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/**
 * PostgreSQL, by connections of any {@link DataSource}. Nothing is prepared on the server: the statements are few and long,
 * and behind a transaction pooler a prepared name may be another client's.
 */
final class PostgresDatabase implements Database {

    private static final int MAX_TRIES = 40;
    private static final long LONGEST_PAUSE_MILLIS = 500;

    /** The key of the advisory lock under which tables are made: any number that no other program locks. */
    private static final long LOCK = 0x6B65657073616B78L;

    private final DataSource dataSource;
    private final int timeoutSeconds;
    private final boolean createTables;
    private final Schema schema;
    private volatile boolean checked;
    private volatile boolean closed;

    PostgresDatabase(DataSource dataSource, int timeoutSeconds, boolean createTables, Schema schema) {
        this.dataSource = dataSource;
        this.schema = schema;
        this.timeoutSeconds = timeoutSeconds;
        this.createTables = createTables;
    }

    @Override
    public <T> T write(String what, Work<T> work) {
        return retried(what, false, work);
    }

    /** Each statement sees its own moment. */
    @Override
    public <T> T read(String what, Work<T> work) {
        return retried(what, true, work);
    }

    @Override
    public <T> T snapshot(String what, Work<T> work) {
        return retried(what, false, session -> {
            session.connection().execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
            return work.on(session);
        });
    }

    @Override
    public void compact() {
        retried("compact of the " + schema.what(), true, session -> {
            try (Statement statement = session.connection().create()) {
                for (String table : schema.tables()) {
                    // As VACUUM FULL does, and in the order of the key: what is read together lies together.
                    String name = schema.prefix() + table;
                    statement.execute("CLUSTER " + name + " USING " + name + "_pkey");
                    statement.execute("ANALYZE " + name);
                }
            }
            return true;
        });
    }

    @Override
    public void close() {
        closed = true;
    }

    private <T> T retried(String what, boolean autoCommit, Work<T> work) {
        if (closed) {
            throw new StorageClosedException(what);
        }
        boolean isFirst = true;
        for (int tries = 1; ; tries++) {
            try (SqlConnection connection = SqlConnection.postgres(dataSource.getConnection())) {
                return on(connection, autoCommit, work);
            } catch (SQLException e) {
                if (isFirst && checked && SqlStates.mayHaveOtherTables(e)) {
                    // Another script was run beneath this process. What was checked before may be otherwise now.
                    isFirst = false;
                    checked = false;
                    continue;
                }
                if (!SqlStates.isLostRace(e) || tries == MAX_TRIES) {
                    throw translate(what, e);
                }
                pause(what, tries);
            }
        }
    }

    private <T> T on(SqlConnection connection, boolean autoCommit, Work<T> work) throws SQLException {
        Session session = new Session(connection, timeoutSeconds, null);
        try {
            if (!checked) {
                connection.setAutoCommit(false);
                checked = connection.inTransaction(() -> check(session));
            }
            connection.setAutoCommit(autoCommit);
            return autoCommit ? work.on(session) : connection.inTransaction(() -> work.on(session));
        } catch (SQLException e) {
            throw SqlStates.readOnlyBySetting(connection, e, timeoutSeconds);
        }
    }

    private boolean check(Session session) throws SQLException {
        SqlSchema scripts = schema.scripts();
        try (Statement statement = session.connection().create()) {
            SqlSchema.Versions versions = scripts.versions(statement);
            if (createTables && !scripts.isComplete(versions)) {
                statement.execute("SELECT pg_advisory_xact_lock(" + LOCK + ")");
                versions = scripts.complete(statement);
            }
            scripts.check(versions, "the library makes and changes them only if it is built with createTables()");
            return true;
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

    private KeepsakeException translate(String what, SQLException e) {
        String text = what + " in PostgreSQL" + SqlStates.inBrackets(e);
        SQLException cause = SqlStates.withoutDetail(e);
        String mistake = SqlStates.mistake(
                e,
                "run the script " + schema.scripts().first() + " from the library's jar if the tables are not there");
        if (mistake != null) {
            return new KeepsakeException(text + ": " + mistake, cause);
        }
        // A pool that gave no connection has no state.
        return SqlStates.of(e).isEmpty() || SqlStates.isUnavailable(e)
                ? new StorageUnavailableException(text + ": the database cannot be reached or is too busy", cause)
                : new KeepsakeException(text + " failed", cause);
    }
}
