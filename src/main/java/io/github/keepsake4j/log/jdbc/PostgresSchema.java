package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** Checks once, on first use, that this is PostgreSQL and that the tables are there; makes them when told to. */
final class PostgresSchema {

    private static final int OLDEST_SERVER = 14;

    /** Any number that nobody else locks; everybody who makes these tables must use the same one. */
    private static final long LOCK = 0x6B65657073616B65L;

    private static final String INSUFFICIENT_PRIVILEGE = "42501";
    private static final String DUPLICATE_TABLE = "42P07";

    /** Not by {@code to_regclass}: a session remembers for a while what was not there, even behind a lock. */
    private static final String IS_THERE =
            """
            SELECT 1 FROM pg_catalog.pg_class
            WHERE relname = 'keepsake_schema' AND pg_catalog.pg_table_is_visible(oid)
            """;

    private final JdbcMessageLog.SchemaMode mode;
    private volatile boolean checked;

    PostgresSchema(JdbcMessageLog.SchemaMode mode) {
        this.mode = mode;
    }

    boolean isChecked() {
        return checked;
    }

    /** The connection does not commit by itself. */
    void check(Connection connection, int timeoutSeconds) throws SQLException {
        check(connection, timeoutSeconds, true);
    }

    private void check(Connection connection, int timeoutSeconds, boolean again) throws SQLException {
        checkServer(connection.getMetaData());
        int version = 0;
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(timeoutSeconds);
            version = version(statement);
            if (mode == JdbcMessageLog.SchemaMode.ALWAYS && !Schema.POSTGRESQL.isEnough(version)) {
                version = create(statement);
            }
            connection.commit();
        } catch (SQLException e) {
            rollback(connection, e);
            if (DUPLICATE_TABLE.equals(e.getSQLState()) && again) {
                // Under stricter isolation this transaction still saw what was there before it waited for the lock.
                check(connection, timeoutSeconds, false);
                return;
            }
            if (INSUFFICIENT_PRIVILEGE.equals(e.getSQLState())) {
                throw missing(version, "this database user may not create or read them", e);
            }
            throw e;
        }
        if (!Schema.POSTGRESQL.isEnough(version)) {
            throw missing(version, "they are made by the library only if told JdbcMessageLog.SchemaMode.ALWAYS", null);
        }
        checked = true;
    }

    private static void checkServer(DatabaseMetaData database) throws SQLException {
        String product = database.getDatabaseProductName();
        if (!product.equals("PostgreSQL")) {
            throw new KeepsakeException(
                    "JdbcMessageLog takes data sources of PostgreSQL; this one is of " + product
                            + ". For SQLite there is JdbcMessageLog.sqlite(file)",
                    null);
        }
        if (database.getDatabaseMajorVersion() < OLDEST_SERVER) {
            throw new KeepsakeException(
                    "PostgreSQL " + OLDEST_SERVER + " or newer is needed; this one is "
                            + database.getDatabaseProductVersion(),
                    null);
        }
    }

    private static int version(Statement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery(IS_THERE)) {
            if (!rows.next()) {
                return 0;
            }
        }
        return Schema.POSTGRESQL.version(statement);
    }

    /** One instance after the other; whoever comes second finds the tables there. */
    private static int create(Statement statement) throws SQLException {
        statement.execute("SELECT pg_advisory_xact_lock(" + LOCK + ")");
        if (version(statement) == 0) {
            Schema.POSTGRESQL.applyAllTo(statement);
        } else {
            Schema.POSTGRESQL.applyTo(statement.getConnection());
        }
        return version(statement);
    }

    private static KeepsakeException missing(int version, String why, @Nullable SQLException cause) {
        return new KeepsakeException(
                "The tables of Keepsake4j are missing or too old (version " + version + "), and " + why
                        + ". Run the script " + Schema.POSTGRESQL.missing(version) + " of the library's jar",
                cause);
    }

    private static void rollback(Connection connection, SQLException reason) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            reason.addSuppressed(e);
        }
    }
}
