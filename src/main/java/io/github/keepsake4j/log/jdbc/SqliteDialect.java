package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.Session;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * SQLite: statements are very cheap, so an append and a read are several small statements in one transaction. Its rows
 * repeat nothing, since each read can look it up.
 */
final class SqliteDialect implements Dialect {

    private final MessageCodec codec = new MessageCodec();

    @Override
    public OwnSql sql() {
        return SqliteSql.OWN;
    }

    @Override
    public String name() {
        return "sqlite";
    }

    @Override
    public Object array(List<Long> numbers) {
        return numbers.toString();
    }

    @Override
    public long erase(Session session, byte[] hash) throws SQLException {
        takeOffLists(session, hash);
        Long epoch = session.first(SqliteSql.BURY, row -> row.getLong("epoch"), hash, Memory.NONE.epoch() + 1);
        for (String sql : SqliteSql.ERASE) {
            session.update(sql, hash);
        }
        return Objects.requireNonNull(epoch, "the tombstone's epoch");
    }

    @Override
    public AppendResult append(
            Connections connections, MemoryKey key, Append append, List<String> texts, ListedMetadata names, long now) {
        byte[] hash = Rows.hash(key);
        return connections.write(
                new Connections.Call("append to memory", key),
                session -> new SteppedAppender(session, this, key, hash, codec).append(append, texts, names, now));
    }

    @Override
    public List<Found> find(Connections connections, MemoryKey key, Set<String> ids, boolean withMade) {
        return find(connections, key, SqliteSql.FIND, ids.stream().map(codec::encodeText), withMade);
    }

    @Override
    public List<Found> findAt(Connections connections, MemoryKey key, SortedSet<Long> sequences, boolean withMade) {
        return find(connections, key, SqliteSql.FIND_AT, sequences.stream().map(String::valueOf), withMade);
    }

    private List<Found> find(
            Connections connections, MemoryKey key, String sql, Stream<String> wanted, boolean withMade) {
        return connections.single("look-up in memory " + key, session -> {
            List<Found> found = session.list(
                    withMade ? Sql.withMade(sql) : sql,
                    row -> Rows.found(key, codec, row, withMade),
                    Rows.hash(key),
                    wanted.collect(Collectors.joining(",", "[", "]")));
            found.sort(Comparator.comparingLong(each -> each.message().sequence()));
            return found;
        });
    }

    @Override
    public Tail read(Connections connections, MemoryKey key, ReadQuery query) {
        byte[] hash = Rows.hash(key);
        return connections.single(
                new Connections.Call("read of memory", key),
                session -> new SqliteReader(session, key, hash, codec).read(query));
    }
}
