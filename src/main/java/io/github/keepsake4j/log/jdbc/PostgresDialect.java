package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.AppendRules;
import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.backend.NotesText;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Selection;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.Preparation;
import io.github.keepsake4j.sql.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** PostgreSQL: each statement is a round trip, so an append is one and a read is one. */
final class PostgresDialect implements Dialect {

    /** The number of tries of a call. A try fails only if another writer was first. */
    private static final int MAX_ROUNDS = 100;

    private static final String HAS_CITUS = "SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus'";

    private static final String IS_DISTRIBUTED =
            """
            SELECT 1 FROM pg_catalog.pg_dist_partition
            WHERE logicalrelid = 'keepsake_message'::pg_catalog.regclass AND partmethod = 'h'
            """;

    private final MessageCodec codec = new MessageCodec();
    private final Preparation preparation;
    private final RecentlyUsed<MemoryKey, KnownMemory> memories = new RecentlyUsed<>(KnownMemory.MOST);

    /** Whether the tables are distributed by Citus. Known after they were checked. */
    private volatile boolean distributed;

    /**
     * Creates the dialect.
     *
     * @param preparation receives the growth of the tables
     * @param distributed whether to treat the tables as distributed without asking the database
     */
    PostgresDialect(Preparation preparation, boolean distributed) {
        this.preparation = preparation;
        this.distributed = distributed;
    }

    /** Looks whether the tables are distributed. */
    void look(Session session) throws SQLException {
        distributed |=
                session.first(HAS_CITUS, row -> true) != null && session.first(IS_DISTRIBUTED, row -> true) != null;
    }

    @Override
    public OwnSql sql() {
        return PostgresSql.OWN;
    }

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    public Object array(List<Long> numbers) {
        return numbers.toArray(Long[]::new);
    }

    @Override
    public long erase(Session session, byte[] hash) throws SQLException {
        // First, because it takes the lock that appends wait for, also where there is no memory yet. Later statements
        // see
        // where the row is listed.
        Long before = session.first(
                PostgresSql.LOCK_OR_CREATE,
                row -> row.getLong("epoch"),
                hash,
                Memory.NONE.epoch(),
                Memory.NONE.revision(),
                Memory.NONE.lastSeq());
        session.update(PostgresListSql.TAKE_OFF_LISTS, before, hash);
        Long epoch = session.first(PostgresSql.BURY, row -> row.getLong("epoch"), hash, Memory.NONE.epoch() + 1);
        session.update(PostgresSql.ERASE, hash, epoch, hash, hash, hash, hash, hash, hash);
        return Objects.requireNonNull(epoch, "the tombstone's epoch");
    }

    @Override
    public Memory locked(Session session, byte[] hash) throws SQLException {
        if (session.first(PostgresSql.LOCK_MEMORY, Memory::of, hash) == null) {
            // Nothing was locked. A memory that another writer has created since is not locked either.
            return Memory.NONE;
        }
        // A new statement sees the changes that were committed while this one waited for the lock.
        return Memory.find(session, PostgresSql.MEMORY, hash).sound();
    }

    @Override
    public Long @Nullable [] runsBelow(Session session, byte[] hash, Node node) throws SQLException {
        return node.parentSeq() == null || node.runStart() != node.seq()
                ? null
                : session.first(
                        PostgresSql.RUNS_BELOW,
                        row -> (Long[]) row.getArray("runs").getArray(),
                        hash,
                        node.parentSeq());
    }

    @Override
    public void recount(Session session, byte[] hash) throws SQLException {
        Repeated counted = session.first(PostgresSql.BRANCH_OF_HEAD, Repeated::of, hash);
        if (counted != null) {
            session.update(PostgresSql.SET_BRANCH_OF_HEAD, hash, counted.view(), counted.covers());
        }
    }

    @Override
    public boolean hasRepeatedWell(Session session, byte[] hash) throws SQLException {
        Repeated counted = session.first(PostgresSql.BRANCH_OF_HEAD, Repeated::of, hash);
        return counted == null || counted.isSo();
    }

    /**
     * The data of the head's branch that the memory's row repeats, so that a read need not look for it, and whether the
     * row has the same.
     */
    private record Repeated(@Nullable Long view, @Nullable Long covers, boolean isSo) {

        static Repeated of(ResultSet row) throws SQLException {
            return new Repeated(
                    Rows.nullableNumber(row, "view_seq"),
                    Rows.nullableNumber(row, "covers_seq"),
                    row.getBoolean("is_so"));
        }
    }

    private KnownMemory known(MemoryKey key) {
        KnownMemory known = memories.get(key);
        if (known == null) {
            known = new KnownMemory(Rows.hash(key));
            memories.put(key, known);
        }
        return known;
    }

    /** In one statement, which is sent again if another writer was first. */
    @Override
    public void setOutcome(
            Connections connections, MemoryKey key, String messageId, @Nullable Outcome outcome, @Nullable Long epoch) {
        if (distributed || !setInOneStatement(connections, key, messageId, outcome, epoch)) {
            Dialect.super.setOutcome(connections, key, messageId, outcome, epoch);
        }
    }

    /** Returns false if the database reports that the tables are distributed. */
    private boolean setInOneStatement(
            Connections connections, MemoryKey key, String messageId, @Nullable Outcome outcome, @Nullable Long epoch) {
        byte[] hash = known(key).hash;
        String text = NotesText.of(outcome);
        return connections.single("outcome in memory " + key, session -> {
            if (distributed) {
                return false;
            }
            for (int round = 0; round < MAX_ROUNDS; round++) {
                Outcomes found = session.first(PostgresSql.SET_OUTCOME_OF, Outcomes::of, hash, epoch, messageId, text);
                if (found == null || found.changed()) {
                    return true;
                }
                AppendRules.checkEpoch(key, epoch, found.epoch() == null ? Memory.NONE.epoch() : found.epoch());
                if (!found.there()) {
                    throw UnknownMessageException.notThere(key, "messageId", messageId);
                }
                if (Objects.equals(found.outcome(), text)) {
                    return true;
                }
                // Without a sound row there is nothing that the statement could have changed.
                Memory.find(session, PostgresSql.MEMORY, hash).sound();
            }
            throw new StorageUnavailableException(
                    "outcome in memory " + key + ": other writers were first in each try. Retry the call", null);
        });
    }

    /** The result of setting an outcome, and the outcome before. */
    private record Outcomes(boolean changed, @Nullable Long epoch, boolean there, @Nullable String outcome) {

        static Outcomes of(ResultSet row) throws SQLException {
            return new Outcomes(
                    row.getLong("changed") > 0,
                    Rows.nullableNumber(row, "epoch"),
                    row.getBoolean("there"),
                    row.getString("outcome"));
        }
    }

    @Override
    public AppendResult append(
            Connections connections, MemoryKey key, Append append, List<String> texts, ListedMetadata names, long now) {
        KnownMemory known = known(key);
        Connections.Call what = new Connections.Call("append to memory", key);
        // Appends to a named branch are rare, so several statements are acceptable. The memory's row has the data only
        // for an append under the head.
        Optional<AppendResult> done = append.reference() != null
                ? Optional.empty()
                : inOneStatement(
                        connections,
                        what,
                        new PostgresAppend(
                                key, known, append, new PostgresAppend.Columns(append, texts, now), names, now, codec));
        AppendResult result = done.orElseGet(
                () -> connections.write(what, session -> new SteppedAppender(session, this, key, known.hash, codec)
                        .append(append, texts, names, now)));
        known.appended(append);
        preparation.added(texts.size());
        return result;
    }

    private Optional<AppendResult> inOneStatement(
            Connections connections, Connections.Call what, PostgresAppend statement) {
        return connections.single(
                what, session -> distributed ? statement.runDistributed(session) : Optional.of(statement.run(session)));
    }

    @Override
    public List<Found> find(Connections connections, MemoryKey key, Set<String> ids, boolean withMade) {
        return find(connections, key, PostgresSql.FIND, ids.toArray(String[]::new), withMade);
    }

    @Override
    public List<Found> findAt(Connections connections, MemoryKey key, SortedSet<Long> sequences, boolean withMade) {
        return find(connections, key, PostgresSql.FIND_AT, sequences.toArray(Long[]::new), withMade);
    }

    private List<Found> find(Connections connections, MemoryKey key, String sql, Object[] wanted, boolean withMade) {
        return connections.single(
                "look-up in memory " + key,
                session -> session.list(
                        withMade ? Sql.withMade(sql) : sql,
                        row -> Rows.found(key, codec, row, withMade),
                        known(key).hash,
                        wanted));
    }

    @Override
    public Optional<Map<MemoryKey, List<Found>>> findInSeveral(Connections connections, Selection selection) {
        return selection.sequences().isEmpty()
                ? inSeveral(connections, PostgresSql.FIND_IN_SEVERAL, selection.ids(), String[]::new, selection.made())
                : inSeveral(
                        connections,
                        PostgresSql.FIND_AT_IN_SEVERAL,
                        selection.sequences(),
                        Long[]::new,
                        selection.made());
    }

    /** If the tables are distributed, memories are on many shards, and one statement would go to all of them. */
    private <T> Optional<Map<MemoryKey, List<Found>>> inSeveral(
            Connections connections,
            String sql,
            Map<MemoryKey, Set<T>> asked,
            IntFunction<T[]> array,
            boolean withMade) {
        if (asked.size() < 2) {
            return Optional.empty();
        }
        List<MemoryKey> keys = new ArrayList<>();
        List<T> values = new ArrayList<>();
        asked.forEach((key, ofMemory) -> ofMemory.forEach(value -> {
            keys.add(key);
            values.add(value);
        }));
        return connections.single("look-up in " + asked.size() + " memories", session -> {
            if (distributed) {
                return Optional.empty();
            }
            Map<MemoryKey, List<Found>> found = new HashMap<>();
            asked.keySet().forEach(key -> found.put(key, new ArrayList<>()));
            session.list(
                    withMade ? Sql.withMade(sql) : sql,
                    row -> {
                        MemoryKey key = keys.get(row.getInt("place") - 1);
                        return found.computeIfAbsent(key, k -> new ArrayList<>())
                                .add(Rows.found(key, codec, row, withMade));
                    },
                    keys.stream().map(key -> known(key).hash).toArray(byte[][]::new),
                    values.stream().toArray(array));
            return Optional.of(found);
        });
    }

    @Override
    public Tail read(Connections connections, MemoryKey key, ReadQuery query) {
        KnownMemory known = known(key);
        PostgresRead read = new PostgresRead(key, known, known.reach, query, codec);
        return connections.single(new Connections.Call("read of memory", key), read::run);
    }
}
