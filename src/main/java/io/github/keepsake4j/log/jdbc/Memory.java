package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A memory's row. One that was never written is {@link #NONE}. */
record Memory(long epoch, long revision, long lastSeq, @Nullable Long headSeq, @Nullable String headId) {

    static final Memory NONE = new Memory(1, 1, 0, null, null);

    Position position() {
        return new Position(epoch, revision, headId);
    }

    static Memory find(Session session, byte[] hash) throws SQLException {
        Memory found = session.first(session.dialect().memory(), Memory::of, hash);
        return found == null ? NONE : found;
    }

    /** The same, and nobody else changes it before the transaction ends. */
    static Memory lock(Session session, byte[] hash) throws SQLException {
        Memory found = session.first(session.dialect().lockMemory(), Memory::of, hash);
        return found == null ? NONE : found;
    }

    /** Creates the row, or gives a tombstone its ids back. */
    static void create(Session session, MemoryKey key, byte[] hash, long now) throws SQLException {
        String app = null;
        String conversation;
        String node = null;
        if (key instanceof NodeKey ids) {
            app = ids.appId();
            conversation = ids.conversationId();
            node = ids.nodeId();
        } else {
            conversation = ((ConversationKey) key).conversationId();
        }
        session.update(Sql.CREATE_MEMORY, hash, key.tenant(), app, conversation, node, now);
    }

    static MemoryKey key(ResultSet row) throws SQLException {
        String tenant = row.getString("tenant");
        String conversation = row.getString("conversation_id");
        String node = row.getString("node_id");
        return node == null
                ? ConversationKey.of(tenant, conversation)
                : NodeKey.of(tenant, row.getString("app_id"), conversation, node);
    }

    static Memory of(ResultSet row) throws SQLException {
        return new Memory(
                row.getLong("epoch"),
                row.getLong("revision"),
                row.getLong("last_seq"),
                Rows.nullableLong(row, "head_seq"),
                row.getString("head_id"));
    }
}
