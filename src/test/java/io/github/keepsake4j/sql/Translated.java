package io.github.keepsake4j.sql;

import io.github.keepsake4j.message.KeepsakeException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;

/** What a caller gets for a driver's error. */
public final class Translated {

    static final SqlSchema SCHEMA = new SqlSchema(
            "log", "", "keepsake_schema", 1, "mend it", null, List.of(new SqlSchema.Script("V1__keepsake.sql", 3)));

    private Translated() {}

    public static KeepsakeException ofPostgres(SQLException error, boolean mayBePrepared) {
        return PostgresErrors.translate("call", error, mayBePrepared, new SchemaScripts(SCHEMA, false, ""));
    }

    static KeepsakeException ofSqlite(Path file, int code) {
        return SqliteErrors.translate("call", new SQLException("[SQLITE]", "", code), new SqliteFile(file), SCHEMA);
    }
}
