package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** PostgreSQL: each statement is a round trip, so an append is one and a read is one. */
final class PostgresDialect implements Dialect {

    private final MessageCodec codec = new MessageCodec();

    /** Memories that have messages, as was seen lately: most appends to them can be made by the short statement. */
    private final RecentMemories begun = new RecentMemories();

    /** Memories whose newest messages lie on several runs, as was seen lately: the short read would not do for them. */
    private final RecentMemories winding = new RecentMemories();

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    public String memory() {
        return PostgresSql.MEMORY;
    }

    @Override
    public String lockMemory() {
        return PostgresSql.LOCK_MEMORY;
    }

    @Override
    public String moveHead() {
        return PostgresSql.MOVE_HEAD;
    }

    @Override
    public String mend() {
        return PostgresSql.MEND_MEMORY;
    }

    @Override
    public String leaves() {
        return PostgresSql.LEAVES;
    }

    @Override
    public long erase(Session session, byte[] hash) throws SQLException {
        // First, because it takes the lock that appends wait for.
        Long epoch = session.first(PostgresSql.BURY, row -> row.getLong("epoch"), hash, Memory.NONE.epoch() + 1);
        session.update(PostgresSql.ERASE, hash, epoch, hash, hash, hash, hash);
        return Objects.requireNonNull(epoch, "the tombstone's epoch");
    }

    @Override
    public AppendResult append(Connections connections, MemoryKey key, Append append, List<String> texts, long now) {
        PostgresAppend statement = new PostgresAppend(key, append, texts, now, codec, begun.contains(key));
        AppendResult result = connections.single("append to memory " + key, statement::run);
        begun.add(key);
        return result;
    }

    @Override
    public List<LoggedMessage> find(Connections connections, MemoryKey key, Set<String> ids) {
        return connections.single(
                "look-up in memory " + key,
                session -> session.list(
                        PostgresSql.FIND,
                        row -> Rows.message(key, codec, row),
                        Rows.hash(key),
                        ids.toArray(String[]::new)));
    }

    @Override
    public Tail read(Connections connections, MemoryKey key, ReadQuery query) {
        PostgresRead statement = new PostgresRead(key, query, codec, winding);
        Tail tail = connections.single("read of memory " + key, statement::run);
        if (tail.head() != null) {
            begun.add(key);
        }
        return tail;
    }
}
