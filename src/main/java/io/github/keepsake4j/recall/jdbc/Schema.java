package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.sql.SqlSchema;
import java.util.List;

/** The tables of an index, and of memories that are made. */
final class Schema {

    private static final long LOCK = 0x6B65657073616B78L;

    static final SqlSchema INDEX = new SqlSchema(
            "index",
            "index/",
            "keepsake_index_schema",
            LOCK,
            "call clear() on the index, which begins a new file; it is made again from the log",
            null,
            List.of(new SqlSchema.Script("V1__keepsake_index.sql", 2)));

    /** In SQLite, WilmerAI names the tables. */
    static final SqlSchema MEMORIES = new SqlSchema(
            "memories",
            "memories/",
            "keepsake_made_schema",
            LOCK,
            "restore it, or move it aside and have these memories made again",
            new SqlSchema.Foreign(
                    "memories",
                    "has a table memories that this library did not make: it is in WilmerAI's own format, which cannot be"
                            + " read or imported here. Nothing was changed. Move the file aside, and the facts are made from the"
                            + " conversation"),
            List.of(new SqlSchema.Script("V1__keepsake_memories.sql", 3)));

    private Schema() {}
}
