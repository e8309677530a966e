package io.github.keepsake4j.log.jdbc;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.jdbc.Node.MessageRow;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.DamagedException;
import io.github.keepsake4j.sql.Session;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One bounded read, inside a transaction. */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record SqliteReader(Session session, MemoryKey key, byte[] hash, MessageCodec codec) {

    /** A summary, and the sequence that it covers up to. */
    private record Covered(long seq, Summary summary) {}

    /**
     * The number of rows that are read first if only tokens bound a read. The number is doubled for each further step.
     */
    private static final int FIRST_CHUNK = 64;

    /** The number of messages that shows that the head exists and continues its parent. */
    private static final int LEAST_CHECKED = 2;

    /** The order of a branch by rising sequence. */
    private static final Comparator<MessageRow> BY_SEQUENCE =
            Comparator.comparingLong(row -> row.node().seq());

    Tail read(ReadQuery query) throws SQLException {
        Memory memory = Memory.find(session, SqliteSql.MEMORY, hash).sound();
        Position position = memory.position();
        Reference named = Reference.find(session, hash, query.reference());
        if (named != null) {
            position = new Position(memory.epoch(), memory.revision(), named.id());
        }
        List<MessageRow> head = named == null ? head(memory, query) : List.of();
        Node start = head.isEmpty() ? start(query, memory, named) : head.get(0).node();
        if (start == null) {
            return Tail.empty(position);
        }
        Node after = after(query, start);
        long behind = after == null ? 0 : after.seq();
        Covered covered = query.toSummary() ? newestSummary(start) : null;
        long floor = covered == null ? behind : Math.max(behind, covered.seq());

        List<MessageRow> rows = rows(start, floor, query, head);
        MessageRow oldest = rows.isEmpty() ? null : rows.get(0);
        Long before = oldest == null ? (Long) start.seq() : oldest.node().parentSeq();
        boolean complete = before == null || before <= floor;
        if (oldest != null && after != null && Objects.equals(before, after.seq())) {
            oldest.node().checkUnder(after);
        }
        List<LoggedMessage> messages = messages(rows);
        LoggedMessage system = inForce(messages, behind, start.systemSeq(), ChatMessageType.SYSTEM);
        LoggedMessage user = inForce(messages, behind, start.userSeq(), ChatMessageType.USER);
        return new Tail(
                position,
                messages,
                complete && covered == null
                        ? messages.subList(0, Math.min(query.oldest(), messages.size()))
                        : oldest(start, after, query.oldest()),
                system,
                user,
                viewInForce(start),
                covered == null ? null : covered.summary(),
                complete,
                oldest != null && before == null ? oldest.message().parentId() : null);
    }

    private @Nullable Node start(ReadQuery query, Memory memory, @Nullable Reference named) throws SQLException {
        if (query.from() != null) {
            return Node.existing(session, key, hash, "messageId", query.from());
        }
        if (named != null) {
            return Node.bySeq(session, hash, named.seq());
        }
        if (memory.headSeq() == null) {
            return null;
        }
        Node head = Node.bySeq(session, hash, memory.headSeq());
        if (head == null) {
            throw new DamagedException("the head is missing");
        }
        return head;
    }

    private @Nullable Node after(ReadQuery query, Node start) throws SQLException {
        if (query.after() == null) {
            return null;
        }
        Node after = Node.existing(session, key, hash, "after", query.after());
        if (!start.hasOnBranch(session, hash, after.seq())) {
            throw UnknownMessageException.noAncestor(key, "after");
        }
        return after;
    }

    /**
     * A few messages of the head's run, newest first, or none if the read needs other data first. They are sufficient
     * for most branches.
     */
    private List<MessageRow> head(Memory memory, ReadQuery query) throws SQLException {
        Long head = memory.headSeq();
        boolean isFew = query.maxMessages() >= LEAST_CHECKED && query.maxMessages() <= FIRST_CHUNK;
        if (head == null || query.from() != null || query.after() != null || query.toSummary() || !isFew) {
            return List.of();
        }
        List<MessageRow> found = run(Math.max(1, head - query.maxMessages() + 1), head);
        return found.isEmpty() || found.get(0).node().seq() != head ? List.of() : found;
    }

    /**
     * Oldest first. Tokens are not a key, so a read that they bound goes in chunks until there are enough.
     *
     * @param head the messages that were read already, from the start on, or none
     */
    private List<MessageRow> rows(Node start, long floor, ReadQuery query, List<MessageRow> head) throws SQLException {
        List<MessageRow> rows = new ArrayList<>();
        int chunk = query.maxTokens() == Long.MAX_VALUE ? query.maxMessages() : FIRST_CHUNK;
        long tokens = 0;
        Long next = start.seq();
        // The parent of the next message, if it is known.
        long runStart = start.runStart();
        while (next != null && next > floor && rows.size() < query.maxMessages() && tokens < query.maxTokens()) {
            int wanted = Math.min(chunk, query.maxMessages() - rows.size());
            long first = Math.max(floor, next - wanted) + 1;
            List<MessageRow> found = rows.isEmpty() && !head.isEmpty()
                    ? head
                    : runStart <= first ? run(first, next) : branch(next, floor, wanted);
            if (found.isEmpty()) {
                throw new DamagedException("message " + next + " of the branch is missing");
            }
            for (MessageRow row : found) {
                // A damaged index may lead to more rows than were requested.
                if (tokens >= query.maxTokens() || rows.size() == query.maxMessages()) {
                    break;
                }
                if (next == null || row.node().seq() != next) {
                    throw new DamagedException("message " + next + " of the branch is missing");
                }
                // Here, so that a parent that is not before its child ends the loop.
                row.node().check();
                rows.add(row);
                tokens += row.node().tokens();
                next = row.node().parentSeq();
                runStart = row.node().seq() > row.node().runStart() ? row.node().runStart() : Long.MAX_VALUE;
            }
            chunk = (int) Math.min(Integer.MAX_VALUE, chunk * 2L);
        }
        if (floor > 0 && (next == null || next < floor)) {
            throw new DamagedException("the branch does not go through message " + floor);
        }
        Collections.reverse(rows);
        Node.checkBranch(rows);
        return rows;
    }

    /** Newest first. */
    private List<MessageRow> run(long lowest, long end) throws SQLException {
        return session.list(SqliteSql.RUN, row -> MessageRow.of(key, codec, row), hash, lowest, end, hash, end);
    }

    /** Newest first. */
    private List<MessageRow> branch(long start, long floor, int limit) throws SQLException {
        List<MessageRow> rows = session.list(
                SqliteSql.BRANCH,
                row -> MessageRow.of(key, codec, row),
                floor,
                limit,
                limit,
                hash,
                start,
                floor,
                hash,
                floor,
                hash);
        rows.sort(BY_SEQUENCE.reversed());
        return rows;
    }

    private List<LoggedMessage> oldest(Node start, @Nullable Node after, int wanted) throws SQLException {
        if (wanted == 0) {
            return List.of();
        }
        long first = after == null ? 1 : after.depth() + 1;
        long last = Math.min(start.depth(), first + wanted - 1);
        List<MessageRow> rows = session.list(
                SqliteSql.OLDEST,
                row -> MessageRow.of(key, codec, row),
                hash,
                start.seq(),
                hash,
                hash,
                first,
                hash,
                first,
                last,
                last);
        rows.sort(BY_SEQUENCE);
        Node.checkBranch(rows);
        Long before = after == null ? null : (Long) after.seq();
        if (rows.size() != last - first + 1
                || (!rows.isEmpty() && !Objects.equals(rows.get(0).node().parentSeq(), before))) {
            throw new DamagedException("messages are missing where the branch begins");
        }
        return messages(rows);
    }

    private static List<LoggedMessage> messages(List<MessageRow> rows) {
        return rows.stream().map(MessageRow::message).toList();
    }

    /** Usually one of the messages that were read, near their end. */
    private @Nullable LoggedMessage inForce(
            List<LoggedMessage> read, long floor, @Nullable Long seq, ChatMessageType type) throws SQLException {
        if (seq == null || seq <= floor) {
            return null;
        }
        for (int i = read.size() - 1; i >= 0 && read.get(i).sequence() >= seq; i--) {
            if (read.get(i).sequence() == seq) {
                return Node.requireInForce(read.get(i), seq, type);
            }
        }
        LoggedMessage found = session.first(SqliteSql.MESSAGE_BY_SEQ, row -> Rows.message(key, codec, row), hash, seq);
        return Node.requireInForce(found, seq, type);
    }

    /** Views and summaries of other branches are skipped. If there is only one branch, the first one is the newest. */
    private @Nullable View viewInForce(Node start) throws SQLException {
        long seq = newestOnBranch(SqliteSql.NEWEST_VIEW_UP_TO, start);
        if (seq == 0) {
            return null;
        }
        return session.first(
                SqliteSql.VIEW,
                row -> Rows.view(key, Rows.text(row, "view"), Rows.nullableText(row, "anchor"), seq),
                hash,
                seq);
    }

    private @Nullable Covered newestSummary(Node start) throws SQLException {
        long seq = newestOnBranch(SqliteSql.NEWEST_SUMMARY_UP_TO, start);
        if (seq == 0) {
            return null;
        }
        return session.first(SqliteSql.SUMMARY, row -> new Covered(seq, Rows.summary(codec, row)), hash, seq);
    }

    /** The sequence of the newest one on the branch, or 0, which is never a sequence. */
    private long newestOnBranch(String newestUpTo, Node start) throws SQLException {
        long upTo = start.seq();
        while (true) {
            Long seq = session.first(newestUpTo, row -> Rows.number(row, "seq"), hash, upTo);
            if (seq == null || seq < 1) {
                return 0;
            }
            if (start.hasOnBranch(session, hash, seq)) {
                return seq;
            }
            upTo = seq - 1;
        }
    }
}
