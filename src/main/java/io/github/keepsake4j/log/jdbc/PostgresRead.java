package io.github.keepsake4j.log.jdbc;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One bounded read, put together from the rows of {@link PostgresSql#READ_RUN} or {@link PostgresSql#READ}. The first one
 * is sent where it may be enough, unless it was not enough for this memory the last time ({@code winding}). A read that
 * asks for the oldest messages too has {@link PostgresSql#OLDEST} as a part of its statement.
 */
final class PostgresRead {

    /** The row of the memory. */
    private record Beside(
            @Nullable Long start,
            Position position,
            @Nullable Long system,
            @Nullable Long user,
            long floor,
            @Nullable Long namedAfter,
            long after) {}

    /** How many rows are looked at first when tokens bound a read. */
    private static final long FIRST_STRETCH = 64;

    /** More than there will ever be, and small enough to be doubled and subtracted. */
    private static final long WHOLE_RUN = 1L << 40;

    private static final Comparator<MessageRow> BY_SEQUENCE =
            Comparator.comparingLong(row -> row.node().seq());

    private final MemoryKey key;
    private final ReadQuery query;
    private final MessageCodec codec;
    private final RecentMemories winding;
    private final List<MessageRow> rows = new ArrayList<>();
    private final List<MessageRow> older = new ArrayList<>();
    private final Map<Long, LoggedMessage> bySeq = new HashMap<>();
    private @Nullable Beside beside;
    private @Nullable Node after;
    private @Nullable View view;
    private @Nullable Summary summary;

    PostgresRead(MemoryKey key, ReadQuery query, MessageCodec codec, RecentMemories winding) {
        this.winding = winding;
        this.key = key;
        this.query = query;
        this.codec = codec;
    }

    Tail run(Session session) throws SQLException {
        boolean mayBeInOneRun = query.from() == null
                && query.after() == null
                && !query.toSummary()
                && query.maxMessages() > 0
                && query.maxTokens() > 0;
        if (mayBeInOneRun && !winding.contains(key)) {
            forget();
            long stretch = query.maxTokens() == Long.MAX_VALUE
                    ? query.maxMessages()
                    : Math.min(query.maxMessages(), FIRST_STRETCH);
            send(
                    session,
                    PostgresSql.READ_RUN,
                    PostgresSql.READ_RUN_AND_OLDEST,
                    Rows.hash(key),
                    query.maxTokens(),
                    stretch);
            Beside found = Objects.requireNonNull(beside, "the memory's row");
            if (isEnough(found)) {
                return tail(found);
            }
            winding.add(key);
        }
        forget();
        send(
                session,
                PostgresSql.READ,
                PostgresSql.READ_AND_OLDEST,
                Rows.hash(key),
                query.from(),
                query.after(),
                (long) query.maxMessages(),
                query.maxTokens(),
                query.maxTokens() == Long.MAX_VALUE ? WHOLE_RUN : FIRST_STRETCH,
                query.toSummary());
        Tail tail = tail(Objects.requireNonNull(beside, "the memory's row"));
        if (mayBeInOneRun && tail.view() == null && isStretch(tail.messages())) {
            winding.remove(key);
        }
        return tail;
    }

    private void send(Session session, String sql, String sqlWithOldest, @Nullable Object... parameters)
            throws SQLException {
        if (query.oldest() == 0) {
            session.list(sql, this::take, parameters);
            rows.sort(BY_SEQUENCE);
            return;
        }
        List<@Nullable Object> all = new ArrayList<>(Arrays.asList(parameters));
        all.add(Rows.hash(key));
        all.add(query.from());
        all.add(query.after());
        // A summary may cut the newest part short, so nothing is taken to be in it.
        all.add(query.toSummary() ? 0L : (long) query.maxMessages());
        all.add(query.maxTokens());
        all.add((long) query.oldest());
        session.list(sqlWithOldest, this::take, all.toArray());
        rows.sort(BY_SEQUENCE);
    }

    /** Whether the head's run held all that was asked for. */
    private boolean isEnough(Beside found) {
        if (found.start() == null) {
            return true;
        }
        if (found.namedAfter() == null) {
            return false;
        }
        if (rows.isEmpty()) {
            return false;
        }
        Node oldest = rows.get(0).node();
        // Above where was looked down to: the tokens were enough.
        return oldest.seq() > found.namedAfter() || rows.size() == query.maxMessages() || oldest.parentSeq() == null;
    }

    /** Whether the short statement may do for it the next time. */
    private boolean isStretch(List<LoggedMessage> read) {
        return !read.isEmpty()
                && (query.maxTokens() == Long.MAX_VALUE || read.size() < FIRST_STRETCH)
                && read.get(read.size() - 1).sequence() - read.get(0).sequence() == read.size() - 1;
    }

    /** The work may be run again from the start. */
    private void forget() {
        beside = null;
        after = null;
        rows.clear();
        older.clear();
        bySeq.clear();
        view = null;
        summary = null;
    }

    private Void take(ResultSet row) throws SQLException {
        switch (row.getInt("kind")) {
            case 1 -> {
                if (row.getString("message") != null) {
                    throw new DamagedException(row.getString("message"));
                }
                beside = new Beside(
                        Rows.nullableNumber(row, "seq"),
                        new Position(Rows.number(row, "a"), Rows.number(row, "b"), row.getString("id")),
                        Rows.nullableNumber(row, "c"),
                        Rows.nullableNumber(row, "d"),
                        Rows.number(row, "floor_seq"),
                        Rows.nullableNumber(row, "named_after_seq"),
                        Rows.number(row, "after_seq"));
            }
            case 2 -> rows.add(row(row));
            case 3 -> message(row);
            case 4 -> view = ViewJson.read(key, row.getString("message"), row.getString("id"), row.getLong("seq"));
            case 6 -> older.add(row(row));
            case 7 -> after = node(row);
            default -> {
                String covers = row.getString("id");
                if (covers == null) {
                    throw new DamagedException(
                            "a summary covers up to message " + row.getLong("seq") + ", which is not there");
                }
                summary = Rows.summary(
                        covers, codec, row, "message", "parent_id", Rows.number(row, "a"), Rows.number(row, "b"));
            }
        }
        return null;
    }

    private LoggedMessage message(ResultSet row) throws SQLException {
        LoggedMessage message = Rows.message(key, codec, row);
        bySeq.put(message.sequence(), message);
        return message;
    }

    private MessageRow row(ResultSet row) throws SQLException {
        return new MessageRow(message(row), node(row));
    }

    private static Node node(ResultSet row) throws SQLException {
        return new Node(
                Rows.number(row, "seq"),
                Rows.text(row, "id"),
                Rows.nullableNumber(row, "parent_seq"),
                Rows.nullableText(row, "parent_id"),
                Rows.number(row, "tokens"),
                Rows.number(row, "a"),
                Rows.number(row, "b"),
                Rows.number(row, "c"),
                Rows.nullableNumber(row, "d"),
                Rows.nullableNumber(row, "floor_seq"));
    }

    private Tail tail(Beside found) {
        if (found.start() == null) {
            if (query.from() != null) {
                throw UnknownMessageException.notThere(key, "from", query.from());
            }
            return Tail.empty(found.position());
        }
        if (query.after() != null && found.namedAfter() == null) {
            throw UnknownMessageException.notThere(key, "after", query.after());
        }
        if (query.after() != null && found.after() == 0) {
            throw UnknownMessageException.noAncestor(key, "after");
        }
        Node.checkBranch(rows);
        Node oldest = rows.isEmpty() ? null : rows.get(0).node();
        Long parent = oldest == null ? found.start() : oldest.parentSeq();
        checkEnds(found, parent);
        if (oldest != null && after != null && Objects.equals(parent, after.seq())) {
            oldest.checkUnder(after);
        }
        return new Tail(
                found.position(),
                rows.stream().map(MessageRow::message).toList(),
                oldest(found),
                inForce(found.after(), found.system(), ChatMessageType.SYSTEM),
                inForce(found.after(), found.user(), ChatMessageType.USER),
                view,
                summary,
                parent == null || parent <= found.floor(),
                oldest != null && parent == null ? oldest.parentId() : null);
    }

    /** The messages begin where the branch ends, and go on to its start or floor, or to what was asked for. */
    private void checkEnds(Beside found, @Nullable Long parent) {
        long start = Objects.requireNonNull(found.start());
        if (!rows.isEmpty() && rows.get(rows.size() - 1).node().seq() != start) {
            throw new DamagedException("message " + start + " of the branch is not there");
        }
        long tokens = 0;
        for (MessageRow row : rows) {
            tokens += row.node().tokens();
        }
        boolean isEnough = rows.size() >= query.maxMessages() || tokens >= query.maxTokens();
        if (!isEnough && parent != null && parent > found.floor()) {
            throw new DamagedException("message " + parent + " of the branch is not there");
        }
        if (found.floor() > 0 && (parent == null || parent < found.floor())) {
            throw new DamagedException("the branch does not go through message " + found.floor());
        }
    }

    /** What came by itself, and then what is among the newest: these reach up to the branch's end without a gap. */
    private List<LoggedMessage> oldest(Beside found) {
        older.sort(BY_SEQUENCE);
        List<MessageRow> oldest = new ArrayList<>(older);
        long newest =
                oldest.isEmpty() ? 0 : oldest.get(oldest.size() - 1).node().seq();
        for (MessageRow row : rows) {
            if (oldest.size() >= query.oldest()) {
                break;
            }
            if (row.node().seq() > newest) {
                oldest.add(row);
            }
        }
        Node.checkBranch(oldest);
        Node first = oldest.isEmpty() ? null : oldest.get(0).node();
        long floor = first == null || first.parentSeq() == null ? 0 : first.parentSeq();
        long end = oldest.isEmpty()
                ? found.after()
                : oldest.get(oldest.size() - 1).node().seq();
        boolean isShort = oldest.size() < query.oldest() && end != Objects.requireNonNull(found.start());
        if (isShort || (first != null && floor != found.after())) {
            throw new DamagedException("messages are missing where the branch begins");
        }
        return oldest.stream().map(MessageRow::message).toList();
    }

    private @Nullable LoggedMessage inForce(long after, @Nullable Long seq, ChatMessageType type) {
        return seq != null && seq > after ? Node.requireInForce(bySeq.get(seq), seq, type) : null;
    }
}
