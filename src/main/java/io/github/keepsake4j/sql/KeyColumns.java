package io.github.keepsake4j.sql;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The key of a memory in the columns of tables.
 *
 * @param tenant the tenant
 * @param app the application, or null if the memory belongs to a conversation
 * @param conversation the conversation
 * @param node the node, or null if the memory belongs to a conversation
 */
public record KeyColumns(String tenant, @Nullable String app, String conversation, @Nullable String node) {

    /** The bytes of each half of a hash: 96 bits, so that a collision among a million million tenants is unlikely. */
    private static final int HALF = 12;

    /**
     * Returns the columns of a key.
     *
     * @param key the key
     * @return its columns
     */
    public static KeyColumns of(MemoryKey key) {
        return key instanceof NodeKey of
                ? new KeyColumns(of.tenant(), of.appId(), of.conversationId(), of.nodeId())
                : new KeyColumns(key.tenant(), null, ((ConversationKey) key).conversationId(), null);
    }

    /**
     * Returns the key of the columns.
     *
     * @return the key
     */
    public MemoryKey key() {
        return app == null || node == null
                ? ConversationKey.of(tenant, conversation)
                : NodeKey.of(tenant, app, conversation, node);
    }

    /**
     * Returns the bytes that name a memory in every table, because four ids of 512 bytes would outgrow an index entry.
     * The first half is the tenant's, so that a tenant's rows are recognized by their key alone.
     *
     * @param key the memory
     * @return the bytes
     */
    public static byte[] hash(MemoryKey key) {
        byte[] hash = hash(key.tenant(), 0);
        System.arraycopy(sha256(key.canonical()), 0, hash, HALF, HALF);
        return hash;
    }

    /**
     * Returns bytes whose first half is the tenant's, as in {@link #hash(MemoryKey)}.
     *
     * @param tenant the tenant
     * @param rest each byte of the other half
     * @return the bytes
     */
    public static byte[] hash(String tenant, int rest) {
        byte[] hash = Arrays.copyOf(sha256(MemoryKey.encode(tenant)), 2 * HALF);
        Arrays.fill(hash, HALF, 2 * HALF, (byte) rest);
        return hash;
    }

    private static byte[] sha256(String ascii) {
        return Ids.sha256().digest(ascii.getBytes(StandardCharsets.US_ASCII));
    }
}
