package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.SqlSchema;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The tables of an index, or of memories that are made.
 *
 * @param what what the tables hold, for errors
 * @param whenDamaged what to do about a damaged SQLite file, for errors
 * @param scripts what makes them
 * @param prefix how the names of the tables begin
 * @param tables the rest of the names of the tables whose rows are removed
 */
record Schema(String what, String whenDamaged, SqlSchema scripts, String prefix, List<String> tables) {

    private static final Pattern TABLE = Pattern.compile("CREATE (?:VIRTUAL )?TABLE \\W?(\\w++)\\W");

    /** Longer than what {@link #TABLE} finds. */
    private static final int OVERLAP = 100;

    private static final String INDEX = "index";
    private static final String MEMORIES = "memories";
    private static final SqlSchema.Script INDEX_SCRIPT = new SqlSchema.Script("V1__keepsake_index.sql", 2);
    private static final SqlSchema.Script MEMORIES_SCRIPT = new SqlSchema.Script("V1__keepsake_memories.sql", 3);

    static final Schema SQLITE = index(SqlSchema.sqlite(INDEX, "index/sqlite", "keepsake_index_schema", INDEX_SCRIPT));
    static final Schema POSTGRESQL =
            index(SqlSchema.postgresql(INDEX, "index/postgresql", "keepsake_index_schema", INDEX_SCRIPT));

    /** The seed names the tables. */
    static final Schema MEMORIES_SQLITE =
            memories("", SqlSchema.sqlite(MEMORIES, "memories/sqlite", "keepsake_made_schema", MEMORIES_SCRIPT));

    static final Schema MEMORIES_POSTGRESQL = memories(
            "keepsake_made_",
            SqlSchema.postgresql(MEMORIES, "memories/postgresql", "keepsake_made_schema", MEMORIES_SCRIPT));

    private static Schema index(SqlSchema scripts) {
        return new Schema(
                INDEX,
                "call clear() on the index, which begins a new file; it is made again from the log",
                scripts,
                "keepsake_index_",
                List.of("posting", "term", "memory", "tenant"));
    }

    private static Schema memories(String prefix, SqlSchema scripts) {
        return new Schema(
                MEMORIES,
                "restore it, or move it aside and have these memories made again",
                scripts,
                prefix,
                List.of("word", "memory", "step"));
    }

    /**
     * Refuses tables of the same names that another program made.
     *
     * @param statement a statement of a SQLite file that says no version
     */
    void refuseForeign(Path file, Statement statement) throws SQLException {
        if (scripts != MEMORIES_SQLITE.scripts) {
            return;
        }
        try (ResultSet row = statement.executeQuery("SELECT 1 FROM sqlite_schema WHERE name = 'memories'")) {
            if (row.next()) {
                throw new UnreadableDataException(
                        "SQLite file " + file
                                + " has a table memories that this library did not make: it is in WilmerAI's own"
                                + " format, which cannot be read or imported here. Nothing was changed. Move the file aside, and the"
                                + " facts are made from the conversation",
                        null);
            }
        }
    }

    /** Returns whether a SQLite file, which may be damaged, has other tables. It keeps the text that made a table as it is. */
    boolean isBesideOthersIn(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = new byte[1 << 20];
            int kept = 0;
            for (int read; (read = in.readNBytes(bytes, kept, bytes.length - kept)) > 0; ) {
                int end = kept + read;
                Matcher table = TABLE.matcher(new String(bytes, 0, end, StandardCharsets.ISO_8859_1));
                while (table.find()) {
                    if (!table.group(1).startsWith(prefix) && !table.group(1).startsWith("sqlite_")) {
                        return true;
                    }
                }
                kept = Math.min(OVERLAP, end);
                System.arraycopy(bytes, end - kept, bytes, 0, kept);
            }
        }
        return false;
    }
}
