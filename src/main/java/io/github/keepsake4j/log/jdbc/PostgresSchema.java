package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.sql.SqlConnection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * Checks once, on first use, that the server is PostgreSQL and that the tables exist. Creates the tables if the mode
 * says so.
 */
final class PostgresSchema {

    private static final int OLDEST_SERVER = 14;

    /**
     * The key of the advisory lock: any number that no other program locks. All processes that create these tables must
     * use the same one.
     */
    private static final long LOCK = 0x6B65657073616B65L;

    private static final String INSUFFICIENT_PRIVILEGE = "42501";
    private static final String DUPLICATE_TABLE = "42P07";

    /**
     * The query does not use {@code to_regclass}, because a session remembers for a while that a table did not exist,
     * even while it holds a lock.
     */
    private static final String IS_THERE =
            """
            SELECT 1 FROM pg_catalog.pg_class
            WHERE relname = 'keepsake_schema' AND pg_catalog.pg_table_is_visible(oid)
            """;

    private static final String HAS_CITUS = "SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus'";

    private static final String IS_DISTRIBUTED =
            """
            SELECT 1 FROM pg_catalog.pg_dist_partition
            WHERE logicalrelid = 'keepsake_message'::pg_catalog.regclass AND partmethod = 'h'
            """;

    private final JdbcMessageLog.SchemaMode mode;
    private volatile boolean distributed;
    private volatile boolean checked;

    /**
     * Creates a check.
     *
     * @param distributed whether to take the tables for distributed, whatever the database says
     */
    PostgresSchema(JdbcMessageLog.SchemaMode mode, boolean distributed) {
        this.mode = mode;
        this.distributed = distributed;
    }

    /** Returns whether the tables are distributed by Citus. Known after the check. */
    boolean isDistributed() {
        return distributed;
    }

    boolean isChecked() {
        return checked;
    }

    /** Checks the server and the tables. The connection must not be in auto-commit mode. */
    void check(SqlConnection connection, int timeoutSeconds) throws SQLException {
        check(connection, timeoutSeconds, true);
    }

    private void check(SqlConnection connection, int timeoutSeconds, boolean again) throws SQLException {
        checkServer(connection.metaData());
        int version = 0;
        try (Statement statement = connection.create()) {
            statement.setQueryTimeout(timeoutSeconds);
            version = version(statement);
            if (mode == JdbcMessageLog.SchemaMode.ALWAYS && !Schema.POSTGRESQL.isEnough(version)) {
                version = create(statement);
            }
            distributed |= isThere(statement, HAS_CITUS) && isThere(statement, IS_DISTRIBUTED);
            connection.commit();
        } catch (SQLException e) {
            rollback(connection, e);
            if (DUPLICATE_TABLE.equals(e.getSQLState()) && again) {
                // Under a stricter isolation level, this transaction still saw the state from before it waited for the
                // lock.
                check(connection, timeoutSeconds, false);
                return;
            }
            if (INSUFFICIENT_PRIVILEGE.equals(e.getSQLState())) {
                throw missing(version, "this database user may not create or read them", e);
            }
            throw e;
        }
        if (!Schema.POSTGRESQL.isEnough(version)) {
            throw missing(version, "the library creates them only with JdbcMessageLog.SchemaMode.ALWAYS", null);
        }
        checked = true;
    }

    private static void checkServer(DatabaseMetaData database) throws SQLException {
        String product = database.getDatabaseProductName();
        if (!product.equals("PostgreSQL")) {
            throw new KeepsakeException(
                    "JdbcMessageLog requires a data source of PostgreSQL; this one is of " + product
                            + ". For SQLite use JdbcMessageLog.sqlite(file)",
                    null);
        }
        if (database.getDatabaseMajorVersion() < OLDEST_SERVER) {
            throw new KeepsakeException(
                    "PostgreSQL " + OLDEST_SERVER + " or newer is required; this server is "
                            + database.getDatabaseProductVersion(),
                    null);
        }
    }

    private static int version(Statement statement) throws SQLException {
        return isThere(statement, IS_THERE) ? Schema.POSTGRESQL.version(statement) : 0;
    }

    private static boolean isThere(Statement statement, String query) throws SQLException {
        try (ResultSet rows = statement.executeQuery(query)) {
            return rows.next();
        }
    }

    /** Creates the tables under a lock. Instances do this one after the other, and the second one finds the tables. */
    private static int create(Statement statement) throws SQLException {
        statement.execute("SELECT pg_advisory_xact_lock(" + LOCK + ")");
        if (version(statement) == 0) {
            Schema.POSTGRESQL.applyAllTo(statement);
        } else {
            Schema.POSTGRESQL.applyTo(statement);
        }
        return version(statement);
    }

    private static KeepsakeException missing(int version, String why, @Nullable SQLException cause) {
        return new KeepsakeException(
                "The tables of Keepsake4j are missing or too old (version " + version + "), and " + why
                        + ". Run the script " + Schema.POSTGRESQL.missing(version) + " from the library's jar",
                cause);
    }

    private static void rollback(SqlConnection connection, SQLException reason) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            reason.addSuppressed(e);
        }
    }
}
