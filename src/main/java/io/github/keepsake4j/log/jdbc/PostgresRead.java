package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * One bounded read. It sends the shortest statement that may be enough, as the memory's {@link Reach} says, and a longer one
 * if that was not enough. A read from another message than the head, or behind one, is always general.
 */
final class PostgresRead {

    /**
     * What was enough for a memory's last read from the head.
     *
     * @param across whether it must look at older runs too, or for the user message in force
     * @param general whether the branch has more runs than the memory's row repeats
     * @param stretch how many messages are looked at where tokens bound the read
     */
    record Reach(boolean across, boolean general, long stretch) {

        /** For a memory of which nothing is known, or that has been moved elsewhere. */
        static final Reach UNKNOWN = new Reach(true, false, FIRST_STRETCH);
    }

    private static final long FIRST_STRETCH = 64;

    /** More than there will ever be, and small enough to be doubled and subtracted. */
    private static final long WHOLE_RUN = 1L << 40;

    /** The head's run, and those that the memory's row repeats. */
    private static final int REPEATED_RUNS = 9;

    private final MemoryKey key;
    private final ReadQuery query;
    private final MessageCodec codec;
    private Reach reach;

    PostgresRead(MemoryKey key, ReadQuery query, MessageCodec codec, @Nullable Reach known) {
        this.key = key;
        this.query = query;
        this.codec = codec;
        this.reach = known == null ? Reach.UNKNOWN : known;
    }

    /** Returns what would have been enough for what was read. */
    Reach reach() {
        return reach;
    }

    Tail run(Session session) throws SQLException {
        boolean fromHead = query.from() == null && query.after() == null;
        boolean onlyPosition = fromHead && query.maxMessages() == 0 && !query.toSummary() && query.oldest() == 0;
        PostgresReadRows rows = onlyPosition ? position(session) : fromHead ? fromHead(session) : general(session);
        Tail tail = rows.tail();
        if (fromHead && !onlyPosition) {
            reach = new Reach(
                    !rows.isInOneRun(), rows.runs() > REPEATED_RUNS, Math.max(FIRST_STRETCH, rows.size() * 5L / 4));
        }
        return tail;
    }

    private PostgresReadRows position(Session session) throws SQLException {
        PostgresReadRows rows = fromHead(session, PostgresReadSql.READ_POSITION);
        return rows.isEnough() ? rows : general(session);
    }

    private PostgresReadRows fromHead(Session session) throws SQLException {
        if (reach.general()) {
            return general(session);
        }
        PostgresReadRows rows = fromHead(session, reach.across());
        if (!rows.isEnough() && !reach.across() && !rows.endsWithinRun()) {
            rows = fromHead(session, true);
        }
        return rows.isEnough() ? rows : general(session);
    }

    private PostgresReadRows fromHead(Session session, boolean across) throws SQLException {
        return fromHead(session, PostgresReadSql.fromHead(across, query.toSummary(), query.oldest() > 0));
    }

    private PostgresReadRows fromHead(Session session, NamedSql sql) throws SQLException {
        // One at least, which shows that the head is there.
        long most = Math.max(1, query.maxMessages());
        long wanted = query.maxTokens() == Long.MAX_VALUE ? most : Math.min(most, reach.stretch());
        PostgresReadRows rows = new PostgresReadRows(key, query, codec);
        send(session, sql, rows::fromHead, wanted, Math.max(1, query.maxTokens()));
        return rows;
    }

    private PostgresReadRows general(Session session) throws SQLException {
        PostgresReadRows rows = new PostgresReadRows(key, query, codec);
        NamedSql sql = query.oldest() > 0 ? PostgresReadSql.READ_GENERAL_AND_OLDEST : PostgresReadSql.READ_GENERAL;
        send(session, sql, rows::general, query.maxMessages(), query.maxTokens());
        return rows;
    }

    private void send(Session session, NamedSql sql, Session.Mapper<Void> mapper, long rows, long maxTokens)
            throws SQLException {
        session.list(
                sql,
                mapper,
                Rows.hash(key),
                rows,
                maxTokens,
                query.from(),
                query.after(),
                query.maxTokens() == Long.MAX_VALUE ? WHOLE_RUN : FIRST_STRETCH,
                query.toSummary(),
                // A summary may cut the newest part short, so nothing is taken to be in it.
                query.toSummary() ? 0L : (long) query.maxMessages(),
                (long) query.oldest());
    }
}
