package io.github.keepsake4j.sql;

import java.nio.file.Path;
import java.time.Duration;

/** Connections to SQLite files that wait for a lock as long as a test wants. */
public final class ImpatientSqlite {

    private ImpatientSqlite() {}

    public static Connections connect(Path file, SqliteMode mode, SqlSchema schema, Duration busyTimeout) {
        return new SqliteConnections(file, mode, schema, busyTimeout);
    }
}
