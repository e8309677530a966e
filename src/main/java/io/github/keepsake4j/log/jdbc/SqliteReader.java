package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One bounded read, inside a transaction. */
final class SqliteReader {

    /** A row on the branch, and where its parent is. */
    private record Step(LoggedMessage message, @Nullable Long parentSeq) {}

    /** A summary, and the sequence that it covers up to. */
    private record Covering(Summary summary, long seq) {}

    /** How many rows are read at first when only tokens bound a read; then twice as many, and so on. */
    private static final int FIRST_CHUNK = 64;

    private final Session session;
    private final MemoryKey key;
    private final byte[] hash;
    private final MessageCodec codec;

    SqliteReader(Session session, MemoryKey key, byte[] hash, MessageCodec codec) {
        this.session = session;
        this.key = key;
        this.hash = hash;
        this.codec = codec;
    }

    Tail read(ReadQuery query) throws SQLException {
        Memory memory = Memory.find(session, hash);
        Node start = start(query, memory);
        if (start == null) {
            return Tail.empty(memory.position());
        }
        Node after = after(query, start);
        long floor = after == null ? 0 : after.seq();
        LoggedMessage system = messageBehind(floor, start.systemSeq());
        LoggedMessage user = messageBehind(floor, start.userSeq());
        Covering covering = query.toSummary() ? newestSummary(start) : null;
        if (covering != null) {
            floor = Math.max(floor, covering.seq());
        }

        List<Step> steps = steps(start, floor, query);
        Step oldest = steps.isEmpty() ? null : steps.get(steps.size() - 1);
        boolean complete =
                oldest == null ? start.seq() <= floor : oldest.parentSeq() == null || oldest.parentSeq() <= floor;
        List<LoggedMessage> messages =
                new ArrayList<>(steps.stream().map(Step::message).toList());
        Collections.reverse(messages);
        return new Tail(
                memory.position(),
                messages,
                complete && covering == null
                        ? messages.subList(0, Math.min(query.oldest(), messages.size()))
                        : oldest(start, after, query.oldest()),
                system,
                user,
                viewInForce(start),
                covering == null ? null : covering.summary(),
                complete,
                oldest != null && oldest.parentSeq() == null ? oldest.message().parentId() : null);
    }

    private @Nullable Node start(ReadQuery query, Memory memory) throws SQLException {
        if (query.from() != null) {
            return Node.existing(session, key, hash, "from", query.from());
        }
        return memory.headSeq() == null ? null : Node.bySeq(session, hash, memory.headSeq());
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

    /** Newest first. Tokens are no key, so a read that they bound goes in chunks until there are enough. */
    private List<Step> steps(Node start, long floor, ReadQuery query) throws SQLException {
        List<Step> steps = new ArrayList<>();
        int chunk = query.maxTokens() == Long.MAX_VALUE ? query.maxMessages() : FIRST_CHUNK;
        long tokens = 0;
        Long next = start.seq();
        while (next != null && next > floor && steps.size() < query.maxMessages() && tokens < query.maxTokens()) {
            int wanted = Math.min(chunk, query.maxMessages() - steps.size());
            for (Step step : branch(next, floor, wanted)) {
                if (tokens >= query.maxTokens()) {
                    return steps;
                }
                steps.add(step);
                tokens += step.message().tokens();
                next = step.parentSeq();
            }
            chunk = (int) Math.min(Integer.MAX_VALUE, chunk * 2L);
        }
        return steps;
    }

    private List<Step> branch(long start, long floor, int limit) throws SQLException {
        return session.list(
                SqliteSql.BRANCH,
                row -> new Step(Rows.message(key, codec, row), Rows.nullableLong(row, "parent_seq")),
                floor,
                limit,
                limit,
                hash,
                start,
                floor,
                hash,
                floor,
                hash);
    }

    private List<LoggedMessage> oldest(Node start, @Nullable Node after, int wanted) throws SQLException {
        if (wanted == 0) {
            return List.of();
        }
        long first = after == null ? 1 : after.depth() + 1;
        long last = first + wanted - 1;
        return session.list(
                SqliteSql.OLDEST,
                row -> Rows.message(key, codec, row),
                hash,
                start.seq(),
                hash,
                hash,
                first,
                hash,
                first,
                last,
                last);
    }

    private @Nullable LoggedMessage messageBehind(long floor, @Nullable Long seq) throws SQLException {
        return seq != null && seq > floor
                ? session.first(SqliteSql.MESSAGE_BY_SEQ, row -> Rows.message(key, codec, row), hash, seq)
                : null;
    }

    /** Views and summaries of other branches are passed over; on a branch of its own the newest is the first one. */
    private @Nullable View viewInForce(Node start) throws SQLException {
        long upTo = start.seq();
        while (true) {
            View view = session.first(
                    SqliteSql.NEWEST_VIEW_UP_TO,
                    row -> ViewJson.read(
                            key, row.getString("view"), row.getString("anchor"), row.getLong("anchor_seq")),
                    hash,
                    upTo);
            if (view == null || start.hasOnBranch(session, hash, view.anchorSequence())) {
                return view;
            }
            upTo = view.anchorSequence() - 1;
        }
    }

    private @Nullable Covering newestSummary(Node start) throws SQLException {
        long upTo = start.seq();
        while (true) {
            Covering covering = session.first(
                    SqliteSql.NEWEST_SUMMARY_UP_TO,
                    row -> new Covering(Rows.summary(codec, row), row.getLong("covers_seq")),
                    hash,
                    upTo);
            if (covering == null || start.hasOnBranch(session, hash, covering.seq())) {
                return covering;
            }
            upTo = covering.seq() - 1;
        }
    }
}
