package io.github.keepsake4j.memories.jdbc;

import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.memories.FactQuery;
import io.github.keepsake4j.memories.FactWords;
import io.github.keepsake4j.memories.FoundLongTermMemory;
import io.github.keepsake4j.memories.LongTermMemoryReader;
import io.github.keepsake4j.memories.LongTermMemoryWriter;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.MadeMemory.Status;
import io.github.keepsake4j.memories.Overview;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Progress;
import io.github.keepsake4j.memories.Progress.Step;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.store.MemoryJson;
import io.github.keepsake4j.memories.store.MemoryTrack;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.KeyColumns;
import io.github.keepsake4j.sql.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The memories of one discussion in tables, within a transaction. A writer locks the progress first. The rows on the
 * path to the head are shown; only these have words.
 */
final class SqlMemories implements LongTermMemoryWriter {

    private final Session session;
    private final boolean isSqlite;
    private final FactWords words;
    private final MemoryKey key;
    private final Object id;
    private final long least;

    /**
     * Creates the object.
     *
     * @param isSqlite whether the tables are those of SQLite, with {@code memories_fts}
     * @param least the revision if there is no progress yet
     */
    SqlMemories(Session session, boolean isSqlite, FactWords words, MemoryKey key, long least) {
        this.session = session;
        this.isSqlite = isSqlite;
        this.words = words;
        this.key = key;
        this.id = !isSqlite
                ? KeyColumns.hash(key)
                : key instanceof ConversationKey conversation ? conversation.conversationId() : key.canonical();
        this.least = least;
    }

    /** A row of the progress. */
    private record State(long revision, long head, String fingerprint) {

        static State of(ResultSet row) throws SQLException {
            return new State(row.getLong(1), row.getLong(2), string(row, 3));
        }
    }

    /** A row of a memory. */
    private record Row(long number, long step, boolean isShown, MadeMemory memory) {}

    private String text(MemorySql sql) {
        return sql.text(isSqlite);
    }

    private Row row(ResultSet row) throws SQLException {
        long number = row.getLong(1);
        return new Row(
                number,
                row.getLong(2),
                row.getInt(3) == 1,
                MemoryJson.memory("Memory " + number + " of discussion " + key, string(row, 4), string(row, 5)));
    }

    private static String string(ResultSet row, int column) throws SQLException {
        return Objects.requireNonNull(row.getString(column));
    }

    private <T> List<T> list(String sql, Session.Mapper<T> mapper, Object... parameters) {
        try {
            return session.list(sql, mapper, parameters);
        } catch (SQLException e) {
            throw new UncheckedSqlException(e);
        }
    }

    private <T> @Nullable T first(MemorySql sql, Session.Mapper<T> mapper, Object... parameters) {
        List<T> rows = list(text(sql), mapper, parameters);
        return rows.isEmpty() ? null : rows.get(0);
    }

    private List<Row> rows(MemorySql sql, Object... parameters) {
        return list(text(sql), this::row, parameters);
    }

    private @Nullable Row byId(String memory) {
        return first(MemorySql.BY_ID, this::row, id, memory);
    }

    private int update(String sql, @Nullable Object... parameters) {
        try {
            return session.update(sql, parameters);
        } catch (SQLException e) {
            throw new UncheckedSqlException(e);
        }
    }

    private void update(MemorySql sql, @Nullable Object... parameters) {
        update(text(sql), parameters);
    }

    @Override
    public Progress progress(MemoryKey any, MadeMemory.Kind kind) {
        State state = first(MemorySql.PROGRESS, State::of, id, kind.name());
        return progress(kind, state == null ? new State(least, 0, "") : state);
    }

    private Progress progress(MadeMemory.Kind kind, State state) {
        List<Step> steps = list(
                text(MemorySql.STEPS),
                row -> new Step(
                        row.getLong(1),
                        row.getLong(2),
                        new Passage(
                                MemoryJson.list("A passage of discussion " + key, string(row, 7)),
                                row.getInt(3),
                                string(row, 4),
                                string(row, 5),
                                string(row, 6)),
                        row.getInt(8)),
                id,
                kind.name());
        return new Progress(state.revision(), state.head(), steps);
    }

    /** Locks the progress, and creates it with a revision if there is none yet. */
    private State lock(MadeMemory.Kind kind) {
        update(MemorySql.NEW_PROGRESS, id, kind.name(), least, words.fingerprint());
        return Objects.requireNonNull(first(MemorySql.LOCK_PROGRESS, State::of, id, kind.name()));
    }

    private void put(MadeMemory.Kind kind, State before, long head, String fingerprint) {
        update(MemorySql.PUT_PROGRESS, before.revision() + 1, head, fingerprint, id, kind.name());
    }

    @Override
    public boolean add(MemoryKey any, MadeMemory.Kind kind, long revision, Passage passage, List<MadeMemory> memories) {
        State state = lock(kind);
        if (state.revision() != revision) {
            return false;
        }
        long step = 0;
        long head = state.head();
        if (!passage.equals(Passage.NONE)) {
            Progress before = progress(kind, state);
            Step next = before.next(passage);
            step = next.number();
            head = before.headAfter(next);
            put(kind, new Step(step, next.parent(), passage, 0), Instant.now().toString());
            if (head != step) {
                touch(kind, head);
            }
        }
        String fingerprint = words(kind, state);
        for (MadeMemory memory : memories) {
            insert(memory, step);
            if (memory.replaces() != null) {
                markReplaced(memory.replaces());
            }
        }
        put(kind, state, head, fingerprint);
        noteKey();
        return true;
    }

    /** Makes a step the last one that was processed. */
    private void touch(MadeMemory.Kind kind, long step) {
        update(MemorySql.TOUCH_STEP, Instant.now().toString(), id, kind.name(), step);
    }

    /** Writes a step. A step without a time never counts as the last one that was processed. */
    private void put(MadeMemory.Kind kind, Step step, String time) {
        Passage passage = step.passage();
        update(
                MemorySql.PUT_STEP,
                id,
                kind.name(),
                step.number(),
                step.parent(),
                passage.messageHash(),
                passage.after(),
                passage.upTo(),
                passage.messages(),
                MemoryJson.list(passage.messageIds()),
                step.failures(),
                time);
    }

    @Override
    public boolean addFailure(MemoryKey any, MadeMemory.Kind kind, long revision, Passage passage) {
        State state = lock(kind);
        if (state.revision() != revision) {
            return false;
        }
        put(kind, progress(kind, state).next(passage).failed(), "");
        put(kind, state, state.head(), state.fingerprint());
        noteKey();
        return true;
    }

    private void insert(MadeMemory memory, long step) {
        boolean isThere = first(MemorySql.BY_ID, row -> true, id, memory.id()) != null;
        MemoryTrack.checkNew(key, memory, isThere);
        long number = number(MemorySql.NEXT_NUMBER, id, memory.kind().name());
        boolean shown = memory.status() == Status.CURRENT;
        update(
                MemorySql.NEW_MEMORY,
                id,
                memory.kind().name(),
                number,
                memory.id(),
                memory.text(),
                memory.madeAt().toString(),
                MemoryJson.metadata(memory),
                step,
                shown ? 1 : 0,
                memory.trust().level(),
                memory.pinned() ? 1 : 0);
        if (shown) {
            addWords(number, memory);
        }
    }

    private long number(MemorySql sql, Object... parameters) {
        return Objects.requireNonNull(first(sql, row -> row.getLong(1), parameters));
    }

    private void markReplaced(String memory) {
        Row older = byId(memory);
        if (older != null && older.memory().status() == Status.CURRENT) {
            change(older, older.memory().withStatus(Status.REPLACED), older.isShown());
        }
    }

    /** Changes a memory, which is shown if it is current and on the path. */
    private void change(Row before, MadeMemory after, boolean isOnPath) {
        boolean shown = isOnPath && after.status() == Status.CURRENT;
        if (before.isShown()) {
            update(MemorySql.DELETE_WORDS, id, before.number());
            if (isSqlite) {
                update(MemorySql.DELETE_PLAIN, before.number());
            }
        }
        update(
                MemorySql.PUT_MEMORY,
                after.text(),
                MemoryJson.metadata(after),
                shown ? 1 : 0,
                after.trust().level(),
                after.pinned() ? 1 : 0,
                id,
                after.kind().name(),
                before.number());
        if (shown) {
            addWords(before.number(), after);
        }
    }

    private void addWords(long number, MadeMemory memory) {
        if (memory.kind() != MadeMemory.Kind.FACT) {
            return;
        }
        List<Object[]> rows = new ArrayList<>();
        words.weights(memory).forEach((term, weight) -> rows.add(new Object[] {id, term, number, weight}));
        try {
            session.updateAll(text(MemorySql.NEW_WORD), rows);
        } catch (SQLException e) {
            throw new UncheckedSqlException(e);
        }
        if (isSqlite) {
            update(
                    MemorySql.NEW_PLAIN,
                    number,
                    memory.title(),
                    memory.summary(),
                    String.join(" ", memory.entities()),
                    String.join(" ", memory.keyPhrases()),
                    memory.text());
        }
    }

    /** Rebuilds all words if they were made with other settings. Returns the fingerprint of the stored words. */
    private String words(MadeMemory.Kind kind, State state) {
        if (!state.fingerprint().equals(words.fingerprint())) {
            for (Row row : rows(MemorySql.MEMORIES, id, kind.name())) {
                if (row.isShown()) {
                    change(row, row.memory(), true);
                }
            }
        }
        return words.fingerprint();
    }

    @Override
    public boolean moveTo(MemoryKey any, MadeMemory.Kind kind, long revision, long step) {
        State state = lock(kind);
        if (state.revision() != revision) {
            return false;
        }
        Progress before = progress(kind, state);
        MemoryTrack.checkStep(key, before, step);
        List<Row> rows = rows(MemorySql.MEMORIES, id, kind.name());
        MemoryTrack after = new MemoryTrack(
                        before,
                        rows.stream()
                                .map(row -> new MemoryTrack.Entry(row.step(), row.memory()))
                                .toList())
                .moveTo(step);
        Set<Long> onPath = after.progress().onPath();
        for (int i = 0; i < rows.size(); i++) {
            Row row = rows.get(i);
            MadeMemory memory = after.entries().get(i).memory();
            boolean isOnPath = onPath.contains(row.step());
            boolean shown = isOnPath && memory.status() == Status.CURRENT;
            if (shown != row.isShown() || memory.status() != row.memory().status()) {
                change(row, memory, isOnPath);
            }
        }
        if (step != 0) {
            touch(kind, step);
        }
        put(kind, state, step, words(kind, state));
        return true;
    }

    @Override
    public boolean put(MemoryKey any, MadeMemory memory) {
        MadeMemory.Kind kind = memory.kind();
        State state = lock(kind);
        Row before = byId(memory.id());
        if (before == null || before.memory().kind() != kind) {
            return false;
        }
        change(before, memory, progress(kind, state).onPath().contains(before.step()));
        if (isSqlite) {
            update(MemorySql.OPTIMIZE);
        }
        put(kind, state, state.head(), words(kind, state));
        return true;
    }

    @Override
    public List<MadeMemory> shown(MemoryKey any, MadeMemory.Kind kind, int last) {
        List<MadeMemory> found = memories(rows(MemorySql.SHOWN, id, kind.name(), last));
        Collections.reverse(found);
        return found;
    }

    private static List<MadeMemory> memories(List<Row> rows) {
        return rows.stream().map(Row::memory).collect(Collectors.toList());
    }

    @Override
    public Overview overview(MemoryKey any, int last, Trust leastTrust) {
        int trust = leastTrust.level();
        List<Row> rows = list(
                MemorySql.OVERVIEW,
                this::row,
                id,
                trust,
                last,
                id,
                trust,
                last,
                id,
                trust,
                LongTermMemoryReader.MAX_PINNED,
                id,
                id,
                id);
        MadeMemory summary = null;
        Map<String, Row> byId = new LinkedHashMap<>();
        rows.stream()
                .sorted(Comparator.comparingLong(Row::number))
                .forEach(row -> byId.put(row.memory().id(), row));
        List<MadeMemory> memories = new ArrayList<>();
        Set<String> byHand = new HashSet<>();
        for (Row row : byId.values()) {
            if (row.memory().kind() == MadeMemory.Kind.SUMMARY) {
                summary = row.memory();
                continue;
            }
            memories.add(row.memory());
            if (row.step() == 0) {
                byHand.add(row.memory().id());
            }
        }
        return new Overview(summary, memories, byHand);
    }

    @Override
    public Optional<MadeMemory> find(MemoryKey any, String memory) {
        return Optional.ofNullable(byId(memory)).map(Row::memory);
    }

    @Override
    public List<FoundLongTermMemory> search(MemoryKey any, FactQuery query) {
        State state = first(MemorySql.PROGRESS, State::of, id, MadeMemory.Kind.FACT.name());
        Set<String> terms = words.terms(query);
        if (state == null || terms.isEmpty()) {
            return List.of();
        }
        if (!state.fingerprint().equals(words.fingerprint())) {
            // The words were made with other settings. The next change rebuilds them.
            return words.search(query, facts(key, Integer.MAX_VALUE));
        }
        int trust = query.leastTrust().level();
        long facts = number(MemorySql.COUNT_SHOWN, id, MadeMemory.Kind.FACT.name(), trust);
        List<FactWords.Posting> postings = list(
                text(MemorySql.WORDS),
                row -> new FactWords.Posting(string(row, 1), row.getLong(2), row.getDouble(3)),
                id,
                MemoryJson.list(terms),
                id,
                trust);
        List<FoundLongTermMemory> found = new ArrayList<>();
        for (FactWords.Score score : words.rank(query, facts, postings)) {
            if (found.size() == query.limit()) {
                break;
            }
            Row row = first(MemorySql.BY_NUMBER, this::row, id, MadeMemory.Kind.FACT.name(), score.fact());
            // A moment later it may be gone.
            if (row != null && row.isShown()) {
                found.add(new FoundLongTermMemory(row.memory(), score.score()));
            }
        }
        return List.copyOf(found);
    }

    @Override
    public List<MadeMemory> summaries(MemoryKey any) {
        return memories(rows(MemorySql.MEMORIES, id, MadeMemory.Kind.SUMMARY.name()));
    }

    @Override
    public @Nullable MadeMemory summary(MemoryKey any) {
        List<MadeMemory> versions = summaries(key);
        return versions.isEmpty() ? null : progress(key, MadeMemory.Kind.CHUNK).holding(versions);
    }

    @Override
    public boolean addSummary(MemoryKey any, int versions, long revision, MadeMemory summary) {
        State chunks = lock(MadeMemory.Kind.CHUNK);
        if (chunks.revision() != revision || summaries(key).size() != versions) {
            return false;
        }
        insert(summary, 0);
        noteKey();
        return true;
    }

    /** Erases everything, and refuses additions of writers that saw an earlier revision. */
    @Override
    public void erase(MemoryKey any) {
        for (MadeMemory.Kind kind : MadeMemory.Kind.values()) {
            put(kind, lock(kind), 0, words.fingerprint());
        }
        for (String statement : MemorySql.ERASE) {
            update(statement, id);
        }
    }

    /** Keeps the discussion's key, by which a clean-up finds it. A file has the facts of one discussion. */
    private void noteKey() {
        if (!isSqlite) {
            update(MemorySql.NOTE_KEY, id, key.canonical());
        }
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey any, String name, String owner, Duration duration) {
        return list(
                        MemorySql.TAKE_LEASE,
                        row -> new Lease(
                                name,
                                owner,
                                Objects.requireNonNull(row.getObject(1, OffsetDateTime.class))
                                        .toInstant()),
                        id,
                        name,
                        owner,
                        duration.toNanos() / 1_000,
                        id)
                .stream()
                .findFirst();
    }

    @Override
    public void releaseLease(MemoryKey any, String name, String owner) {
        update(MemorySql.RELEASE_LEASE, id, name, owner);
    }

    /** Carries the error of a database through methods that declare none. */
    static final class UncheckedSqlException extends RuntimeException {

        UncheckedSqlException(SQLException cause) {
            super(cause);
        }

        @Override
        public synchronized SQLException getCause() {
            return (SQLException) Objects.requireNonNull(super.getCause());
        }
    }
}
