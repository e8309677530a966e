package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.AppendRules;
import io.github.keepsake4j.backend.Forks;
import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.codec.MessageCodec.Row;
import io.github.keepsake4j.jdbc.PostgresBuilder;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Selection;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.DamagedException;
import io.github.keepsake4j.sql.Preparation;
import io.github.keepsake4j.sql.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The log in a relational database. Opened by {@link SqliteMessageLog} and {@link PostgresMessageLog}.
 *
 * <p><b>SQLite</b>: one embedded file in WAL mode, with every commit synced. Several processes on one machine may share
 * it, but not over a network file system. Needs {@code org.xerial:sqlite-jdbc}.
 *
 * <p><b>PostgreSQL</b> 14 and newer, for any number of processes. Needs {@code org.postgresql:postgresql}, and
 * {@code com.zaxxer:HikariCP} if this class creates the pool. An append is one statement, and a read is one. Each call
 * takes a connection of its own and has committed when it returns, independently of the caller's transaction. So pass
 * the plain data source, not a proxy that returns the transaction's connection. If calls are made inside transactions,
 * pass a separate pool, or one with more connections than threads. Behind a pooler in transaction mode, such as
 * PgBouncer, use {@link Builder#transactionPooler()} or add {@code prepareThreshold=0} to the URL, unless the pooler
 * tracks prepared statements (PgBouncer 1.21 and newer, {@code max_prepared_statements} above 0). A pooler in statement
 * mode does not work.
 *
 * <p><b>Citus.</b> The script {@code citus.sql}, next to the schema's scripts, distributes the tables by memory. Each
 * statement then goes to one shard, or to all if it lists a tenant's memories, a tenant's usage or a conversation's
 * nodes. The log checks on first use whether the tables are distributed, and again if that makes a statement fail. An append is then one round trip of two statements in a transaction, or several round trips if it does
 * more than adding one message under the head.
 *
 * <p>A lease ends by PostgreSQL's clock, so the clocks of the clients do not matter. With SQLite, it ends by the clock
 * of the process.
 */
public final class JdbcMessageLog implements MessageLog {

    private final Connections connections;
    private final Dialect dialect;
    private final Clock clock;
    private final MessageCodec codec = new MessageCodec();
    private final Lists lists;

    JdbcMessageLog(Connections connections, Dialect dialect, ListedMetadata listed, Clock clock) {
        this.connections = connections;
        this.dialect = dialect;
        this.clock = clock;
        this.lists = new Lists(connections, dialect, codec, listed, this::now);
    }

    /**
     * Starts the configuration of a log in PostgreSQL.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public String backend() {
        return dialect.name();
    }

    /** Names the file of SQLite. Does not show a URL, which may contain a password. */
    @Override
    public String toString() {
        return "JdbcMessageLog[" + connections + "]";
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        List<String> texts = append.messages().stream()
                .map(message -> codec.encode(new Row(message.message(), message.question(), message.asked())))
                .toList();
        return dialect.append(
                connections,
                key,
                append,
                texts,
                append.metadata().isEmpty() ? ListedMetadata.NONE : lists.names(),
                now());
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        return dialect.read(connections, key, query);
    }

    @Override
    public Map<MemoryKey, List<Found>> find(Selection selection) {
        return dialect.findInSeveral(connections, selection)
                .orElseGet(() -> selection.each(
                        (key, ids) -> ids.isEmpty() ? List.of() : dialect.find(connections, key, ids, selection.made()),
                        (key, sequences) -> sequences.isEmpty()
                                ? List.of()
                                : dialect.findAt(connections, key, new TreeSet<>(sequences), selection.made())));
    }

    @Override
    public Set<Long> onBranch(MemoryKey key, Collection<Long> sequences) {
        return sequences.isEmpty()
                ? Set.of()
                : connections.single("look-up in memory " + key, session -> {
                    long lowest = Collections.min(sequences);
                    List<BranchRun> runs =
                            session.list(dialect.sql().runsOfHead(), BranchRun::of, Rows.hash(key), lowest).stream()
                                    .flatMap(Optional::stream)
                                    .sorted(BranchRun.NEWEST_FIRST)
                                    .toList();
                    BranchRun.checkBranch(runs, lowest);
                    return sequences.stream()
                            .filter(sequence -> runs.stream().anyMatch(run -> run.has(sequence)))
                            .collect(Collectors.toUnmodifiableSet());
                });
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        byte[] hash = Rows.hash(key);
        int limit = query.limit() + 1;
        Session.Mapper<LoggedMessage> message = row -> Rows.message(key, codec, row);
        List<LoggedMessage> found = connections.single(
                "history of memory " + key,
                session -> query.forward()
                        ? session.list(Sql.HISTORY_FORWARD, message, query.sequence(), hash, limit)
                        : session.list(Sql.HISTORY_BACK, message, hash, query.sequence(), limit));
        if (!query.forward()) {
            Collections.reverse(found);
        }
        return HistoryPage.of(query, found);
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        byte[] hash = Rows.hash(key);
        return connections.single("branches of memory " + key, session -> {
            Map<String, List<String>> names = new HashMap<>();
            session.list(
                    Sql.REFERENCES,
                    row -> names.computeIfAbsent(Rows.text(row, "id"), id -> new ArrayList<>())
                            .add(Rows.text(row, "name")),
                    hash,
                    hash);
            List<Leaf> leaves = session.list(dialect.sql().leaves(), Leaf::of, hash);
            // Afterwards, so that the runs of all leaves are known. Runs that began since only add forks.
            Map<Long, String> ids = new HashMap<>();
            List<Forks.Run> runs = leaves.isEmpty()
                    ? List.of()
                    : session.list(
                            Sql.RUNS,
                            row -> {
                                Long parent = Rows.nullableNumber(row, "parent_seq");
                                String beside = Rows.nullableText(row, "beside");
                                long start = Rows.number(row, "seq");
                                ids.put(start, Rows.text(row, "id"));
                                if (parent != null && beside != null) {
                                    ids.put(parent + 1, beside);
                                }
                                return new Forks.Run(start, parent == null ? 0 : parent, beside != null);
                            },
                            hash,
                            hash);
            Forks forks = Forks.of(runs);
            return leaves.stream()
                    .map(leaf -> new Branch(
                            leaf.id(),
                            ids.getOrDefault(forks.first(leaf.seq()), leaf.id()),
                            leaf.depth(),
                            leaf.createdAt(),
                            leaf.current(),
                            names.getOrDefault(leaf.id(), List.of())))
                    .toList();
        });
    }

    /** The newest message of a branch. */
    private record Leaf(long seq, String id, long depth, Instant createdAt, boolean current) {
        static Leaf of(ResultSet row) throws SQLException {
            return new Leaf(
                    Rows.number(row, "seq"),
                    Rows.text(row, "id"),
                    Rows.number(row, "depth"),
                    Rows.time(Rows.number(row, "created_at")),
                    row.getBoolean("current"));
        }
    }

    /**
     * Locks a memory, and returns a message of it. Throws for a memory without a row to lock, even if another writer
     * creates the row.
     */
    private Node locked(Session session, MemoryKey key, @Nullable Long epoch, String field, String messageId)
            throws SQLException {
        byte[] hash = Rows.hash(key);
        Memory memory = Memory.lock(session, dialect, hash);
        AppendRules.checkEpoch(key, epoch, memory.epoch());
        if (memory.equals(Memory.NONE)) {
            throw UnknownMessageException.notThere(key, field, messageId);
        }
        return Node.existing(session, key, hash, field, messageId);
    }

    @Override
    public <R> R change(MemoryKey key, Change<R> change) {
        return change.by(new Kinds(key, Rows.hash(key)));
    }

    /** The changes of one memory. */
    private final class Kinds implements Change.Kinds {

        private final MemoryKey key;
        private final byte[] hash;

        Kinds(MemoryKey key, byte[] hash) {
            this.key = key;
            this.hash = hash;
        }

        @Override
        public String moveHead(Change.MoveHead change) {
            return connections.write("move of the head of memory " + key, session -> {
                Memory memory = Memory.lock(session, dialect, hash);
                AppendRules.checkEpoch(key, change.epoch(), memory.epoch());
                Node target = Node.existing(session, key, hash, "messageId", change.messageId());
                requireHead(session.update(dialect.sql().moveHead(), target.seq(), hash, memory.epoch()));
                dialect.recount(session, hash);
                return memory.headId() == null ? change.messageId() : memory.headId();
            });
        }

        @Override
        public void moveBranch(Change.MoveBranch change) {
            connections.write("move of a branch of memory " + key, session -> {
                Node target = locked(session, key, change.epoch(), "messageId", change.messageId());
                return session.update(Sql.PUT_REFERENCE, hash, change.name(), target.seq(), target.id());
            });
        }

        @Override
        public void setOutcome(Change.SetOutcome change) {
            dialect.setOutcome(connections, key, change.messageId(), change.outcome(), change.epoch());
        }

        @Override
        public Map<String, String> describe(Change.Describe change) {
            ListedMetadata names = change.metadata() == null ? ListedMetadata.NONE : lists.names();
            List<Long> ofTenant = List.of(Lists.ofTenant(key.tenant()));
            if (!change.merge()) {
                return connections.write("description of memory " + key, session -> {
                    // First, because it locks the row until the transaction ends.
                    Memory.create(session, dialect, key, hash, Memory.NO_METADATA, ofTenant, now());
                    Map<String, String> after = change.after(Map.of());
                    // A statement for only the title would have the same types as the one for the metadata.
                    String json = change.metadata() == null
                            ? session.first(Sql.METADATA, row -> row.getString("metadata"), hash)
                            : codec.encodeStrings(after);
                    session.update(Sql.DESCRIBE, change.title(), json, hash);
                    if (!names.names().isEmpty()) {
                        lists.set(session, key, hash, names);
                    }
                    return after;
                });
            }
            String what = "metadata of memory " + key;
            Map<String, String> known = connections.single(what, session -> metadata(session, key, hash));
            if (change.after(known).equals(known)) {
                return known;
            }
            return connections.write(what, session -> {
                Memory.create(session, dialect, key, hash, Memory.NO_METADATA, ofTenant, now());
                Map<String, String> after = change.after(metadata(session, key, hash));
                session.update(Sql.SET_METADATA, codec.encodeStrings(after), hash);
                if (!names.names().isEmpty()) {
                    lists.set(session, key, hash, names);
                }
                return after;
            });
        }

        @Override
        public void putSummary(Change.PutSummary change) {
            Summary summary = change.summary();
            String text = codec.encodeText(summary.text());
            connections.write("summary of memory " + key, session -> {
                Node covered = locked(session, key, change.epoch(), "coversUpTo", summary.coversUpTo());
                boolean isCopied = summary.version() > 0;
                int added = session.update(
                        Sql.PUT_SUMMARY,
                        hash,
                        covered.seq(),
                        summary.coversUpTo(),
                        text,
                        summary.tokens(),
                        summary.tokenCounter(),
                        summary.replacedMessages(),
                        summary.replacedTokens(),
                        summary.model(),
                        Rows.micros(summary.createdAt()),
                        isCopied ? summary.version() : Long.MAX_VALUE);
                if (added == 0 && isCopied) {
                    return 0;
                }
                dialect.recount(session, hash);
                return requireHead(added);
            });
        }
    }

    private Map<String, String> metadata(Session session, MemoryKey key, byte[] hash) throws SQLException {
        String json = session.first(Sql.METADATA, row -> row.getString("metadata"), hash);
        try {
            return json == null ? Map.of() : Map.copyOf(codec.decodeStrings(json));
        } catch (UnreadableDataException e) {
            throw new UnreadableDataException("Memory " + key + ": its metadata cannot be read", e);
        }
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        Ids.check("tenant", tenant);
        ListCursor behind = ListCursor.of(query);
        ListQuery.Days days = query.usage();
        long list = lists.of(tenant, query);
        return connections.single("list of tenant " + MemoryKey.encode(tenant), session -> {
            // A memory has a row for each day with usage. A row of the list may have no memory.
            Map<ListCursor, Optional<MemoryInfo>> found = new LinkedHashMap<>();
            List<DailyUsage> usage = new ArrayList<>();
            int rows = session.list(
                            days == null ? dialect.sql().list() : dialect.sql().usage(),
                            row -> {
                                Optional<MemoryInfo> info = Rows.nullableText(row, "tenant") == null
                                        ? Optional.empty()
                                        : Optional.of(info(row)).filter(query::matches);
                                if (days != null && info.isPresent()) {
                                    usage.add(usage(info.get().key(), row));
                                }
                                return found.put(ListCursor.of(row), info);
                            },
                            tenant,
                            list,
                            behind.place(),
                            behind.number(),
                            behind.tie(),
                            query.limit() + 1,
                            days == null ? null : days.from().toEpochDay(),
                            days == null ? null : days.toExclusive().toEpochDay())
                    .size();
            return page(query, found, usage, days == null && rows > query.limit());
        });
    }

    private static MemoryPage page(
            ListQuery query, Map<ListCursor, Optional<MemoryInfo>> found, List<DailyUsage> usage, boolean isFull) {
        List<Map.Entry<ListCursor, Optional<MemoryInfo>>> page =
                found.entrySet().stream().limit(query.limit()).toList();
        List<MemoryInfo> infos = query.ordered(
                page.stream().flatMap(entry -> entry.getValue().stream()).toList());
        if (page.size() == found.size() && !isFull) {
            return new MemoryPage(infos, List.of(), usage, Optional.empty());
        }
        Set<MemoryKey> keys = infos.stream().map(MemoryInfo::key).collect(Collectors.toSet());
        usage.removeIf(used -> !keys.contains(used.key()));
        ListCursor last = page.get(page.size() - 1).getKey();
        return new MemoryPage(infos, List.of(), usage, Optional.of(query.startingAt(last.text(query.activeFirst()))));
    }

    private static DailyUsage usage(MemoryKey key, ResultSet row) throws SQLException {
        return new DailyUsage(
                key,
                LocalDate.ofEpochDay(Rows.number(row, "day")),
                new Usage(
                        Rows.number(row, "input_tokens"),
                        Rows.number(row, "output_tokens"),
                        Rows.number(row, "cached_tokens")));
    }

    private MemoryInfo info(ResultSet row) throws SQLException {
        Long last = Rows.nullableNumber(row, "last_message_at");
        return new MemoryInfo(
                Memory.key(row),
                Rows.nullableText(row, "title"),
                metadata(Rows.nullableText(row, "metadata")),
                Rows.number(row, "last_seq"),
                Rows.number(row, "tokens"),
                Rows.time(Rows.number(row, "created_at")),
                last == null ? null : Rows.time(last),
                Rows.time(Rows.number(row, "stored_at")));
    }

    @Override
    public MemoryDetails details(MemoryKey key, Set<MemoryDetails.Part> parts) {
        byte[] hash = Rows.hash(key);
        return connections.single("details of memory " + key, session -> {
            boolean withInfo = parts.contains(MemoryDetails.Part.INFO);
            MemoryInfo info = withInfo ? session.first(Sql.INFO, this::info, hash) : null;
            if (withInfo && info == null) {
                return MemoryDetails.NONE;
            }
            return new MemoryDetails(
                    info,
                    parts.contains(MemoryDetails.Part.BRANCHES) ? branchEnds(session, hash) : Map.of(),
                    parts.contains(MemoryDetails.Part.VIEWS) ? views(session, key, hash) : List.of(),
                    parts.contains(MemoryDetails.Part.SUMMARIES)
                            ? session.list(Sql.SUMMARIES, row -> Rows.summary(codec, row), hash, hash)
                            : List.of());
        });
    }

    private static Map<String, String> branchEnds(Session session, byte[] hash) throws SQLException {
        Map<String, String> ends = new HashMap<>();
        session.list(
                Sql.REFERENCES,
                row -> ends.put(Rows.text(row, "name"), Reference.of(row).id()),
                hash,
                hash);
        return ends;
    }

    private static List<View> views(Session session, MemoryKey key, byte[] hash) throws SQLException {
        return session.list(
                Sql.CHECK_VIEWS,
                row -> Rows.view(
                        key, Rows.text(row, "view"), Rows.nullableText(row, "anchor"), Rows.number(row, "anchor_seq")),
                hash,
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                Integer.MAX_VALUE);
    }

    @Override
    public List<NodeKey> nodes(ConversationKey conversation) {
        return connections.single(
                "list of the nodes of memory " + conversation,
                session -> session.list(
                        Sql.NODES,
                        row -> (NodeKey) Memory.key(row),
                        conversation.tenant(),
                        conversation.conversationId()));
    }

    /** A memory whose metadata cannot be read is listed without them, so that it does not hide the others. */
    private Map<String, String> metadata(@Nullable String json) {
        try {
            return json == null ? Map.of() : codec.decodeStrings(json);
        } catch (UnreadableDataException e) {
            return Map.of();
        }
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        byte[] hash = Rows.hash(key);
        return connections.write("lease " + name + " of memory " + key, session -> {
            Instant now = clock.instant();
            // Refuses a duration that no clock can end.
            InputRules.leaseEnd(now, duration);
            long micros = duration.getSeconds() * 1_000_000 + duration.getNano() / 1_000;
            return Optional.ofNullable(session.first(
                    dialect.sql().takeLease(),
                    row -> new Lease(name, owner, Rows.time(row.getLong("expires_at"))),
                    hash,
                    name,
                    owner,
                    micros,
                    Rows.micros(InputRules.time("clock", now))));
        });
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        byte[] hash = Rows.hash(key);
        connections.write(
                "release of lease " + name + " of memory " + key,
                session -> session.update(Sql.RELEASE_LEASE, hash, name, owner));
    }

    @Override
    public long erase(MemoryKey key) {
        byte[] hash = Rows.hash(key);
        return connections.erase("erasure of memory " + key, session -> dialect.erase(session, hash));
    }

    @Override
    public boolean eraseIfIdle(MemoryKey key, Instant since) {
        // Throws if it cannot be read: a memory that may be repaired is not erased.
        history(key, HistoryQuery.newest(1));
        byte[] hash = Rows.hash(key);
        return connections.erase("erasure of memory " + key, session -> {
            // Locks the memory's row until the transaction ends, so that no append can happen between the check and the
            // erasure.
            dialect.locked(session, hash);
            MemoryInfo info = session.first(Sql.INFO, this::info, hash);
            boolean isIdle = info != null && info.lastUse().isBefore(since);
            if (isIdle) {
                dialect.erase(session, hash);
            }
            return isIdle;
        });
    }

    @Override
    public void close() {
        connections.close();
    }

    @Override
    public List<Damage> check(MemoryKey key) {
        return checker(key).check();
    }

    @Override
    public Repair repair(MemoryKey key) {
        return checker(key).repair(now());
    }

    private Checker checker(MemoryKey key) {
        return new Checker(connections, dialect, codec, lists, key);
    }

    /** Reports a missing head: a statement that must change one row changed none. */
    private static int requireHead(int changed) {
        if (changed == 0) {
            throw new DamagedException("the head is missing");
        }
        return changed;
    }

    private long now() {
        return Rows.micros(InputRules.time("clock", clock.instant()));
    }

    /**
     * Configures a log on PostgreSQL: {@link #dataSource} or {@link #url} is required. Not thread-safe.
     *
     * <pre>{@code
     * JdbcMessageLog log = JdbcMessageLog.builder()
     *         .url("jdbc:postgresql://localhost/chat", "chat", password)
     *         .schema(SchemaMode.ALWAYS)
     *         .build();
     * }</pre>
     */
    public static final class Builder extends PostgresBuilder<Builder> {

        private boolean distributed;
        private ListedMetadata listed = ListedMetadata.NONE;
        private Clock clock = Clock.systemUTC();

        Builder() {}

        @Override
        protected Builder self() {
            return this;
        }

        /**
         * Declares the metadata names by which {@link ListQuery#withMetadata} lists memories. Default: none. A minute's
         * first append to a memory moves it on the lists of these metadata too. The database keeps the names. The first query
         * by a name that is new to the database puts all memories on its lists. Processes that
         * started before that do not list by that name, so stop them first.
         *
         * @param names up to three names, such as {@code user}
         * @return this builder
         * @throws InvalidInputException if there are too many names, or one is no id
         */
        public Builder listedMetadata(String... names) {
            this.listed = ListedMetadata.of(names);
            return this;
        }

        /** Treats the tables as distributed, for tests on a database without Citus. */
        Builder distributed() {
            this.distributed = true;
            return this;
        }

        /**
         * Sets the clock for the times of messages. Default: the system's clock.
         *
         * @param source the clock
         * @return this builder
         */
        public Builder clock(Clock source) {
            this.clock = InvalidInputException.given("clock", source);
            return this;
        }

        /**
         * Creates the log. Nothing is connected before the first use.
         *
         * @return a new one
         * @throws InvalidInputException if not exactly one of data source and URL is given
         */
        public JdbcMessageLog build() {
            Preparation preparation = new Preparation(Prepared::is);
            PostgresDialect dialect = new PostgresDialect(preparation, distributed);
            return new JdbcMessageLog(
                    Connections.postgresql(settings(), Schema.LOG, preparation, dialect::look), dialect, listed, clock);
        }
    }
}
