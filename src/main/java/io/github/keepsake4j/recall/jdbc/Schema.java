package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The numbered scripts of one database. */
final class Schema {

    static final Schema SQLITE = new Schema("sqlite");
    static final Schema POSTGRESQL = new Schema("postgresql");

    private static final List<String> SCRIPTS = List.of("V1__keepsake_index.sql");

    private final String folder;

    private Schema(String folder) {
        this.folder = folder;
    }

    /** Returns the version of tables to which all scripts were applied. */
    int newest() {
        return SCRIPTS.size();
    }

    /** Returns the path of the script that follows a version. */
    String path(int version) {
        return "io/github/keepsake4j/schema/index/" + folder + "/" + SCRIPTS.get(version);
    }

    /** Returns the script that follows a version. */
    String script(int version) {
        String path = "/" + path(version);
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
