package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The numbered scripts of one database.
 *
 * @param what what the tables hold, for errors
 * @param folder where the scripts are
 * @param scripts the names of the scripts, in order
 * @param prefix how the names of the tables begin
 * @param tables the rest of the names of the tables whose rows are removed
 */
record Schema(String what, String folder, List<String> scripts, String prefix, List<String> tables) {

    static final Schema SQLITE = index("sqlite");
    static final Schema POSTGRESQL = index("postgresql");

    /** The seed names the tables. */
    static final Schema MEMORIES_SQLITE = memories("sqlite", "");

    static final Schema MEMORIES_POSTGRESQL = memories("postgresql", "keepsake_made_");

    private static Schema index(String database) {
        return new Schema(
                "index",
                "schema/index/" + database,
                List.of("V1__keepsake_index.sql"),
                "keepsake_index_",
                List.of("posting", "term", "memory", "tenant"));
    }

    private static Schema memories(String database, String prefix) {
        return new Schema(
                "memories",
                "schema/memories/" + database,
                List.of("V1__keepsake_memories.sql"),
                prefix,
                List.of("word", "memory", "step"));
    }

    /** Returns the version of tables to which all scripts were applied. */
    int newest() {
        return scripts.size();
    }

    /** Returns the path of the script that follows a version. */
    String path(int version) {
        return "io/github/keepsake4j/" + folder + "/" + scripts.get(version);
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
