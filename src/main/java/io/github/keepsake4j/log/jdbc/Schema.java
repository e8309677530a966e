package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** The numbered scripts of one database. It determines which of them were applied and applies the others. */
final class Schema {

    static final Schema SQLITE = new Schema("sqlite", true);
    static final Schema POSTGRESQL = new Schema("postgresql", false);

    private static final List<String> SCRIPTS = List.of("V1__keepsake.sql");

    private final String folder;

    /**
     * Whether this class records the applied versions. Otherwise each script records its version, so that it can be run
     * by hand.
     */
    private final boolean keepsVersions;

    private Schema(String folder, boolean keepsVersions) {
        this.folder = folder;
        this.keepsVersions = keepsVersions;
    }

    /**
     * Upgrades the schema to this version. A newer schema is not changed, because newer schemas stay readable. The
     * caller must ensure that no other process does the same at the same time.
     */
    void applyTo(Statement statement) throws SQLException {
        if (keepsVersions) {
            statement.execute("CREATE TABLE IF NOT EXISTS keepsake_schema (version INTEGER PRIMARY KEY)");
        }
        applyFrom(version(statement), statement);
    }

    /** Applies all scripts to a database to which none was applied. */
    void applyAllTo(Statement statement) throws SQLException {
        applyFrom(0, statement);
    }

    /** Returns the version of the schema. The table that contains it must exist. */
    int version(Statement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery("SELECT COALESCE(MAX(version), 0) FROM keepsake_schema")) {
            return rows.next() ? rows.getInt(1) : 0;
        }
    }

    /** Returns whether a schema of the given version has everything that this library version requires. */
    boolean isEnough(int version) {
        return version >= SCRIPTS.size();
    }

    /** Returns the path of the first script that was not applied to a schema of the given version. */
    String missing(int version) {
        return path(SCRIPTS.get(version));
    }

    private void applyFrom(int applied, Statement statement) throws SQLException {
        for (int version = applied + 1; version <= SCRIPTS.size(); version++) {
            statement.executeUpdate(script(SCRIPTS.get(version - 1)));
            if (keepsVersions) {
                statement.executeUpdate("INSERT INTO keepsake_schema (version) VALUES (" + version + ")");
            }
        }
    }

    private String path(String name) {
        return "io/github/keepsake4j/schema/" + folder + "/" + name;
    }

    private String script(String name) {
        String path = "/" + path(name);
        try (InputStream in = Schema.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new KeepsakeException("schema script " + path + " is not on the class path", null);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new KeepsakeException("schema script " + path + " cannot be read", e);
        }
    }
}
