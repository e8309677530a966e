package io.github.keepsake4j.log.jdbc;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.MemoryKey;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A message's place in the tree, and what the next message inherits from it. */
record Node(
        long seq,
        String id,
        long runStart,
        long depth,
        long pathTokens,
        @Nullable Long systemSeq,
        @Nullable Long userSeq) {

    static @Nullable Node bySeq(Session session, byte[] hash, long seq) throws SQLException {
        return session.first(Sql.NODE_BY_SEQ, Node::of, hash, seq);
    }

    static @Nullable Node byId(Session session, byte[] hash, String id) throws SQLException {
        return session.first(Sql.NODE_BY_ID, Node::of, hash, id);
    }

    /** The message that a caller named. */
    static Node existing(Session session, MemoryKey key, byte[] hash, String field, String id) throws SQLException {
        Node found = byId(session, hash, id);
        if (found == null) {
            throw UnknownMessageException.notThere(key, field, id);
        }
        return found;
    }

    /** The message that follows this one, or that follows nothing. */
    static Node child(@Nullable Node parent, long seq, String id, int tokens, ChatMessageType type) {
        Long systemSeq = type == ChatMessageType.SYSTEM ? (Long) seq : parent == null ? null : parent.systemSeq;
        Long userSeq = type == ChatMessageType.USER ? (Long) seq : parent == null ? null : parent.userSeq;
        if (parent == null) {
            return new Node(seq, id, seq, 1, tokens, systemSeq, userSeq);
        }
        return new Node(
                seq,
                id,
                parent.seq == seq - 1 ? parent.runStart : seq,
                parent.depth + 1,
                parent.pathTokens + tokens,
                systemSeq,
                userSeq);
    }

    /** Whether another message lies on the branch that ends here. */
    boolean hasOnBranch(Session session, byte[] hash, long other) throws SQLException {
        if (other > seq || other >= runStart) {
            return other <= seq;
        }
        return session.first(SqliteSql.IS_ON_BRANCH, row -> true, hash, seq, hash, other, other) != null;
    }

    private static Node of(ResultSet row) throws SQLException {
        return new Node(
                row.getLong("seq"),
                row.getString("id"),
                row.getLong("run_start"),
                row.getLong("depth"),
                row.getLong("path_tokens"),
                Rows.nullableLong(row, "system_seq"),
                Rows.nullableLong(row, "user_seq"));
    }
}
