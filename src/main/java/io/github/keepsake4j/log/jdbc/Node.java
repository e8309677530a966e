package io.github.keepsake4j.log.jdbc;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.sql.DamagedException;
import io.github.keepsake4j.sql.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message's place in the tree, and the values that it inherits from its parent. Readers check rows against each other
 * by these rules, so that damage causes an error instead of a wrong answer.
 */
record Node(
        long seq,
        String id,
        @Nullable Long parentSeq,
        @Nullable String parentId,
        long tokens,
        long runStart,
        long depth,
        long pathTokens,
        @Nullable Long systemSeq,
        @Nullable Long userSeq) {

    static @Nullable Node bySeq(Session session, byte[] hash, long seq) throws SQLException {
        return session.first(Sql.NODE_BY_SEQ, Node::underParent, hash, hash, seq);
    }

    static @Nullable Node byId(Session session, byte[] hash, String id) throws SQLException {
        return session.first(Sql.NODE_BY_ID, Node::underParent, hash, hash, id);
    }

    /** The message that a caller named. */
    static Node existing(Session session, MemoryKey key, byte[] hash, String field, String id) throws SQLException {
        Node found = byId(session, hash, id);
        if (found == null) {
            throw UnknownMessageException.notThere(key, field, id);
        }
        return found;
    }

    /** The message that follows this one, or a root. {@code type} is null if it is not known. */
    static Node child(
            @Nullable Node parent,
            long seq,
            String id,
            @Nullable String parentId,
            long tokens,
            @Nullable ChatMessageType type) {
        Long system = type == ChatMessageType.SYSTEM ? (Long) seq : parent == null ? null : parent.systemSeq;
        Long user = type == ChatMessageType.USER ? (Long) seq : parent == null ? null : parent.userSeq;
        return parent == null
                ? new Node(seq, id, null, parentId, tokens, seq, 1, tokens, system, user)
                : new Node(
                        seq,
                        id,
                        parent.seq,
                        parentId,
                        tokens,
                        parent.seq == seq - 1 ? parent.runStart : seq,
                        parent.depth + 1,
                        parent.pathTokens + tokens,
                        system,
                        user);
    }

    /** Whether another message is on the branch that ends here. */
    boolean hasOnBranch(Session session, byte[] hash, long other) throws SQLException {
        if (other > seq || other >= runStart) {
            return other <= seq;
        }
        Boolean found = session.first(
                SqliteSql.IS_ON_BRANCH,
                row -> {
                    if (!row.getBoolean("reached") && !Long.valueOf(0).equals(Rows.nullableNumber(row, "up"))) {
                        throw new DamagedException(
                                "the branch of message " + seq + " is interrupted at message " + row.getLong("low"));
                    }
                    return row.getBoolean("reached") && row.getBoolean("within");
                },
                hash,
                seq,
                hash,
                other,
                other,
                other);
        return found != null && found;
    }

    /** Checks the values that need no parent. */
    void check() {
        Long parent = parentSeq;
        boolean inRange = seq >= 1
                && !id.isEmpty()
                && (parent == null || (parent >= 1 && parent < seq))
                && tokens >= 0
                && pathTokens >= tokens
                && isUpTo(systemSeq, seq)
                && isUpTo(userSeq, seq)
                && runStart >= 1
                && runStart <= seq
                && depth > seq - runStart
                && depth <= seq;
        boolean continues = parent == null
                ? depth == 1 && runStart == seq && pathTokens == tokens
                : depth > 1 && (runStart == seq) == (parent < seq - 1);
        if (!inRange || !continues) {
            throw new DamagedException("the place of message " + seq + " in the tree contradicts itself");
        }
    }

    /** Checks the values that this message inherits from its parent, or has as a root. */
    void checkUnder(@Nullable Node parent) {
        check();
        if (!Objects.equals(parentSeq, parent == null ? null : (Long) parent.seq)) {
            throw new DamagedException(
                    "the parent of message " + seq + ", message " + parentSeq + ", is missing or not before it");
        }
        if (parent != null && !parent.id.equals(parentId)) {
            throw new DamagedException("the parent of message " + seq + ", message " + parentSeq + ", has another id");
        }
        Node expected = child(parent, seq, id, parentId, tokens, null);
        boolean continues = runStart == expected.runStart
                && depth == expected.depth
                && pathTokens == expected.pathTokens
                && isOwnOr(expected.systemSeq, systemSeq)
                && isOwnOr(expected.userSeq, userSeq);
        if (!continues) {
            throw new DamagedException("message " + seq + " does not continue its parent, message " + parentSeq);
        }
    }

    /** Checks the message's own type against the row. A marker has no type. */
    void checkType(LoggedMessage message) {
        if (Outcome.UNREADABLE.equals(message.outcome())) {
            return;
        }
        ChatMessageType type = message.message().type();
        boolean agrees = (type == ChatMessageType.SYSTEM) == Objects.equals(systemSeq, seq)
                && (type == ChatMessageType.USER) == Objects.equals(userSeq, seq);
        if (!agrees) {
            throw new DamagedException("message " + seq + " of type " + type + " contradicts its row");
        }
    }

    /** A message, and its place in the tree. */
    record MessageRow(LoggedMessage message, Node node) {

        static MessageRow of(MemoryKey key, MessageCodec codec, ResultSet row) throws SQLException {
            LoggedMessage message = Rows.message(key, codec, row);
            return new MessageRow(message, Node.of(message, row));
        }
    }

    /** Checks a part of one branch, oldest first: each message must be the parent of the next. */
    static void checkBranch(List<MessageRow> rows) {
        Node parent = null;
        for (MessageRow row : rows) {
            if (parent == null) {
                row.node().check();
            } else {
                row.node().checkUnder(parent);
            }
            row.node().checkType(row.message());
            parent = row.node();
        }
    }

    /** Checks the system or user message that is in force according to a row. */
    static LoggedMessage requireInForce(@Nullable LoggedMessage found, long seq, ChatMessageType type) {
        boolean isMarked = found != null && Outcome.UNREADABLE.equals(found.outcome());
        if (found == null || (found.message().type() != type && !isMarked)) {
            throw new DamagedException(
                    "message " + seq + ", which is in force as " + type + ", is missing or of another type");
        }
        return found;
    }

    private boolean isOwnOr(@Nullable Long inherited, @Nullable Long actual) {
        return Objects.equals(actual, inherited) || Objects.equals(actual, seq);
    }

    private static boolean isUpTo(@Nullable Long value, long limit) {
        return value == null || (value >= 1 && value <= limit);
    }

    /** Reads the place from a row that selects a message first. Reading a column costs more than decoding it. */
    static Node of(LoggedMessage message, ResultSet row) throws SQLException {
        return new Node(
                message.sequence(),
                message.id(),
                Rows.nullableNumber(row, 9),
                message.parentId(),
                message.tokens(),
                Rows.number(row, 10),
                Rows.number(row, 11),
                Rows.number(row, 12),
                Rows.nullableNumber(row, 13),
                Rows.nullableNumber(row, 14));
    }

    /** Reads the columns that begin with a prefix. */
    static Node of(ResultSet row, String prefix) throws SQLException {
        return new Node(
                Rows.number(row, prefix + "seq"),
                Rows.text(row, prefix + "id"),
                Rows.nullableNumber(row, prefix + "parent_seq"),
                Rows.nullableText(row, prefix + "parent_id"),
                Rows.number(row, prefix + "tokens"),
                Rows.number(row, prefix + "run_start"),
                Rows.number(row, prefix + "depth"),
                Rows.number(row, prefix + "path_tokens"),
                Rows.nullableNumber(row, prefix + "system_seq"),
                Rows.nullableNumber(row, prefix + "user_seq"));
    }

    /** Reads a row that also has its parent's columns, and checks one against the other. */
    static Node underParent(ResultSet row) throws SQLException {
        Node node = of(row, "");
        node.checkUnder(Rows.nullableNumber(row, "p_seq") == null ? null : of(row, "p_"));
        return node;
    }
}
