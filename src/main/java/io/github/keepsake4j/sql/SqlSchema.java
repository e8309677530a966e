package io.github.keepsake4j.sql;

import io.github.keepsake4j.message.KeepsakeException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The scripts that make some tables, and which versions of tables and library go together. A table of one row holds the version
 * of the tables, which each script raises, and the oldest version of the library that may write them.
 */
public final class SqlSchema {

    /**
     * The query does not use {@code to_regclass}, because a session remembers for a while that a table did not exist, even
     * while it holds a lock.
     */
    private static final String IS_IN_POSTGRESQL =
            "SELECT 1 FROM pg_catalog.pg_class WHERE relname = '%s' AND pg_catalog.pg_table_is_visible(oid)";

    private static final String IS_IN_SQLITE = "SELECT 1 FROM sqlite_master WHERE name = '%s'";

    private final String what;
    private final String folder;
    private final String table;
    private final boolean isSqlite;
    private final List<Script> scripts;

    private SqlSchema(String what, String folder, String table, boolean isSqlite, Script... scripts) {
        this.what = what;
        this.folder = "io/github/keepsake4j/schema/" + folder + "/";
        this.table = table;
        this.isSqlite = isSqlite;
        this.scripts = List.of(scripts);
    }

    /**
     * A script.
     *
     * @param name its name in the folder
     * @param version the version of the tables after it
     */
    public record Script(String name, int version) {}

    /**
     * What the tables say of themselves.
     *
     * @param version their version, or 0 if they are not there
     * @param oldestWriter the oldest version of the library that may write them
     */
    public record Versions(int version, int oldestWriter) {}

    /**
     * Describes tables in PostgreSQL.
     *
     * @param what what the tables hold, for errors
     * @param folder the folder of the scripts
     * @param table the table of the versions
     * @param scripts the scripts, in order
     * @return the description
     */
    public static SqlSchema postgresql(String what, String folder, String table, Script... scripts) {
        return new SqlSchema(what, folder, table, false, scripts);
    }

    /**
     * Describes tables in SQLite.
     *
     * @param what what the tables hold, for errors
     * @param folder the folder of the scripts
     * @param table the table of the versions
     * @param scripts the scripts, in order
     * @return the description
     */
    public static SqlSchema sqlite(String what, String folder, String table, Script... scripts) {
        return new SqlSchema(what, folder, table, true, scripts);
    }

    /**
     * Returns the version of tables to which all scripts were applied, which is the library's own.
     *
     * @return the version
     */
    public int version() {
        return scripts.get(scripts.size() - 1).version();
    }

    /**
     * Returns what the tables say of themselves.
     *
     * @param statement a statement of the connection to ask by
     * @return the versions
     */
    public Versions versions(Statement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery((isSqlite ? IS_IN_SQLITE : IS_IN_POSTGRESQL).formatted(table))) {
            if (!rows.next()) {
                return beforeTable(statement);
            }
        }
        try (ResultSet rows = statement.executeQuery("SELECT * FROM " + table + " ORDER BY version DESC")) {
            if (!rows.next()) {
                return new Versions(0, 0);
            }
            int version = rows.getInt("version");
            // The first snapshots had no other column.
            ResultSetMetaData columns = rows.getMetaData();
            return new Versions(version, columns.getColumnCount() == 1 ? version : rows.getInt("oldest_writer"));
        }
    }

    /** The first snapshots kept the version of some tables in the file's header. */
    private Versions beforeTable(Statement statement) throws SQLException {
        if (!isSqlite) {
            return new Versions(0, 0);
        }
        try (ResultSet rows = statement.executeQuery("PRAGMA user_version")) {
            int version = rows.next() ? rows.getInt(1) : 0;
            return new Versions(version, version);
        }
    }

    /**
     * Returns whether all scripts were applied.
     *
     * @param versions what the tables say of themselves
     * @return whether they were
     */
    public boolean isComplete(Versions versions) {
        return versions.version() >= version();
    }

    /**
     * Applies the scripts that were not applied. The caller ensures that no other process does the same meanwhile.
     *
     * @param statement a statement of the connection to ask by
     * @return what the tables say of themselves afterwards
     */
    public Versions complete(Statement statement) throws SQLException {
        Versions before = versions(statement);
        refuse(before);
        for (Script script : scripts) {
            if (script.version() > before.version()) {
                if (isSqlite) {
                    // Otherwise its driver runs only the first statement of the script.
                    statement.executeUpdate(text(script));
                } else {
                    statement.execute(text(script));
                }
            }
        }
        return versions(statement);
    }

    /**
     * Checks that this library may use the tables.
     *
     * @param versions what the tables say of themselves
     * @param why why the library does not apply the scripts itself
     */
    public void check(Versions versions, String why) {
        refuse(versions);
        if (!isComplete(versions)) {
            throw missing(versions, why, null);
        }
    }

    /**
     * Returns the error for tables that lack a script.
     *
     * @param versions what the tables say of themselves
     * @param why why the library does not apply the scripts itself
     * @param cause the error of the database, or null
     * @return the error
     */
    public KeepsakeException missing(Versions versions, String why, @Nullable SQLException cause) {
        return new KeepsakeException(
                "The tables of the " + what
                        + (versions.version() == 0
                                ? " are missing"
                                : " are older than this library (" + table + " has version " + versions.version()
                                        + ", the library " + version() + ")")
                        + ", and " + why + ". Run the script " + next(versions) + " from the library's jar",
                cause);
    }

    /**
     * Returns the path of the first script that was not applied to tables that are not newer than the library.
     *
     * @param versions what the tables say of themselves
     * @return the path
     */
    public String next(Versions versions) {
        return folder
                + scripts.stream()
                        .filter(script -> script.version() > versions.version())
                        .findFirst()
                        .orElseThrow()
                        .name();
    }

    /**
     * Returns the path of the first script.
     *
     * @return the path
     */
    public String first() {
        return next(new Versions(0, 0));
    }

    /** Refuses tables that no script makes right. */
    private void refuse(Versions versions) {
        if (versions.oldestWriter() > version()) {
            throw new KeepsakeException(
                    "This library is older than the tables of the " + what + ": " + table + " has version "
                            + versions.version() + " and oldest_writer " + versions.oldestWriter()
                            + ", and the library is of version " + version()
                            + ". Use the library's newer release that made them",
                    null);
        }
        int base = scripts.get(0).version();
        if (versions.version() != 0 && versions.version() < base) {
            throw new KeepsakeException(
                    "The tables of the " + what
                            + " are older than this library: a snapshot of before release 0.1.0 made them ("
                            + table + " has version " + versions.version() + ", the library " + version()
                            + "), and no script changes them. Copy the memories with that snapshot, or remove its tables and run "
                            + first() + " from the library's jar",
                    null);
        }
    }

    private String text(Script script) {
        String path = "/" + folder + script.name();
        try (InputStream in = SqlSchema.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new KeepsakeException("schema script " + path + " is not on the class path", null);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new KeepsakeException("schema script " + path + " cannot be read", e);
        }
    }
}
