package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.jdbc.PostgresBuilder;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.Matches;
import io.github.keepsake4j.recall.Matches.Share;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.Posting;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.jdbc.IndexDialect.Block;
import io.github.keepsake4j.recall.jdbc.IndexDialect.PostingRow;
import io.github.keepsake4j.recall.jdbc.IndexDialect.Segment;
import io.github.keepsake4j.recall.vectors.QueryVector;
import io.github.keepsake4j.recall.vectors.VectorRow;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.KeyColumns;
import io.github.keepsake4j.sql.Session;
import io.github.keepsake4j.sql.SqlSchema;
import io.github.keepsake4j.sql.SqliteMode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Keeps an index in SQLite or PostgreSQL.
 *
 * <p><b>SQLite</b>: a file of its own, not the log's, because SQLite has one writer. Several processes on one machine may
 * share it. Needs {@code org.xerial:sqlite-jdbc}. A commit is not synced. After a power failure, the last additions may
 * be missing; they are added again.
 *
 * <p><b>PostgreSQL</b> 14 and newer, in the database of the log or in another one. Needs
 * {@code org.postgresql:postgresql}. Nothing is prepared on the server, so any transaction pooler works.
 */
public final class JdbcMessageIndex implements MessageIndex {

    private static final SqlSchema SCHEMA = new SqlSchema(
            "index",
            "index/",
            "keepsake_index_schema",
            SqlSchema.BESIDE_LOGS,
            "call clear() on the index to start a new file; it is rebuilt from the log",
            new SqlSchema.Foreign(
                    "keepsake_schema",
                    "is the file of a log; an index needs its own file, because SQLite has one writer: choose another path"),
            List.of(new SqlSchema.Script("V1__keepsake_index.sql", 3)));

    private static final List<String> TABLES = List.of(
            "keepsake_index_posting",
            "keepsake_index_term",
            "keepsake_index_vector",
            "keepsake_index_vector_mark",
            "keepsake_index_memory",
            "keepsake_index_tenant");

    /** The number of sequences of the smallest segment. */
    private static final int SEGMENT = 1_024;

    /** How many segments become one. */
    private static final int JOINED = 16;

    /** The sequences after which segments are joined, from the smallest. */
    private static final int[] SEALS = {SEGMENT * JOINED, Posting.BLOCK};

    private final Connections connections;
    private final IndexDialect dialect;

    /** The fingerprint of the words that make the added terms, once it is known. */
    private volatile @Nullable String words;

    JdbcMessageIndex(Connections connections, IndexDialect dialect) {
        this.connections = connections;
        this.dialect = dialect;
    }

    /**
     * Keeps an index in a SQLite file. The file and its tables are created on first use; its directory must exist.
     *
     * @param file the file, not that of a log
     * @return the index, to be closed at the end
     */
    public static JdbcMessageIndex sqlite(Path file) {
        return new JdbcMessageIndex(Connections.sqlite(file, SqliteMode.INDEX, SCHEMA), new SqliteIndexDialect());
    }

    /**
     * Keeps an index in PostgreSQL. The tables must exist; see {@link #builder()} for an index that creates them.
     * Nothing is connected before the first use.
     *
     * @param dataSource provides connections, preferably from a pool; the caller closes it
     * @return the index
     */
    public static JdbcMessageIndex postgres(DataSource dataSource) {
        return builder().dataSource(dataSource).build();
    }

    /**
     * Starts the configuration of an index in PostgreSQL.
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

    @Override
    public void open(String fingerprint) {
        InvalidInputException.given("fingerprint", fingerprint);
        String known = connections.single("opening of the index", JdbcMessageIndex::fingerprint);
        if (!fingerprint.equals(known)) {
            connections.write("opening of the index", session -> requireWords(session, fingerprint));
        }
        words = fingerprint;
    }

    private static boolean requireWords(Session session, String fingerprint) throws SQLException {
        session.update(IndexSql.PUT_FINGERPRINT, fingerprint);
        MessageIndex.checkWords(fingerprint(session), fingerprint);
        return true;
    }

    private static String fingerprint(Session session) throws SQLException {
        String known = session.first(IndexSql.FINGERPRINT, row -> row.getString(1));
        return known == null ? "" : known;
    }

    @Override
    public Map<MemoryKey, Watermark> watermarks(Collection<? extends MemoryKey> keys) {
        if (keys.isEmpty()) {
            return Map.of();
        }
        List<byte[]> hashes = hashes(keys);
        return connections.single("watermarks", session -> dialect.memories(session, hashes)).stream()
                .collect(Collectors.toMap(MemoryRow::key, MemoryRow::watermark));
    }

    private static List<byte[]> hashes(Collection<? extends MemoryKey> keys) {
        return keys.stream().map(KeyColumns::hash).toList();
    }

    @Override
    public boolean add(MemoryKey key, @Nullable Watermark before, Watermark after, List<IndexedMessage> messages) {
        after.checkBehind(before);
        Additions additions = Additions.of(messages);
        return connections.write("indexing of memory " + key, session -> {
            String ours = words;
            if (ours != null) {
                // Another process may have cleared the index and opened it with its own words.
                requireWords(session, ours);
            }
            long tenant = lockTenant(session, key.tenant(), true);
            MemoryRow known = session.first(IndexSql.MEMORY, MemoryRow::of, (Object) KeyColumns.hash(key));
            if (!Objects.equals(before, known == null ? null : known.watermark())) {
                return false;
            }
            long memory = known == null ? newMemory(session, tenant, key, after) : known.number();
            session.update(IndexSql.MOVE_WATERMARK, after.sequence(), additions.messages(), additions.length(), memory);
            session.update(IndexSql.COUNT_IN_TENANT, additions.messages(), additions.length(), tenant);
            dialect.addTerms(session, tenant, additions.terms());
            dialect.addPostings(session, tenant, memory, additions.segments());
            join(session, memory, before == null ? 0 : before.sequence(), after.sequence());
            return true;
        });
    }

    /** Returns a tenant's number, or 0 if it has none and none is to be created. */
    private long lockTenant(Session session, String tenant, boolean make) throws SQLException {
        while (true) {
            Long number = session.first(dialect.lockTenant(), row -> row.getLong(1), tenant);
            if (number != null || !make) {
                return number == null ? 0 : number;
            }
            session.update(IndexSql.NEW_TENANT, tenant);
        }
    }

    private static long newMemory(Session session, long tenant, MemoryKey key, Watermark watermark)
            throws SQLException {
        KeyColumns columns = KeyColumns.of(key);
        return Objects.requireNonNull(session.first(
                IndexSql.NEW_MEMORY,
                row -> row.getLong(1),
                (int) tenant,
                KeyColumns.hash(key),
                columns.app(),
                columns.conversation(),
                columns.node(),
                watermark.epoch(),
                0L,
                0L,
                0L));
    }

    /** Joins the memory's completed segments, so that the stored rows depend only on the watermark. */
    private void join(Session session, long memory, long before, long after) throws SQLException {
        for (int seal : SEALS) {
            for (long end = (before + 1) / seal + 1; end <= (after + 1) / seal; end++) {
                int first = Math.toIntExact((end - 1) * seal / SEGMENT);
                int behind = Math.toIntExact(end * seal / SEGMENT);
                session.update(dialect.joinSegments(), first, (int) memory, first, behind);
                session.update(IndexSql.DELETE_JOINED, (int) memory, first, behind);
            }
        }
    }

    @Override
    public void remove(MemoryKey key) {
        connections.erase("removal of memory " + key + " from the index", session -> {
            long tenant = lockTenant(session, key.tenant(), false);
            MemoryRow known = session.first(IndexSql.MEMORY, MemoryRow::of, (Object) KeyColumns.hash(key));
            if (known == null) {
                return false;
            }
            int memory = Math.toIntExact(known.number());
            session.update(IndexSql.SUBTRACT_TERMS, memory, (int) tenant);
            session.update(IndexSql.DELETE_UNUSED_TERMS, (int) tenant, memory);
            session.update(IndexSql.DELETE_POSTINGS, memory);
            VectorTables.remove(session, memory);
            session.update(IndexSql.DELETE_MEMORY, memory);
            session.update(IndexSql.COUNT_IN_TENANT, -known.messages(), -known.length(), tenant);
            session.update(IndexSql.DELETE_EMPTY_TENANT, (int) tenant, (int) tenant);
            return true;
        });
    }

    @Override
    public void clear() {
        connections.clear("clearing of the index", session -> {
            for (String statement : IndexSql.CLEAR) {
                session.update(statement);
            }
            return true;
        });
    }

    @Override
    public void compact() {
        connections.compact(TABLES);
    }

    @Override
    public List<String> tenants() {
        return connections.single(
                "tenants of the index", session -> session.list(IndexSql.TENANTS, row -> row.getString(1)));
    }

    @Override
    public Map<Long, MemoryKey> memories(String tenant, long after, int limit) {
        return connections.single("memories of the index", session -> {
            Long number = session.first(IndexSql.TENANT, row -> row.getLong(1), tenant);
            return number == null
                    ? Map.of()
                    : keys(session.list(
                            IndexSql.MEMORIES_OF_TENANT, MemoryRow::of, number.intValue(), (int) after, limit));
        });
    }

    @Override
    public Map<Long, MemoryKey> keys(Collection<Long> numbers) {
        return numbers.isEmpty()
                ? Map.of()
                : connections.single(
                        "memories of the index", session -> keys(dialect.memoriesByNumber(session, numbers)));
    }

    private static Map<Long, MemoryKey> keys(List<MemoryRow> rows) {
        Map<Long, MemoryKey> keys = new LinkedHashMap<>();
        rows.forEach(row -> keys.put(row.number(), row.key()));
        return keys;
    }

    @Override
    public Matches match(Scope scope, Collection<String> terms, int maxPostings) {
        InvalidInputException.checkRange("terms", 0, MAX_TERMS, terms.size());
        InvalidInputException.checkAtLeast("maxPostings", 1, maxPostings);
        List<byte[]> hashes = scope.memories() == null ? null : hashes(scope.memories());
        return connections.snapshot("search in tenant " + MemoryKey.encode(scope.tenant()), session -> {
            InScope in = inScope(session, scope.tenant(), hashes);
            if (in == null) {
                return Matches.NONE;
            }
            Set<String> distinct = Set.copyOf(terms);
            Map<String, Long> frequencies = dialect.frequencies(session, in.tenant(), in.asked(), distinct);
            List<Share> shares = Matches.choose(frequencies, maxPostings);
            List<PostingRow> rows = shares.isEmpty()
                    ? List.of()
                    : dialect.postings(session, in.tenant(), in.asked(), shares, maxPostings);
            return new Matches(in.messages(), in.length(), frequencies, postings(shares, in.only(rows)));
        });
    }

    /**
     * The data of a scope in the index.
     *
     * @param memories the numbers of the memories, or null for all of the tenant
     * @param inTenant the number of messages of the tenant
     */
    private record InScope(long tenant, long messages, long length, @Nullable Set<Long> memories, long inTenant) {

        /**
         * Returns the memories to name in a query. If they are all memories of the tenant, it is much faster not to
         * name them.
         */
        @Nullable
        Set<Long> asked() {
            return messages == inTenant ? null : memories;
        }

        /** Never returns data of a memory that is not named, even if the counts are wrong. */
        List<PostingRow> only(List<PostingRow> rows) {
            return rows.stream()
                    .filter(row -> memories == null || memories.contains(row.memory()))
                    .toList();
        }
    }

    /** Returns null if there is nothing in scope. */
    private @Nullable InScope inScope(Session session, String tenant, @Nullable List<byte[]> hashes)
            throws SQLException {
        List<MemoryRow.Size> rows = hashes == null
                ? session.list(IndexSql.TENANT, MemoryRow.Size::of, tenant)
                : dialect.sizes(session, hashes);
        return rows.isEmpty()
                ? null
                : new InScope(
                        rows.get(0).tenant(),
                        rows.stream().mapToLong(MemoryRow.Size::messages).sum(),
                        rows.stream().mapToLong(MemoryRow.Size::length).sum(),
                        hashes == null
                                ? null
                                : rows.stream().map(MemoryRow.Size::number).collect(Collectors.toSet()),
                        rows.get(0).inTenant());
    }

    private static Map<String, List<Posting>> postings(List<Share> shares, List<PostingRow> rows) {
        Map<String, Share> byTerm = new HashMap<>();
        Map<String, List<Posting>> postings = new LinkedHashMap<>();
        for (Share share : shares) {
            byTerm.put(share.term(), share);
            postings.put(share.term(), new ArrayList<>());
        }
        for (int from = 0, to; from < rows.size(); from = to) {
            PostingRow first = rows.get(from);
            long ofMemory = 0;
            for (to = from; to < rows.size() && isOf(first, rows.get(to)); to++) {
                ofMemory += rows.get(to).messages();
            }
            int left = Objects.requireNonNull(byTerm.get(first.term())).of(ofMemory);
            List<Posting> list = Objects.requireNonNull(postings.get(first.term()));
            for (PostingRow row : rows.subList(from, to)) {
                left = decode(row, left, list);
            }
        }
        return postings;
    }

    private static boolean isOf(PostingRow first, PostingRow row) {
        return row.memory() == first.memory() && row.term().equals(first.term());
    }

    private static int decode(PostingRow row, int most, List<Posting> list) {
        long block = (long) row.segment() * SEGMENT / Posting.BLOCK * Posting.BLOCK;
        ByteBuffer stored = ByteBuffer.wrap(row.postings());
        int left = most;
        while (left > 0 && stored.remaining() >= Integer.BYTES) {
            list.add(Posting.decode(row.memory(), block, stored.getInt()));
            left--;
        }
        return left;
    }

    @Override
    public Map<MemoryKey, VectorMark> vectorMarks(String model, Collection<? extends MemoryKey> keys) {
        if (keys.isEmpty()) {
            return Map.of();
        }
        List<byte[]> hashes = hashes(keys);
        return connections.single("marks of vectors", session -> dialect.vectorMarks(session, model, hashes)).stream()
                .collect(Collectors.toMap(row -> row.key().key(), VectorMarkRow::mark));
    }

    @Override
    public boolean addVectors(
            String model, MemoryKey key, @Nullable VectorMark before, VectorMark after, List<MessageVector> added) {
        List<VectorRow> rows = VectorRow.of(before, after, added);
        if (before != null) {
            VectorTables.Moved moved = connections.write(
                    "vectors of memory " + key, session -> VectorTables.add(session, model, key, before, after, rows));
            if (moved.outdated()) {
                connections.write("unused vectors of memory " + key, session -> {
                    lockTenant(session, key.tenant(), false);
                    VectorTables.use(session, moved.memory(), moved.model());
                    return true;
                });
            }
            return moved.memory() > 0;
        }
        return connections.write("first vectors of memory " + key, session -> {
            lockTenant(session, key.tenant(), false);
            MemoryRow known = session.first(IndexSql.MEMORY, MemoryRow::of, (Object) KeyColumns.hash(key));
            return known != null
                    && known.watermark().epoch() == after.epoch()
                    && VectorTables.addFirst(session, model, Math.toIntExact(known.number()), after, rows);
        });
    }

    @Override
    public void cosines(
            String model,
            Scope scope,
            float[] query,
            int most,
            Map<MemoryKey, ? extends Collection<Long>> others,
            CosineReader reader) {
        InvalidInputException.checkAtLeast("most", 1, most);
        List<byte[]> hashes = scope.memories() == null ? null : hashes(scope.memories());
        List<Block> blocks = others.entrySet().stream()
                .flatMap(places -> {
                    byte[] hash = KeyColumns.hash(places.getKey());
                    return places.getValue().stream()
                            .map(sequence -> sequence / VectorRow.BLOCK)
                            .distinct()
                            .map(number -> new Block(hash, number));
                })
                .toList();
        VectorTables.Reading reading = new VectorTables.Reading(QueryVector.of(query), reader);
        connections.snapshot("cosines in tenant " + MemoryKey.encode(scope.tenant()), session -> {
            dialect.vectors(session, model, scope.tenant(), hashes, most, blocks, reading);
            return true;
        });
    }

    @Override
    public void close() {
        connections.close();
    }

    /** The additions of a batch of messages to the tables. */
    private record Additions(long messages, long length, Map<String, Integer> terms, List<Segment> segments) {

        static Additions of(List<IndexedMessage> messages) {
            long length = 0;
            Map<String, TreeMap<Integer, List<Integer>>> unsorted = new HashMap<>();
            for (int i = messages.size() - 1; i >= 0; i--) {
                IndexedMessage message = messages.get(i);
                length += message.length();
                int segment = Math.toIntExact(message.sequence() / SEGMENT);
                message.terms().forEach((term, count) -> unsorted.computeIfAbsent(term, t -> new TreeMap<>())
                        .computeIfAbsent(segment, s -> new ArrayList<>())
                        .add(Posting.encode(message, count)));
            }
            // The order of the tables' keys is the cheapest.
            Map<String, TreeMap<Integer, List<Integer>>> postings = new TreeMap<>(unsorted);
            Map<String, Integer> terms = new LinkedHashMap<>();
            List<Segment> segments = new ArrayList<>();
            postings.forEach((term, bySegment) -> bySegment.forEach((segment, list) -> {
                terms.merge(term, list.size(), Integer::sum);
                ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES * list.size());
                list.forEach(bytes::putInt);
                segments.add(new Segment(term, segment, list.size(), bytes.array()));
            }));
            return new Additions(messages.size(), length, terms, segments);
        }
    }

    /** Configures an index in PostgreSQL: {@link #dataSource} or {@link #url} is required. Not thread-safe. */
    public static final class Builder extends PostgresBuilder<Builder> {

        Builder() {}

        @Override
        protected Builder self() {
            return this;
        }

        /**
         * Creates the index. Nothing is connected before the first use.
         *
         * @return a new one
         * @throws InvalidInputException if not exactly one of data source and URL is given
         */
        public JdbcMessageIndex build() {
            return new JdbcMessageIndex(
                    Connections.postgresql(settings(), SCHEMA, null, session -> {}), new PostgresIndexDialect());
        }
    }
}
