package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.AppendRules;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.InputRules;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The log in a relational database. On SQLite it is one file, embedded, in WAL mode and with every commit synced, that
 * several processes on one machine may share (not over a network file system). Needs {@code org.xerial:sqlite-jdbc}.
 */
public final class JdbcMessageLog implements MessageLog {

    private static final Duration BUSY_TIMEOUT = Duration.ofSeconds(10);

    private final Connections connections;
    private final Clock clock;
    private final MessageCodec codec = new MessageCodec();

    JdbcMessageLog(Connections connections, Clock clock) {
        this.connections = connections;
        this.clock = clock;
    }

    /**
     * Keeps memories in a SQLite file. The file and its tables are made on first use; its directory must exist. A call
     * waits up to 10 seconds for another process that writes.
     *
     * @param file the file
     * @return the log, to be closed at the end
     */
    public static JdbcMessageLog sqlite(Path file) {
        return new JdbcMessageLog(new SqliteConnections(file, BUSY_TIMEOUT), Clock.systemUTC());
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        byte[] hash = Rows.hash(key);
        List<String> texts = append.messages().stream()
                .map(message -> codec.encode(message.message()))
                .toList();
        return connections.write("append to memory " + key, connection -> new Appender(connection, key, hash, codec)
                .append(append, texts, now()));
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        byte[] hash = Rows.hash(key);
        return connections.read(
                "read of memory " + key, connection -> new BranchReader(connection, key, hash, codec).read(query));
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        String sql = query.forward() ? Sql.HISTORY_FORWARD : Sql.HISTORY_BACK;
        List<LoggedMessage> found = connections.read(
                "history of memory " + key,
                connection -> Query.list(
                        connection,
                        sql,
                        row -> Rows.message(key, codec, row),
                        Rows.hash(key),
                        query.sequence(),
                        query.limit() + 1));
        if (!query.forward()) {
            Collections.reverse(found);
        }
        return HistoryPage.of(query, found);
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        byte[] hash = Rows.hash(key);
        return connections.read(
                "branches of memory " + key,
                connection -> Query.list(
                        connection,
                        Sql.LEAVES,
                        row -> new Branch(
                                row.getString("id"),
                                row.getLong("depth"),
                                Rows.time(row.getLong("created_at")),
                                row.getBoolean("current")),
                        hash,
                        hash,
                        hash,
                        hash));
    }

    @Override
    public String moveHead(MemoryKey key, String messageId, @Nullable Long epoch) {
        byte[] hash = Rows.hash(key);
        return connections.write("move of the head of memory " + key, connection -> {
            Memory memory = Memory.find(connection, hash);
            AppendRules.checkEpoch(key, epoch, memory.epoch());
            Node target = Node.existing(connection, key, hash, "messageId", messageId);
            Query.update(connection, Sql.MOVE_HEAD, target.seq(), hash);
            return memory.headId() == null ? messageId : memory.headId();
        });
    }

    @Override
    public void describe(MemoryKey key, @Nullable String title, Map<String, String> metadata) {
        InputRules.checkDescription(title, metadata);
        byte[] hash = Rows.hash(key);
        String json = codec.encodeStrings(metadata);
        connections.write("description of memory " + key, connection -> {
            Memory.create(connection, key, hash, now());
            return Query.update(connection, Sql.DESCRIBE, title, json, hash);
        });
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        Ids.check("tenant", tenant);
        List<Long> numbers = new ArrayList<>();
        List<MemoryInfo> found = connections.read(
                "list of tenant " + MemoryKey.encode(tenant),
                connection -> Query.list(
                        connection,
                        Sql.LIST,
                        row -> {
                            numbers.add(row.getLong("number"));
                            Long last = Rows.nullableLong(row, "last_message_at");
                            return new MemoryInfo(
                                    Memory.key(row),
                                    row.getString("title"),
                                    codec.decodeStrings(row.getString("metadata")),
                                    row.getLong("last_seq"),
                                    row.getLong("tokens"),
                                    Rows.time(row.getLong("created_at")),
                                    last == null ? null : Rows.time(last));
                        },
                        tenant,
                        query.cursorAsNumber(),
                        query.limit() + 1));
        if (found.size() <= query.limit()) {
            return new MemoryPage(found, Optional.empty());
        }
        String cursor = Long.toString(numbers.get(query.limit() - 1));
        return new MemoryPage(found.subList(0, query.limit()), Optional.of(new ListQuery(query.limit(), cursor)));
    }

    @Override
    public void putSummary(MemoryKey key, Summary summary, long epoch) {
        byte[] hash = Rows.hash(key);
        String text = codec.encodeText(summary.text());
        connections.write("summary of memory " + key, connection -> {
            AppendRules.checkEpoch(key, epoch, Memory.find(connection, hash).epoch());
            Node covered = Node.existing(connection, key, hash, "coversUpTo", summary.coversUpTo());
            return Query.update(
                    connection,
                    Sql.PUT_SUMMARY,
                    hash,
                    covered.seq(),
                    text,
                    summary.tokens(),
                    summary.tokenCounter(),
                    summary.replacedMessages(),
                    summary.replacedTokens(),
                    summary.model(),
                    Rows.micros(summary.createdAt()),
                    hash);
        });
    }

    @Override
    public List<Summary> summaries(MemoryKey key) {
        byte[] hash = Rows.hash(key);
        return connections.read(
                "summaries of memory " + key,
                connection -> Query.list(connection, Sql.SUMMARIES, row -> Rows.summary(codec, row), hash));
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        byte[] hash = Rows.hash(key);
        return connections.write("lease " + name + " of memory " + key, connection -> {
            long now = now();
            long expires = now + duration.toNanos() / 1_000;
            int taken = Query.update(connection, Sql.TAKE_LEASE, hash, name, owner, expires, now);
            return taken == 0 ? Optional.empty() : Optional.of(new Lease(name, owner, Rows.time(expires)));
        });
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        byte[] hash = Rows.hash(key);
        connections.write(
                "release of lease " + name + " of memory " + key,
                connection -> Query.update(connection, Sql.RELEASE_LEASE, hash, name, owner));
    }

    @Override
    public long erase(MemoryKey key) {
        byte[] hash = Rows.hash(key);
        return connections.write("erasure of memory " + key, connection -> {
            Query.update(connection, Sql.ERASE_MESSAGES, hash);
            Query.update(connection, Sql.ERASE_VIEWS, hash);
            Query.update(connection, Sql.ERASE_SUMMARIES, hash);
            Query.update(connection, Sql.ERASE_LEASES, hash);
            Query.update(connection, Sql.BURY, hash);
            return Memory.find(connection, hash).epoch();
        });
    }

    @Override
    public void close() {
        connections.close();
    }

    private long now() {
        return Rows.micros(clock.instant());
    }
}
