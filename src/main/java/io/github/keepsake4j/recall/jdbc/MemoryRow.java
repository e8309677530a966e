package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.recall.Watermark;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;

/** What is stored of a memory. */
record MemoryRow(long number, long tenant, MemoryKey key, Watermark watermark, long messages, long length) {

    /** The columns that {@link #of} reads. */
    static final String COLUMNS =
            "m.number, m.tenant, t.tenant, m.app_id, m.conversation_id, m.node_id, m.epoch, m.sequence, m.messages,"
                    + " m.length";

    private static final int HALF = 12;

    /** How much is indexed of a memory. A search reads this of each memory that it may look in, and no key is made for it. */
    record Size(long number, long messages, long length) {

        static Size of(ResultSet row) throws SQLException {
            return new Size(row.getLong(1), row.getLong(2), row.getLong(3));
        }
    }

    static MemoryRow of(ResultSet row) throws SQLException {
        String tenant = row.getString(3);
        String app = row.getString(4);
        String conversation = row.getString(5);
        String node = row.getString(6);
        MemoryKey key = app == null || node == null
                ? ConversationKey.of(tenant, conversation)
                : NodeKey.of(tenant, app, conversation, node);
        return new MemoryRow(
                row.getLong(1),
                row.getLong(2),
                key,
                new Watermark(row.getLong(7), row.getLong(8)),
                row.getLong(9),
                row.getLong(10));
    }

    /** Returns bytes of which the first half is of the tenant, as in {@link #hash(MemoryKey)}, and the rest is one byte. */
    static byte[] hash(String tenant, byte rest) {
        byte[] hash = Arrays.copyOf(sha256(MemoryKey.encode(tenant)), 2 * HALF);
        Arrays.fill(hash, HALF, 2 * HALF, rest);
        return hash;
    }

    /** Returns the bytes that name a memory, of which the first half is of the tenant, as in a log's tables. */
    static byte[] hash(MemoryKey key) {
        byte[] hash = hash(key.tenant(), (byte) 0);
        System.arraycopy(sha256(key.canonical()), 0, hash, HALF, HALF);
        return hash;
    }

    private static byte[] sha256(String ascii) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(ascii.getBytes(StandardCharsets.US_ASCII));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
