package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.sql.ImpatientSqlite;
import io.github.keepsake4j.sql.SqliteMode;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;

/** Logs in SQLite files that wait for a lock as long as a test wants. */
public final class ImpatientLogs {

    private ImpatientLogs() {}

    public static MessageLog sqlite(Path file, Duration busyTimeout) {
        return new JdbcMessageLog(
                ImpatientSqlite.connect(file, SqliteMode.LOG, Schema.LOG, busyTimeout),
                new SqliteDialect(),
                ListedMetadata.of(),
                Clock.systemUTC());
    }
}
