package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.log.LogClosedException;
import io.github.keepsake4j.log.StorageUnavailableException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.sql.SqlConnection;
import java.sql.ResultSet;
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

    /** Parameter: the table that holds the version. */
    private static final String IS_THERE =
            """
            SELECT 1 FROM pg_catalog.pg_class
            WHERE relname = ? AND pg_catalog.pg_table_is_visible(oid)
            """;

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
            throw new LogClosedException(what);
        }
        for (int tries = 1; ; tries++) {
            try (SqlConnection connection = SqlConnection.postgres(dataSource.getConnection())) {
                return on(connection, autoCommit, work);
            } catch (SQLException e) {
                String state = e.getSQLState() == null ? "" : e.getSQLState();
                // A serialization failure or a deadlock. The same work may succeed now.
                boolean isLostRace = state.equals("40001") || state.equals("40P01");
                if (!isLostRace || tries == MAX_TRIES) {
                    throw translate(what, state, e);
                }
                pause(what, tries);
            }
        }
    }

    private <T> T on(SqlConnection connection, boolean autoCommit, Work<T> work) throws SQLException {
        Session session = new Session(connection, timeoutSeconds, null);
        if (!checked) {
            connection.setAutoCommit(false);
            checked = connection.inTransaction(() -> check(session));
        }
        connection.setAutoCommit(autoCommit);
        return autoCommit ? work.on(session) : connection.inTransaction(() -> work.on(session));
    }

    private boolean check(Session session) throws SQLException {
        try (Statement statement = session.connection().create()) {
            int version = version(session);
            if (createTables && version < schema.newest()) {
                statement.execute("SELECT pg_advisory_xact_lock(" + LOCK + ")");
                for (version = version(session); version < schema.newest(); version++) {
                    statement.execute(schema.script(version));
                }
            }
            if (version < schema.newest()) {
                throw new KeepsakeException(
                        "The tables of the " + schema.what() + " are missing or too old (version " + version
                                + "). Run the script "
                                + schema.path(version)
                                + " from the library's jar, or build the "
                                + schema.what() + " with createTables()",
                        null);
            }
            return true;
        }
    }

    private int version(Session session) throws SQLException {
        if (session.list(IS_THERE, row -> row.getInt(1), schema.prefix() + "schema")
                .isEmpty()) {
            return 0;
        }
        try (Statement statement = session.connection().create();
                ResultSet row =
                        statement.executeQuery("SELECT COALESCE(MAX(version), 0) FROM " + schema.prefix() + "schema")) {
            return row.next() ? row.getInt(1) : 0;
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

    /** 08: connection; 40: conflicts; 53: resources; 55P03: lock timeout; 57: stopped; 58: system error; none: no connection. */
    private static KeepsakeException translate(String what, String state, SQLException e) {
        String text = what + " in PostgreSQL" + (state.isEmpty() ? "" : " (SQLSTATE " + state + ")");
        // The details of an error repeat the values of rows.
        String message = String.valueOf(e.getMessage());
        int end = message.indexOf('\n');
        SQLException cause = end < 0 ? e : new SQLException(message.substring(0, end), state, e.getErrorCode());
        boolean isUnavailable = state.isEmpty()
                || state.startsWith("08")
                || state.startsWith("40")
                || state.startsWith("53")
                || state.equals("55P03")
                || state.startsWith("57")
                || state.startsWith("58")
                || state.equals("25006");
        return isUnavailable
                ? new StorageUnavailableException(text + ": the database cannot be reached or is too busy", cause)
                : new KeepsakeException(text + " failed", cause);
    }
}
