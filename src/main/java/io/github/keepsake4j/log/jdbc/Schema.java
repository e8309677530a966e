package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Applies the numbered scripts that an embedded database lacks. The caller holds the write lock. */
final class Schema {

    private static final List<String> SCRIPTS = List.of("V1__keepsake.sql");

    private Schema() {}

    /** Brings the schema up to this version, and leaves a newer one alone: newer schemas stay readable. */
    static Void applyTo(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS keepsake_schema (version INTEGER PRIMARY KEY)");
            int applied;
            try (ResultSet rows = statement.executeQuery("SELECT COALESCE(MAX(version), 0) FROM keepsake_schema")) {
                applied = rows.next() ? rows.getInt(1) : 0;
            }
            for (int version = applied + 1; version <= SCRIPTS.size(); version++) {
                statement.executeUpdate(script(SCRIPTS.get(version - 1)));
                statement.executeUpdate("INSERT INTO keepsake_schema (version) VALUES (" + version + ")");
            }
        }
        return null;
    }

    private static String script(String name) {
        String path = "/io/github/keepsake4j/schema/sqlite/" + name;
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
