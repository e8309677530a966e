package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.sql.SqlSchema;
import java.util.List;

/** The tables of an index. */
final class Schema {

    static final SqlSchema INDEX = new SqlSchema(
            "index",
            "index/",
            "keepsake_index_schema",
            SqlSchema.BESIDE_LOGS,
            "call clear() on the index to start a new file; it is rebuilt from the log",
            null,
            List.of(new SqlSchema.Script("V1__keepsake_index.sql", 2)));

    private Schema() {}
}
