package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.base.Library;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.SqliteFile;
import io.github.keepsake4j.sql.SqliteMode;
import java.nio.file.Path;
import java.time.Clock;

/** Opens logs in SQLite files, as {@link JdbcMessageLog} describes them. Thread-safe. */
public final class SqliteMessageLog {

    private SqliteMessageLog() {}

    /**
     * Opens a log in a SQLite file. The file and its tables are created on first use; its directory must exist. A
     * call waits up to 10 seconds for another process that writes, and up to 5 for its turn in this process.
     *
     * @param file the file
     * @param listedMetadata up to three metadata names, as in {@link JdbcMessageLog.Builder#listedMetadata}
     * @return the log, to be closed at the end
     * @throws InvalidInputException if there are too many names, or one is no id
     */
    public static JdbcMessageLog open(Path file, String... listedMetadata) {
        return open(file, Clock.systemUTC(), listedMetadata);
    }

    static JdbcMessageLog open(Path file, Clock clock, String... listedMetadata) {
        InvalidInputException.given("file", file);
        Library.require(Library.SQLITE);
        return new JdbcMessageLog(
                Connections.sqlite(file, SqliteMode.LOG, Schema.LOG),
                new SqliteDialect(),
                ListedMetadata.of(listedMetadata),
                clock);
    }

    /**
     * Returns whether a file has the tables of a log. Changes nothing.
     *
     * @param file an existing file
     * @return false if it is empty or a SQLite database without these tables; true if it is damaged: a log then reports
     * the damage
     * @throws StorageUnavailableException if the file cannot be read now
     */
    public static boolean isLog(Path file) {
        return new SqliteFile(InvalidInputException.given("file", file)).has(Schema.LOG);
    }
}
