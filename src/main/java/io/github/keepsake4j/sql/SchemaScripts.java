package io.github.keepsake4j.sql;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.sql.SqlSchema.Script;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The scripts that create tables in one database, and the rules for versions of tables and library.
 *
 * @param where the place of the tables, to be added to their name in errors
 */
record SchemaScripts(SqlSchema schema, boolean isSqlite, String where) {

    private static final Pattern TABLE = Pattern.compile("TABLE (keepsake_\\w+)");

    /**
     * The versions in the tables: their own version, or 0 if they do not exist, and the oldest library that may write.
     */
    record Versions(int version, int oldestWriter) {}

    private String folder() {
        return "io/github/keepsake4j/schema/" + schema.folder() + (isSqlite ? "sqlite/" : "postgresql/");
    }

    /** Returns the versions in the tables. */
    Versions versions(Session session) throws SQLException {
        Versions versions = stored(session);
        // Read again, because another process may have created the tables between the two reads.
        if (versions.version() == 0
                && hasOtherTables(session)
                && stored(session).version() == 0) {
            throw new KeepsakeException(
                    "The table " + schema.table() + " is missing or empty, but other tables of the " + what()
                            + " exist. If another program made these, choose another database; otherwise restore the table and"
                            + " its row as the script " + next(versions) + " in the library's jar creates them");
        }
        return versions;
    }

    private boolean hasOtherTables(Session session) throws SQLException {
        Matcher table = TABLE.matcher(text(schema.scripts().get(0)));
        while (table.find()) {
            if (!table.group(1).equals(schema.table()) && session.hasTable(table.group(1))) {
                return true;
            }
        }
        return false;
    }

    private Versions stored(Session session) throws SQLException {
        Versions versions = null;
        if (session.hasTable(schema.table())) {
            versions = session.first(
                    "SELECT * FROM " + schema.table() + " ORDER BY version DESC",
                    // The first snapshots had no other column.
                    row -> new Versions(
                            row.getInt("version"),
                            row.getInt(row.getMetaData().getColumnCount() == 1 ? "version" : "oldest_writer")));
        } else if (isSqlite) {
            // The first snapshots kept the version of some tables in the file's header.
            versions = session.first("PRAGMA user_version", row -> new Versions(row.getInt(1), row.getInt(1)));
        }
        return versions == null ? new Versions(0, 0) : versions;
    }

    /** Returns whether all scripts were applied. */
    boolean isComplete(Versions versions) {
        return versions.version() >= schema.version();
    }

    /**
     * Applies the scripts that were not applied, and returns the versions in the tables afterwards. The caller ensures
     * that no other process does the same meanwhile.
     */
    Versions complete(Session session) throws SQLException {
        Versions before = versions(session);
        refuse(before);
        for (Script script : schema.scripts()) {
            if (script.version() > before.version()) {
                session.script(text(script));
            }
        }
        return versions(session);
    }

    /**
     * Checks that this library may use the tables. The last argument is the reason why the library does not apply the
     * scripts itself.
     */
    void check(Versions versions, String why) {
        refuse(versions);
        if (!isComplete(versions)) {
            throw missing(versions, why, null);
        }
    }

    /** Returns the error for tables that lack a script. */
    KeepsakeException missing(Versions versions, String why, @Nullable SQLException cause) {
        return new KeepsakeException(
                "The tables of the " + what()
                        + (versions.version() == 0
                                ? " are missing"
                                : " are older than this library (" + says(versions) + ", the library "
                                        + schema.version() + ")")
                        + ", and " + why + ". Run the script " + next(versions) + " from the library's jar",
                cause);
    }

    /** Returns what to do about a missing table. */
    String whenMissing() {
        return "run the script " + next(new Versions(0, 0)) + " from the library's jar if the tables are missing";
    }

    /** Returns the path of the first script that was not applied to tables that are not newer than the library. */
    private String next(Versions versions) {
        return folder()
                + schema.scripts().stream()
                        .filter(script -> script.version() > versions.version())
                        .findFirst()
                        .orElseThrow()
                        .name();
    }

    private String what() {
        return schema.what() + where;
    }

    private String says(Versions versions) {
        return schema.table() + " has version " + versions.version();
    }

    /** Refuses tables that no script makes right. */
    private void refuse(Versions versions) {
        if (versions.oldestWriter() > schema.version()) {
            throw new KeepsakeException("This library is older than the tables of the " + what() + ": " + says(versions)
                    + " and oldest_writer " + versions.oldestWriter() + ", and the library is of version "
                    + schema.version() + ". Use the newer release that created the tables");
        }
        if (versions.version() != 0
                && versions.version() < schema.scripts().get(0).version()) {
            throw new KeepsakeException("The tables of the " + what()
                    + " are older than this library: a snapshot before release 0.1.0 made them ("
                    + says(versions) + ", the library " + schema.version()
                    + "), and no script changes them. Copy the memories with that snapshot, or remove its tables and run "
                    + next(new Versions(0, 0)) + " from the library's jar");
        }
    }

    private String text(Script script) {
        String path = "/" + folder() + script.name();
        try (InputStream in = Objects.requireNonNull(SchemaScripts.class.getResourceAsStream(path), path)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new KeepsakeException("schema script " + path + " cannot be read", e);
        }
    }
}
