package io.github.keepsake4j.benchmark;

import io.github.keepsake4j.message.ConversationKey;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import javax.sql.DataSource;

/**
 * Memories of one shape. Appends go to all of them in turn, so that short ones stay short.
 *
 * @param name the name in the report
 * @param messages the number of messages in each memory
 * @param run the number of messages after which the branch forks; the number of messages if it does not
 * @param memories the number of memories
 * @param randomIds whether ids are random, as ids from other systems may be; this library's ids are in order of time
 */
record History(String name, int messages, int run, int memories, boolean randomIds) {

    /** Each run follows a message of the previous run, six messages before its end. */
    private static final String MESSAGES =
            """
            INSERT INTO %1$s.keepsake_message
              (memory_key, seq, id, parent_seq, parent_id, message, tokens, token_counter, created_at, run_start, depth,
               path_tokens, user_seq, runs)
            SELECT ?, s, %2$s, p, %3$s, ?, 100, 'benchmark', 1700000000000000 + s, r * %4$d + 1, s - r * 5,
                   (s - r * 5) * 100, s,
                   CASE WHEN s = r * %4$d + 1 THEN
                     (SELECT array_agg(x ORDER BY j, k)
                      FROM generate_series(1, least(8, r)) j
                      CROSS JOIN LATERAL (
                        VALUES (1, (r - j) * %4$d + 1), (2, (r - j + 1) * %4$d - 5), (3, (r - j) * 5)) v (k, x)) END
            FROM generate_series(1, %5$d) s
            CROSS JOIN LATERAL (SELECT (s - 1) / %4$d AS r) run
            CROSS JOIN LATERAL (
              SELECT CASE WHEN s = 1 THEN NULL WHEN s = r * %4$d + 1 THEN s - 6 ELSE s - 1 END AS p
            ) parent
            """;

    private static final String MEMORY =
            """
            INSERT INTO %1$s.keepsake_memory
              (memory_key, tenant, conversation_id, metadata, epoch, revision, last_seq, tokens, created_at,
               last_message_at, head_seq, head_id, head_run_start, head_depth, head_path_tokens, head_user_seq,
               head_runs)
            SELECT memory_key, ?, ?, '{}', 1, seq + 1, seq, seq * 100, 1700000000000000, created_at, seq, id, run_start,
                   depth, path_tokens, user_seq,
                   (SELECT r.runs FROM %1$s.keepsake_message r WHERE r.memory_key = m.memory_key AND r.seq = m.run_start)
            FROM %1$s.keepsake_message m
            WHERE memory_key = ? AND seq = ?
            """;

    /** A UUID of version 7, one millisecond after the previous one. */
    private static final String ORDERED =
            """
            '0187' || lpad(to_hex(%1$s >> 16), 4, '0') || '-' || lpad(to_hex(%1$s & 65535), 4, '0') || '-7000-8000-'
            || lpad(to_hex(%1$s), 12, '0')
            """;

    private static final String RANDOM = "md5('r' || %1$s)::uuid::text";

    ConversationKey key(int call) {
        return ConversationKey.of("benchmark", name + " #" + call % memories);
    }

    /** Returns 12 bytes of SHA-256 over the tenant and 12 over the key, as in the schema. */
    static byte[] hash(ConversationKey key) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            byte[] hash = Arrays.copyOf(sha256.digest(key.tenant().getBytes(StandardCharsets.US_ASCII)), 24);
            byte[] canonical = key.canonical().getBytes(StandardCharsets.US_ASCII);
            System.arraycopy(sha256.digest(canonical), 0, hash, 12, 12);
            return hash;
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    void fill(DataSource source, String schema) throws SQLException {
        String id = randomIds ? RANDOM : ORDERED;
        String sql = MESSAGES.formatted(schema, id.formatted("s"), id.formatted("p"), run, messages);
        try (Connection connection = source.getConnection();
                PreparedStatement rows = connection.prepareStatement(sql);
                PreparedStatement row = connection.prepareStatement(MEMORY.formatted(schema))) {
            for (int i = 0; i < memories; i++) {
                ConversationKey key = key(i);
                rows.setBytes(1, hash(key));
                rows.setString(2, Payload.JSON);
                rows.executeUpdate();
                row.setString(1, key.tenant());
                row.setString(2, key.conversationId());
                row.setBytes(3, hash(key));
                row.setInt(4, messages);
                row.executeUpdate();
            }
        }
    }
}
