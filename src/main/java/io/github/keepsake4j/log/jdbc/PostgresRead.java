package io.github.keepsake4j.log.jdbc;

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
 * One bounded read: what the rows of {@link PostgresSql#READ_RUN} or {@link PostgresSql#READ} make together. The first one
 * is sent where it may do, unless it did not do for this memory the last time ({@code winding}). Where the oldest messages
 * are asked for too, {@link PostgresSql#OLDEST} is a part of the statement.
 */
final class PostgresRead {

    /** What stands beside the messages. */
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

    private final MemoryKey key;
    private final ReadQuery query;
    private final MessageCodec codec;
    private final RecentMemories winding;
    private final List<LoggedMessage> messages = new ArrayList<>();
    private final List<LoggedMessage> older = new ArrayList<>();
    private final Map<Long, LoggedMessage> bySeq = new HashMap<>();
    private final Map<Long, Long> parents = new HashMap<>();
    private @Nullable Beside beside;
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
            if (beside == null) {
                return Tail.empty(Position.NONE);
            }
            if (isEnough(beside)) {
                return tail(beside);
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
    }

    /** Whether the head's run held all that was asked for. */
    private boolean isEnough(Beside found) {
        if (found.start() == null) {
            return true;
        }
        if (found.namedAfter() == null) {
            return false;
        }
        long oldest = Long.MAX_VALUE;
        for (LoggedMessage message : messages) {
            oldest = Math.min(oldest, message.sequence());
        }
        // Above where was looked down to: the tokens were enough.
        return oldest > found.namedAfter() || messages.size() == query.maxMessages() || !parents.containsKey(oldest);
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
        messages.clear();
        older.clear();
        bySeq.clear();
        parents.clear();
        view = null;
        summary = null;
    }

    private Void take(ResultSet row) throws SQLException {
        switch (row.getInt("kind")) {
            case 1 ->
                beside = new Beside(
                        Rows.nullableLong(row, "seq"),
                        new Position(row.getLong("a"), row.getLong("b"), row.getString("id")),
                        Rows.nullableLong(row, "c"),
                        Rows.nullableLong(row, "d"),
                        row.getLong("floor_seq"),
                        Rows.nullableLong(row, "named_after_seq"),
                        row.getLong("after_seq"));
            case 2 -> {
                LoggedMessage message = message(row);
                messages.add(message);
                Long parent = Rows.nullableLong(row, "parent_seq");
                if (parent != null) {
                    parents.put(message.sequence(), parent);
                }
            }
            case 3 -> message(row);
            case 4 -> view = ViewJson.read(key, row.getString("message"), row.getString("id"), row.getLong("seq"));
            case 6 -> older.add(message(row));
            default ->
                summary = new Summary(
                        row.getString("id"),
                        codec.decodeText(row.getString("message")),
                        row.getInt("tokens"),
                        row.getString("token_counter"),
                        row.getLong("a"),
                        row.getLong("b"),
                        row.getString("parent_id"),
                        Rows.time(row.getLong("created_at")));
        }
        return null;
    }

    private LoggedMessage message(ResultSet row) throws SQLException {
        LoggedMessage message = Rows.message(key, codec, row);
        bySeq.put(message.sequence(), message);
        return message;
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
        messages.sort(Comparator.comparingLong(LoggedMessage::sequence));
        LoggedMessage oldest = messages.isEmpty() ? null : messages.get(0);
        Long parent = oldest == null ? found.start() : parents.get(oldest.sequence());
        return new Tail(
                found.position(),
                messages,
                oldest(),
                behind(found.after(), found.system()),
                behind(found.after(), found.user()),
                view,
                summary,
                parent == null || parent <= found.floor(),
                oldest != null && parent == null ? oldest.parentId() : null);
    }

    /** What came by itself, and then what is among the newest: these reach up to the branch's end without a gap. */
    private List<LoggedMessage> oldest() {
        List<LoggedMessage> oldest = new ArrayList<>(older);
        oldest.sort(Comparator.comparingLong(LoggedMessage::sequence));
        long newest = oldest.isEmpty() ? 0 : oldest.get(oldest.size() - 1).sequence();
        for (LoggedMessage message : messages) {
            if (oldest.size() >= query.oldest()) {
                break;
            }
            if (message.sequence() > newest) {
                oldest.add(message);
            }
        }
        return oldest;
    }

    private @Nullable LoggedMessage behind(long after, @Nullable Long seq) {
        return seq != null && seq > after ? bySeq.get(seq) : null;
    }
}
