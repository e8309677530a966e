package io.github.keepsake4j.benchmark;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.sqlite.SQLiteConfig;

/**
 * The floor on SQLite: hand-written code for exactly what the benchmark does, on a copy of the library's file, through
 * one connection with the same settings. A read is one statement. An append is a transaction that inserts the row and
 * moves the head, because SQLite cannot do both in one statement.
 */
final class HandWrittenSqlite implements HandWrittenMemory, AutoCloseable {

    private static final String INSERT =
            """
            INSERT INTO keepsake_message
              (memory_key, seq, id, parent_seq, parent_id, message, tokens, token_counter, created_at,
               run_start, depth, path_tokens, system_seq, user_seq)
            SELECT m.memory_key, m.last_seq + 1, ?, m.head_seq, m.head_id, ?, ?, ?, ?,
                   h.run_start, h.depth + 1, h.path_tokens + ?, h.system_seq,
                   CASE WHEN ? THEN m.last_seq + 1 ELSE h.user_seq END
            FROM keepsake_memory m
            JOIN keepsake_message h ON h.memory_key = m.memory_key AND h.seq = m.head_seq
            WHERE m.memory_key = ?
            """;

    /** Neither of the two messages is a user message. */
    private static final String INSERT_TWO =
            """
            INSERT INTO keepsake_message
              (memory_key, seq, id, parent_seq, parent_id, message, tokens, token_counter, created_at,
               run_start, depth, path_tokens, system_seq, user_seq)
            SELECT m.memory_key, m.last_seq + a.nth, a.id,
                   CASE a.nth WHEN 1 THEN m.head_seq ELSE m.last_seq + 1 END, COALESCE(a.parent_id, m.head_id),
                   a.message, ?5, ?6, ?7, h.run_start, h.depth + a.nth, h.path_tokens + a.nth * ?5, h.system_seq, h.user_seq
            FROM (SELECT 1 AS nth, ?1 AS id, NULL AS parent_id, ?2 AS message
                  UNION ALL SELECT 2, ?3, ?1, ?4) a
            JOIN keepsake_memory m ON m.memory_key = ?8
            JOIN keepsake_message h ON h.memory_key = m.memory_key AND h.seq = m.head_seq
            """;

    private static final String MOVE_HEAD =
            """
            UPDATE keepsake_memory
            SET last_seq = last_seq + ?1, head_seq = last_seq + ?1, head_id = ?2, tokens = tokens + ?3,
                last_message_at = ?4
            WHERE memory_key = ?5
            """;

    private static final String READ =
            """
            SELECT m.head_seq, m.head_id, m.epoch, m.revision,
                   n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at
            FROM keepsake_memory m
            JOIN keepsake_message n ON n.memory_key = m.memory_key AND n.seq BETWEEN m.head_seq - ? + 1 AND m.head_seq
            WHERE m.memory_key = ?
            ORDER BY n.seq DESC
            """;

    private final MessageCodec codec = new MessageCodec();
    private final Connection connection;

    HandWrittenSqlite(Path file) throws SQLException {
        SQLiteConfig config = new SQLiteConfig();
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        config.setPragma(SQLiteConfig.Pragma.SECURE_DELETE, "true");
        config.setGetGeneratedKeys(false);
        connection = config.createConnection("jdbc:sqlite:" + file.toAbsolutePath());
    }

    @Override
    public void append(ConversationKey key, ChatMessage message) throws SQLException {
        String json = codec.encode(message);
        String id = Ids.next();
        byte[] hash = History.hash(key);
        long now = HandWritten.now();
        try (Statement transaction = connection.createStatement()) {
            transaction.execute("BEGIN IMMEDIATE");
            try (PreparedStatement row = connection.prepareStatement(INSERT)) {
                row.setString(1, id);
                row.setString(2, json);
                row.setInt(3, Payload.TOKENS);
                row.setString(4, Payload.COUNTER);
                row.setLong(5, now);
                row.setLong(6, Payload.TOKENS);
                row.setBoolean(7, message instanceof UserMessage);
                row.setBytes(8, hash);
                require(row.executeUpdate(), 1);
            }
            moveHead(hash, 1, id, now);
            transaction.execute("COMMIT");
        }
    }

    @Override
    public void append(ConversationKey key, ToolExecutionResultMessage first, ToolExecutionResultMessage second)
            throws SQLException {
        String firstJson = codec.encode(first);
        String secondJson = codec.encode(second);
        String firstId = Ids.next();
        String secondId = Ids.next();
        byte[] hash = History.hash(key);
        long now = HandWritten.now();
        try (Statement transaction = connection.createStatement()) {
            transaction.execute("BEGIN IMMEDIATE");
            try (PreparedStatement rows = connection.prepareStatement(INSERT_TWO)) {
                rows.setString(1, firstId);
                rows.setString(2, firstJson);
                rows.setString(3, secondId);
                rows.setString(4, secondJson);
                rows.setInt(5, Payload.TOKENS);
                rows.setString(6, Payload.COUNTER);
                rows.setLong(7, now);
                rows.setBytes(8, hash);
                require(rows.executeUpdate(), 2);
            }
            moveHead(hash, 2, secondId, now);
            transaction.execute("COMMIT");
        }
    }

    private void moveHead(byte[] hash, int messages, String id, long now) throws SQLException {
        try (PreparedStatement memory = connection.prepareStatement(MOVE_HEAD)) {
            memory.setInt(1, messages);
            memory.setString(2, id);
            memory.setLong(3, (long) messages * Payload.TOKENS);
            memory.setLong(4, now);
            memory.setBytes(5, hash);
            require(memory.executeUpdate(), 1);
        }
    }

    private static void require(int written, int wanted) {
        if (written != wanted) {
            throw new IllegalStateException(written + " rows were written instead of " + wanted);
        }
    }

    @Override
    public void read(ConversationKey key, int limit) throws SQLException {
        List<LoggedMessage> messages = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(READ)) {
            statement.setInt(1, limit);
            statement.setBytes(2, History.hash(key));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    if (messages.isEmpty() && (row.getLong(1) < 1 || row.getString(2) == null || row.getLong(4) < 1)) {
                        throw new IllegalStateException("no head");
                    }
                    messages.add(new LoggedMessage(
                            row.getString(6),
                            row.getString(7),
                            row.getLong(5),
                            codec.decode(row.getString(9)),
                            row.getInt(10),
                            row.getString(11),
                            Instant.EPOCH.plus(row.getLong(12), ChronoUnit.MICROS)));
                }
            }
        }
        if (messages.size() != limit) {
            throw new IllegalStateException(messages.size() + " rows instead of " + limit);
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
