package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;

/** PostgreSQL: each statement is a round trip, so an append is one and a read is one. */
final class PostgresDialect implements Dialect {

    private final MessageCodec codec = new MessageCodec();

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
    public String leaves() {
        return PostgresSql.LEAVES;
    }

    @Override
    public String bury() {
        return PostgresSql.BURY;
    }

    @Override
    public AppendResult append(Connections connections, MemoryKey key, Append append, List<String> texts, long now) {
        PostgresAppend statement = new PostgresAppend(key, append, texts, now, codec);
        return connections.single("append to memory " + key, statement::run);
    }

    @Override
    public Tail read(Connections connections, MemoryKey key, ReadQuery query) {
        PostgresRead statement = new PostgresRead(key, query, codec);
        return connections.single("read of memory " + key, statement::run);
    }
}
