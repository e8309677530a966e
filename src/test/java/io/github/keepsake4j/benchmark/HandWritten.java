package io.github.keepsake4j.benchmark;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * The floor: hand-written code for exactly what the benchmark does, without any other case. It uses one statement per
 * call, on tables of its own with the same columns and the same indexes. The append assigns the sequence, keeps ids
 * unique and moves the head; it takes text that is encoded already. The read
 * returns the newest rows and the head, either as columns or (with {@code decode}) as the objects that a log returns.
 */
final class HandWritten {

    static final String SCHEMA = "floor";

    private static final String APPEND =
            """
            WITH head AS (
              UPDATE floor.keepsake_memory
              SET last_seq = last_seq + 1, revision = revision + 1, tokens = tokens + ?, last_message_at = ?,
                  head_seq = last_seq + 1, head_depth = head_depth + 1, head_path_tokens = head_path_tokens + ?,
                  head_user_seq = CASE WHEN ? THEN last_seq + 1 ELSE head_user_seq END, head_id = ?,
                  prev_head_seq = head_seq, prev_system_seq = head_system_seq, prev_user_seq = head_user_seq,
                  prev_head_id = head_id
              WHERE memory_key = ?
              RETURNING *
            )
            INSERT INTO floor.keepsake_message
              (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens, id,
               parent_id, token_counter, message)
            SELECT memory_key, last_seq, prev_head_seq, last_message_at, head_run_start, head_depth, head_path_tokens,
                   head_system_seq, head_user_seq, ?, head_id, prev_head_id, ?, ?
            FROM head
            RETURNING seq, parent_id
            """;

    private static final String INSERT =
            """
            INSERT INTO floor.keepsake_message
              (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens, id,
               parent_id, token_counter, message)
            VALUES (?, ?, ?, ?, 1, ?, ?, NULL, ?, ?, ?, ?, ?, ?)
            """;

    /**
     * The limit is not a parameter: PostgreSQL would plan such a statement anew each time, which costs as much as the
     * read.
     */
    private static final String READ_TEMPLATE =
            """
            SELECT m.head_seq, m.head_id, m.epoch, m.revision,
                   n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at
            FROM floor.keepsake_memory m
            CROSS JOIN LATERAL (
              SELECT seq, id, parent_id, parent_seq, message, tokens, token_counter, created_at
              FROM floor.keepsake_message
              WHERE memory_key = m.memory_key AND seq BETWEEN m.head_seq - ? + 1 AND m.head_seq
              ORDER BY seq DESC
              LIMIT %d
            ) n
            WHERE m.memory_key = ?
            """;

    private static final int SMALL_READ = 1_000;
    private static final String READ = READ_TEMPLATE.formatted(SMALL_READ);
    private static final String LARGE_READ = READ_TEMPLATE.formatted(10_000);

    /** The columns of a row, as the driver returns them. */
    private record Row(
            long seq,
            String id,
            String parentId,
            long parentSeq,
            String message,
            int tokens,
            String tokenCounter,
            long createdAt) {}

    private final DataSource source;
    private final MessageCodec codec = new MessageCodec();

    /** The memory of the bare inserts. Each instance has its own, because it counts the sequence itself. */
    private final ConversationKey bareKey = ConversationKey.of("benchmark", "bare " + Ids.next());

    private long bare;

    HandWritten(DataSource source) {
        this.source = source;
    }

    /** Appends the payload, whose text is encoded already. */
    void append(ConversationKey key) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement statement = connection.prepareStatement(APPEND)) {
            statement.setLong(1, Payload.TOKENS);
            statement.setLong(2, now());
            statement.setLong(3, Payload.TOKENS);
            statement.setBoolean(4, true);
            statement.setString(5, Ids.next());
            statement.setBytes(6, History.hash(key));
            statement.setInt(7, Payload.TOKENS);
            statement.setString(8, Payload.COUNTER);
            statement.setString(9, Payload.JSON);
            requireRow(statement);
        }
    }

    private static void requireRow(PreparedStatement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            if (!row.next() || row.getLong(1) < 1 || row.getString(2) == null || row.next()) {
                throw new IllegalStateException("not one row was written");
            }
        }
    }

    /** Inserts only the row: no sequence is assigned and no head is moved. For one client at a time. */
    void insert() throws SQLException {
        long seq = ++bare;
        try (Connection connection = source.getConnection();
                PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setBytes(1, History.hash(bareKey));
            statement.setLong(2, seq);
            statement.setLong(3, seq - 1);
            statement.setLong(4, now());
            statement.setLong(5, seq);
            statement.setLong(6, seq * Payload.TOKENS);
            statement.setLong(7, seq);
            statement.setInt(8, Payload.TOKENS);
            statement.setString(9, Ids.next());
            statement.setString(10, Ids.BEFORE_IN_TIME);
            statement.setString(11, Payload.COUNTER);
            statement.setString(12, Payload.JSON);
            statement.executeUpdate();
        }
    }

    void read(ConversationKey key, int limit, boolean decode) throws SQLException {
        List<Object> rows = new ArrayList<>();
        try (Connection connection = source.getConnection();
                PreparedStatement statement = connection.prepareStatement(limit > SMALL_READ ? LARGE_READ : READ)) {
            statement.setInt(1, limit);
            statement.setBytes(2, History.hash(key));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    if (rows.isEmpty() && (row.getLong(1) < 1 || row.getString(2) == null || row.getLong(4) < 1)) {
                        throw new IllegalStateException("no head");
                    }
                    rows.add(decode ? message(row) : columns(row));
                }
            }
        }
        if (rows.size() != limit) {
            throw new IllegalStateException(rows.size() + " rows instead of " + limit);
        }
    }

    private static Row columns(ResultSet row) throws SQLException {
        return new Row(
                row.getLong(5),
                row.getString(6),
                row.getString(7),
                row.getLong(8),
                row.getString(9),
                row.getInt(10),
                row.getString(11),
                row.getLong(12));
    }

    private LoggedMessage message(ResultSet row) throws SQLException {
        return new LoggedMessage(
                row.getString(6),
                row.getString(7),
                row.getLong(5),
                codec.decode(row.getString(9)),
                row.getInt(10),
                row.getString(11),
                Instant.EPOCH.plus(row.getLong(12), ChronoUnit.MICROS));
    }

    /** Returns the time as it is stored. */
    static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }
}
