package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.SqlSchema;
import java.util.List;

/** The tables of a log. */
final class Schema {

    static final SqlSchema LOG = new SqlSchema(
            "log",
            "",
            "keepsake_schema",
            0x6B65657073616B65L,
            "nothing was changed: restore a backup; or, if only rows are damaged, call check() to list the damage and "
                    + "repair() to repair it",
            new SqlSchema.Foreign(
                    "keepsake_index_schema",
                    "is the file of an index; a log needs its own file, because SQLite has one writer: choose another path"),
            List.of(new SqlSchema.Script("V1__keepsake.sql", 3)));

    private Schema() {}
}
