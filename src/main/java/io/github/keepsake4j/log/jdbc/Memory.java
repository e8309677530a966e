package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.DamagedException;
import io.github.keepsake4j.sql.KeyColumns;
import io.github.keepsake4j.sql.NamedSql;
import io.github.keepsake4j.sql.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A memory's row. A memory that was never written has {@link #NONE}.
 *
 * @param tokens the sum of all messages' tokens
 * @param damage the problem that the database found with the head, or null
 */
record Memory(
        long epoch,
        long revision,
        long lastSeq,
        long tokens,
        @Nullable Long headSeq,
        @Nullable String headId,
        @Nullable String damage) {

    /** The stored form of no metadata. */
    static final String NO_METADATA = "{}";

    static final Memory NONE = new Memory(1, 1, 0, 0, null, null, null);

    /** A number larger than any count, and small enough for additions. */
    static final long MAX = 1L << 60;

    Position position() {
        return new Position(epoch, revision, headId);
    }

    /** The row as it is stored, by a statement of {@link Dialect#memory}. */
    static Memory find(Session session, NamedSql sql, byte[] hash) throws SQLException {
        Memory found = session.first(sql, Memory::of, hash);
        return found == null ? NONE : found;
    }

    /** The row, which no other writer changes before the transaction ends, or {@link #NONE} if there was none to lock. */
    static Memory lock(Session session, Dialect dialect, byte[] hash) throws SQLException {
        return find(session, dialect.sql().lockMemory(), hash).sound();
    }

    /** Returns this, or throws if the row contradicts itself or the messages. */
    Memory sound() {
        String problem = problem();
        if (problem != null) {
            throw new DamagedException(problem);
        }
        return this;
    }

    /** Returns the problem, or null. */
    @Nullable
    String problem() {
        Long head = headSeq;
        if ((head == null) != (headId == null) || (head != null && (head < 1 || head > lastSeq))) {
            return "the head's columns contradict each other";
        }
        boolean inRange = epoch >= 1
                && epoch <= MAX
                && revision >= 1
                && revision <= MAX
                && lastSeq >= 0
                && lastSeq <= MAX
                && tokens >= 0
                && tokens <= MAX;
        if (!inRange) {
            return "a number of the memory's row is out of range";
        }
        return damage;
    }

    /** Creates the row and puts it on its lists, or restores the ids of a tombstone. */
    static void create(
            Session session, Dialect dialect, MemoryKey key, byte[] hash, String metadata, List<Long> lists, long now)
            throws SQLException {
        KeyColumns columns = KeyColumns.of(key);
        int created = session.update(
                Sql.CREATE_MEMORY,
                hash,
                columns.tenant(),
                columns.app(),
                columns.conversation(),
                columns.node(),
                metadata,
                dialect.array(lists),
                now,
                now,
                now);
        if (created > 0) {
            session.update(dialect.sql().putOnLists(), dialect.array(lists), hash);
        }
    }

    static MemoryKey key(ResultSet row) throws SQLException {
        return new KeyColumns(
                        Rows.text(row, "tenant"),
                        Rows.nullableText(row, "app_id"),
                        Rows.text(row, "conversation_id"),
                        Rows.nullableText(row, "node_id"))
                .key();
    }

    static Memory of(ResultSet row) throws SQLException {
        return of(row, "tokens");
    }

    /** Reads a row whose column with the sum of all tokens has another name. */
    static Memory of(ResultSet row, String tokens) throws SQLException {
        return new Memory(
                Rows.number(row, "epoch"),
                Rows.number(row, "revision"),
                Rows.number(row, "last_seq"),
                Rows.number(row, tokens),
                Rows.nullableNumber(row, "head_seq"),
                Rows.nullableText(row, "head_id"),
                Rows.nullableText(row, "damage"));
    }
}
