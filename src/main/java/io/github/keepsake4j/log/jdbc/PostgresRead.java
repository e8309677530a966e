package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.jdbc.PostgresReadSql.Part;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.NamedSql;
import io.github.keepsake4j.sql.Session;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One bounded read. It sends the shortest statement that may be sufficient according to the memory's {@link Reach}, and
 * a longer one if it was not. A read from another message than the head, or behind one, is always general.
 */
record PostgresRead(MemoryKey key, KnownMemory memory, @Nullable Reach known, ReadQuery query, MessageCodec codec) {

    /**
     * The parts that were sufficient for a memory's last read from the head.
     *
     * @param parts the parts that are read in addition to the head's run
     * @param general whether the branch has more runs than the memory's row repeats
     * @param stretch the number of messages that are searched if tokens bound the read
     */
    record Reach(Set<Part> parts, boolean general, long stretch) {

        /** For an unknown memory, or one whose head was moved to another branch. */
        static final Reach UNKNOWN =
                new Reach(EnumSet.of(Part.ORPHANS, Part.RUNS, Part.SYSTEM, Part.USER, Part.VIEW), false, FIRST_STRETCH);

        /** Asks for one part more. */
        Reach with(Part part) {
            Set<Part> more = EnumSet.copyOf(parts);
            more.add(part);
            return new Reach(more, general, stretch);
        }
    }

    /** A read of so few messages is not a window. The messages in force are mostly before it, so it is not recorded. */
    private static final int FEW = 8;

    private static final long FIRST_STRETCH = 64;

    /** A number larger than any count, and small enough to be doubled and subtracted. */
    private static final long WHOLE_RUN = 1L << 40;

    /** The head's run, and those that the memory's row repeats. */
    private static final int REPEATED_RUNS = 9;

    private Reach reach() {
        return known == null ? Reach.UNKNOWN : known;
    }

    Tail run(Session session) throws SQLException {
        boolean fromHead = query.from() == null && query.after() == null && query.reference() == null;
        PostgresReadRows rows = fromHead ? fromHead(session) : general(session);
        if (rows.isEmpty() && known != null) {
            // The memory was not empty before, so this was not read.
            Memory.find(session, PostgresSql.MEMORY, memory.hash).sound();
        }
        Tail tail = rows.tail();
        if (tail.head() != null) {
            memory.begun = true;
        }
        if (fromHead && query.maxMessages() > FEW && !rows.isEmpty()) {
            learn(rows);
        }
        return tail;
    }

    /**
     * A part that was needed once is needed again. But the branch leaves older runs behind, and soon the system
     * message.
     */
    private void learn(PostgresReadRows rows) {
        Set<Part> parts = rows.needed();
        if (rows.hasSystem()) {
            parts.add(Part.SYSTEM);
        }
        if (known != null) {
            parts.addAll(known.parts());
            if (rows.runs() == 1) {
                parts.remove(Part.RUNS);
            }
        }
        Reach enough = new Reach(parts, rows.runs() > REPEATED_RUNS, Math.max(FIRST_STRETCH, rows.size() * 5L / 4));
        if (!enough.equals(known)) {
            memory.reach = enough;
        }
    }

    private PostgresReadRows fromHead(Session session) throws SQLException {
        if (reach().general()) {
            return general(session);
        }
        Set<Part> asked = EnumSet.copyOf(reach().parts());
        if (query.maxMessages() == 0) {
            asked.remove(Part.RUNS);
        }
        if (query.maxMessages() <= FEW) {
            asked.addAll(EnumSet.of(Part.SYSTEM, Part.USER, Part.VIEW));
        }
        PostgresReadRows rows = fromHead(session, asked);
        Set<Part> needed = rows.needed();
        if (!rows.isEnough() && !rows.endsWithinRun()) {
            // Reads older runs, and the parts that may be before them.
            needed = Reach.UNKNOWN.parts();
        }
        if (asked.addAll(needed)) {
            rows = fromHead(session, asked);
        }
        // Between the two statements the memory may have changed, so that the second one lacks a part.
        return rows.isEnough() && asked.containsAll(rows.needed()) ? rows : general(session);
    }

    private PostgresReadRows fromHead(Session session, Set<Part> asked) throws SQLException {
        Set<Part> parts = EnumSet.copyOf(asked);
        if (query.toSummary()) {
            parts.add(Part.SUMMARY);
        }
        if (query.oldest() > 0) {
            parts.add(Part.OLDEST);
        }
        // At least one message, which shows that the head exists.
        long most = Math.max(1, query.maxMessages());
        long wanted = query.maxTokens() == Long.MAX_VALUE ? most : Math.min(most, reach().stretch());
        PostgresReadRows rows = new PostgresReadRows(key, query, codec);
        send(session, PostgresReadSql.fromHead(parts), rows::fromHead, wanted, Math.max(1, query.maxTokens()));
        return rows;
    }

    private PostgresReadRows general(Session session) throws SQLException {
        PostgresReadRows rows = new PostgresReadRows(key, query, codec);
        NamedSql sql = query.reference() == null
                ? query.oldest() > 0 ? PostgresReadSql.READ_GENERAL_AND_OLDEST : PostgresReadSql.READ_GENERAL
                : query.oldest() > 0 ? PostgresReadSql.READ_NAMED_AND_OLDEST : PostgresReadSql.READ_NAMED;
        send(session, sql, rows::general, query.maxMessages(), query.maxTokens());
        return rows;
    }

    private void send(Session session, NamedSql sql, Session.Mapper<Void> mapper, long rows, long maxTokens)
            throws SQLException {
        session.list(
                sql,
                mapper,
                memory.hash,
                rows,
                (int) Math.min(rows, Integer.MAX_VALUE),
                maxTokens,
                query.from(),
                query.after(),
                query.maxTokens() == Long.MAX_VALUE ? WHOLE_RUN : FIRST_STRETCH,
                query.toSummary(),
                // A summary may cut the newest part short, so nothing is assumed to be in it.
                query.toSummary() ? 0L : (long) query.maxMessages(),
                (long) query.oldest(),
                1,
                query.reference());
    }
}
