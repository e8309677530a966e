package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.SqlSchema;

/** The tables of a log. */
final class Schema {

    static final SqlSchema SQLITE =
            SqlSchema.sqlite("log", "sqlite", "keepsake_schema", new SqlSchema.Script("V1__keepsake.sql", 2));
    static final SqlSchema POSTGRESQL =
            SqlSchema.postgresql("log", "postgresql", "keepsake_schema", new SqlSchema.Script("V1__keepsake.sql", 2));

    private Schema() {}
}
