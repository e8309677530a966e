package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.sql.SchemaMode;
import io.github.keepsake4j.sql.SqlConnection;
import io.github.keepsake4j.sql.SqlSchema;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

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

    private static final String HAS_CITUS = "SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus'";

    private static final String IS_DISTRIBUTED =
            """
            SELECT 1 FROM pg_catalog.pg_dist_partition
            WHERE logicalrelid = 'keepsake_message'::pg_catalog.regclass AND partmethod = 'h'
            """;

    private final SchemaMode mode;
    private volatile boolean distributed;
    private volatile boolean checked;

    /**
     * Creates a check.
     *
     * @param distributed whether to take the tables for distributed, whatever the database says
     */
    PostgresSchema(SchemaMode mode, boolean distributed) {
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

    /** Lets the next call look again. */
    void forget() {
        checked = false;
    }

    /** Checks the server and the tables. The connection must not be in auto-commit mode. */
    void check(SqlConnection connection, int timeoutSeconds) throws SQLException {
        check(connection, timeoutSeconds, true);
    }

    private void check(SqlConnection connection, int timeoutSeconds, boolean again) throws SQLException {
        checkServer(connection.metaData());
        SqlSchema.Versions versions = new SqlSchema.Versions(0, 0);
        try (Statement statement = connection.create()) {
            statement.setQueryTimeout(timeoutSeconds);
            versions = Schema.POSTGRESQL.versions(statement);
            if (mode == SchemaMode.ALWAYS && !Schema.POSTGRESQL.isComplete(versions)) {
                // Instances do this one after the other, and the second one finds the tables.
                statement.execute("SELECT pg_advisory_xact_lock(" + LOCK + ")");
                versions = Schema.POSTGRESQL.complete(statement);
            }
            distributed |= isThere(statement, HAS_CITUS) && isThere(statement, IS_DISTRIBUTED);
            connection.commit();
        } catch (KeepsakeException e) {
            rollback(connection, e);
            throw e;
        } catch (SQLException e) {
            rollback(connection, e);
            if (DUPLICATE_TABLE.equals(e.getSQLState()) && again) {
                // Under a stricter isolation level, this transaction still saw the state from before it waited for the
                // lock.
                check(connection, timeoutSeconds, false);
                return;
            }
            if (INSUFFICIENT_PRIVILEGE.equals(e.getSQLState())) {
                throw Schema.POSTGRESQL.missing(versions, "this database user may not create or read them", e);
            }
            throw e;
        }
        Schema.POSTGRESQL.check(versions, "the library makes and changes them only with SchemaMode.ALWAYS");
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

    private static boolean isThere(Statement statement, String query) throws SQLException {
        try (ResultSet rows = statement.executeQuery(query)) {
            return rows.next();
        }
    }

    private static void rollback(SqlConnection connection, Exception reason) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            reason.addSuppressed(e);
        }
    }
}
