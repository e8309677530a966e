package io.github.keepsake4j.sql;

import io.github.keepsake4j.jdbc.PostgresBuilder.Settings;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.message.KeepsakeException;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;

/**
 * Checks once, on first use, that the server is PostgreSQL and that the tables exist. Creates the tables if the mode
 * allows it.
 */
final class PostgresSchema {

    private static final int OLDEST_SERVER = 14;
    private static final String INSUFFICIENT_PRIVILEGE = "42501";
    private static final String DUPLICATE_TABLE = "42P07";

    private final SchemaScripts scripts;
    private final SchemaMode mode;
    private final Connections.Look look;
    private volatile boolean checked;

    /** Whether the tables were there before. If they are gone, making them again would hide the loss. */
    private volatile boolean found;

    PostgresSchema(SqlSchema schema, Settings settings, Connections.Look look) {
        String where = ConnectException.where(settings.dataSource(), settings.url());
        this.scripts = new SchemaScripts(schema, false, where);
        this.mode = settings.schema();
        this.look = look;
    }

    SchemaScripts scripts() {
        return scripts;
    }

    boolean isChecked() {
        return checked;
    }

    /** Lets the next call look again. */
    void forget() {
        checked = false;
    }

    /** Checks the server and the tables. The connection must not be in auto-commit mode. */
    void check(Session session) throws SQLException {
        checkServer(session.connection().metaData());
        check(session, true);
    }

    private void check(Session session, boolean again) throws SQLException {
        SchemaScripts.Versions[] versions = {new SchemaScripts.Versions(0, 0)};
        // Read before the transaction sees the tables, because another thread may create them meanwhile.
        boolean wereThere = found;
        try {
            session.connection().inTransaction(() -> {
                versions[0] = scripts.versions(session);
                boolean isLost = wereThere && versions[0].version() == 0;
                if (mode == SchemaMode.ALWAYS && !isLost && !scripts.isComplete(versions[0])) {
                    // Instances do this one after the other, and the second one finds the tables.
                    session.lock(scripts.schema().lock());
                    versions[0] = scripts.complete(session);
                }
                look.at(session);
                return true;
            });
        } catch (SQLException e) {
            if (DUPLICATE_TABLE.equals(e.getSQLState()) && again) {
                // Under a stricter isolation level, this transaction still saw the state from before it waited for the
                // lock.
                check(session, false);
                return;
            }
            if (INSUFFICIENT_PRIVILEGE.equals(e.getSQLState())) {
                throw scripts.missing(
                        versions[0],
                        "this database user may not create or read them; if they exist, grant it the rights",
                        e);
            }
            throw e;
        }
        scripts.check(
                versions[0],
                wereThere
                        ? "they were there before; restore them, or open the log again to start with empty ones"
                        : "the library makes and changes them only with schema(SchemaMode.ALWAYS)");
        found = true;
        checked = true;
    }

    private void checkServer(DatabaseMetaData database) throws SQLException {
        String product = database.getDatabaseProductName();
        if (!product.equals("PostgreSQL")) {
            throw new KeepsakeException(
                    "The " + scripts.schema().what() + " requires a data source of PostgreSQL; this one is of "
                            + product + ". A SQLite file is opened by its name, without a data source");
        }
        if (database.getDatabaseMajorVersion() < OLDEST_SERVER) {
            throw new KeepsakeException("PostgreSQL " + OLDEST_SERVER + " or newer is required; this server is "
                    + database.getDatabaseProductVersion());
        }
    }
}
