package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.log.ActivityContract;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.MessageLogContract;
import io.github.keepsake4j.log.MetadataListContract;
import io.github.keepsake4j.log.OutageContract;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.Session;
import io.github.keepsake4j.sql.SqlConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Clock;
import org.junit.jupiter.api.io.TempDir;

/** The contract on a SQLite file. */
class SqliteMessageLogTest extends MessageLogContract
        implements ActivityContract, MetadataListContract, OutageContract {

    @TempDir
    Path directory;

    @Override
    protected MessageLog open(Clock clock) {
        return openAgain(clock);
    }

    @Override
    protected MessageLog openAgain(Clock clock) {
        return SqliteMessageLog.open(file(), clock, DECLARED);
    }

    @Override
    public void corrupt(MemoryKey key, String messageId) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file())) {
            new Session(SqlConnection.of(connection))
                    .update(
                            "UPDATE keepsake_message SET message = '{\"v\":1,\"type\":\"US' WHERE memory_key = ? AND id = ?",
                            Rows.hash(key),
                            messageId);
        }
    }

    @Override
    public String rawBytes(MemoryKey key, String messageId) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file())) {
            return new Session(SqlConnection.of(connection))
                    .first(
                            "SELECT message FROM keepsake_message WHERE memory_key = ? AND id = ?",
                            row -> row.getString(1),
                            Rows.hash(key),
                            messageId);
        }
    }

    /** The file is away, as if its volume were not mounted. */
    @Override
    public Outage breakStorage() throws IOException {
        Path away = directory.resolve("away.db");
        Files.move(file(), away);
        return () -> {
            try {
                Files.move(away, file());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    private Path file() {
        return directory.resolve("chat.db");
    }
}
