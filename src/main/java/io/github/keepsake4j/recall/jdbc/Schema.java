package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.sql.SqlSchema;
import java.util.List;

/**
 * The tables of an index, or of memories that are made.
 *
 * @param what what the tables hold, for errors
 * @param scripts what makes them
 * @param prefix how the names of the tables begin
 * @param tables the rest of the names of the tables whose rows are removed
 */
record Schema(String what, SqlSchema scripts, String prefix, List<String> tables) {

    private static final String INDEX = "index";
    private static final String MEMORIES = "memories";
    private static final SqlSchema.Script INDEX_SCRIPT = new SqlSchema.Script("V1__keepsake_index.sql", 2);
    private static final SqlSchema.Script MEMORIES_SCRIPT = new SqlSchema.Script("V1__keepsake_memories.sql", 2);

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
        return new Schema(INDEX, scripts, "keepsake_index_", List.of("posting", "term", "memory", "tenant"));
    }

    private static Schema memories(String prefix, SqlSchema scripts) {
        return new Schema(MEMORIES, scripts, prefix, List.of("word", "memory", "step"));
    }
}
