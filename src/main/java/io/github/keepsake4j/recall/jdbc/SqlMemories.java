package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.memories.FactQuery;
import io.github.keepsake4j.recall.memories.FactWords;
import io.github.keepsake4j.recall.memories.FoundMemory;
import io.github.keepsake4j.recall.memories.MadeMemory;
import io.github.keepsake4j.recall.memories.MemoryKind;
import io.github.keepsake4j.recall.memories.MemoryReader;
import io.github.keepsake4j.recall.memories.MemoryStatus;
import io.github.keepsake4j.recall.memories.Overview;
import io.github.keepsake4j.recall.memories.Passage;
import io.github.keepsake4j.recall.memories.Progress;
import io.github.keepsake4j.recall.memories.Step;
import io.github.keepsake4j.recall.memories.Trust;
import io.github.keepsake4j.sql.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
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

/**
 * Memories in tables: what is done in one transaction. A writer locks the progress first. Of a discussion the rows that are shown
 * are those on the path to the head; only these have words.
 */
final class SqlMemories {

    private final MemorySql sql;
    private final FactWords words;

    SqlMemories(MemorySql sql, FactWords words) {
        this.sql = sql;
        this.words = words;
    }

    /** A row of the progress. */
    private record State(long revision, long head, String fingerprint) {

        static State of(ResultSet row) throws SQLException {
            return new State(row.getLong(1), row.getLong(2), Objects.requireNonNull(row.getString(3)));
        }
    }

    /** A row of a memory. */
    private record Row(long number, long step, boolean isShown, MadeMemory memory) {}

    private Session.Mapper<Row> rows(MemoryKey key) {
        return row -> {
            long number = row.getLong(1);
            return new Row(
                    number,
                    row.getLong(2),
                    row.getInt(3) == 1,
                    MemoryJson.memory(
                            "Memory " + number + " of discussion " + key,
                            Objects.requireNonNull(row.getString(4)),
                            Objects.requireNonNull(row.getString(5))));
        };
    }

    /** Returns the progress, with a revision where there is none yet. */
    Progress progress(Session session, MemoryKey key, MemoryKind kind, long least) throws SQLException {
        State state = session.first(sql.progress(), State::of, sql.key(key), kind.name());
        return progress(session, key, kind, state == null ? new State(least, 0, "") : state);
    }

    private Progress progress(Session session, MemoryKey key, MemoryKind kind, State state) throws SQLException {
        List<Step> steps = session.list(
                sql.steps(),
                row -> new Step(
                        row.getLong(1),
                        row.getLong(2),
                        new Passage(
                                MemoryJson.list(
                                        "A passage of discussion " + key, Objects.requireNonNull(row.getString(7))),
                                row.getInt(3),
                                Objects.requireNonNull(row.getString(4)),
                                Objects.requireNonNull(row.getString(5)),
                                Objects.requireNonNull(row.getString(6))),
                        row.getInt(8)),
                sql.key(key),
                kind.name());
        return new Progress(state.revision(), state.head(), steps);
    }

    /** Locks the progress, and makes it with a revision where there is none yet. */
    private State lock(Session session, MemoryKey key, MemoryKind kind, long least) throws SQLException {
        session.update(sql.newProgress(), sql.key(key), kind.name(), least, words.fingerprint());
        return Objects.requireNonNull(session.first(sql.lockProgress(), State::of, sql.key(key), kind.name()));
    }

    private void put(Session session, MemoryKey key, MemoryKind kind, State state) throws SQLException {
        session.update(
                sql.putProgress(), state.revision(), state.head(), state.fingerprint(), sql.key(key), kind.name());
    }

    boolean add(
            Session session,
            MemoryKey key,
            MemoryKind kind,
            long least,
            long revision,
            Passage passage,
            List<MadeMemory> memories)
            throws SQLException {
        State state = lock(session, key, kind, least);
        if (state.revision() != revision) {
            return false;
        }
        long step = 0;
        long head = state.head();
        if (!passage.equals(Passage.NONE)) {
            Progress before = progress(session, key, kind, state);
            Step next = before.next(passage);
            step = next.number();
            head = before.headAfter(next);
            put(
                    session,
                    key,
                    kind,
                    new Step(step, next.parent(), passage, 0),
                    Instant.now().toString());
            if (head != step) {
                session.update(sql.touchStep(), Instant.now().toString(), sql.key(key), kind.name(), head);
            }
        }
        State after = new State(revision + 1, head, words(session, key, kind, state));
        for (MadeMemory memory : memories) {
            insert(session, key, memory, step);
            if (memory.replaces() != null) {
                markReplaced(session, key, memory.replaces());
            }
        }
        put(session, key, kind, after);
        return true;
    }

    /** Writes a step. One without a time is never taken for the last one that was processed. */
    private void put(Session session, MemoryKey key, MemoryKind kind, Step step, String time) throws SQLException {
        Passage passage = step.passage();
        session.update(
                sql.putStep(),
                sql.key(key),
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

    boolean addFailure(Session session, MemoryKey key, MemoryKind kind, long least, long revision, Passage passage)
            throws SQLException {
        State state = lock(session, key, kind, least);
        if (state.revision() != revision) {
            return false;
        }
        put(
                session,
                key,
                kind,
                progress(session, key, kind, state).next(passage).failed(),
                "");
        put(session, key, kind, new State(revision + 1, state.head(), state.fingerprint()));
        return true;
    }

    private void insert(Session session, MemoryKey key, MadeMemory memory, long step) throws SQLException {
        if (session.first(sql.byId(), row -> row.getLong(1), sql.key(key), memory.id()) != null) {
            throw new InvalidInputException("id", "memory " + memory.id() + " of discussion " + key + " is there");
        }
        long number = Objects.requireNonNull(session.first(
                sql.nextNumber(),
                row -> row.getLong(1),
                sql.key(key),
                memory.kind().name()));
        boolean shown = memory.status() == MemoryStatus.CURRENT;
        session.update(
                sql.newMemory(),
                sql.key(key),
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
            addWords(session, key, number, memory);
        }
    }

    private void markReplaced(Session session, MemoryKey key, String id) throws SQLException {
        Row older = session.first(sql.byId(), rows(key), sql.key(key), id);
        if (older != null && older.memory().status() == MemoryStatus.CURRENT) {
            update(session, key, older, older.memory().withStatus(MemoryStatus.REPLACED), older.isShown());
        }
    }

    /** Changes a memory, which is shown if it is current and on the path. */
    private void update(Session session, MemoryKey key, Row before, MadeMemory after, boolean isOnPath)
            throws SQLException {
        boolean shown = isOnPath && after.status() == MemoryStatus.CURRENT;
        if (before.isShown()) {
            removeWords(session, key, before.number());
        }
        session.update(
                sql.putMemory(),
                after.text(),
                MemoryJson.metadata(after),
                shown ? 1 : 0,
                after.trust().level(),
                after.pinned() ? 1 : 0,
                sql.key(key),
                after.kind().name(),
                before.number());
        if (shown) {
            addWords(session, key, before.number(), after);
        }
    }

    private void addWords(Session session, MemoryKey key, long number, MadeMemory memory) throws SQLException {
        if (memory.kind() != MemoryKind.FACT) {
            return;
        }
        List<Object[]> rows = new ArrayList<>();
        words.weights(memory).forEach((term, weight) -> rows.add(new Object[] {sql.key(key), term, number, weight}));
        session.updateAll(sql.newWord(), rows);
        if (sql.hasPlainIndex()) {
            session.update(
                    SqliteMemorySql.NEW_PLAIN,
                    number,
                    memory.title(),
                    memory.summary(),
                    String.join(" ", memory.entities()),
                    String.join(" ", memory.keyPhrases()),
                    memory.text());
        }
    }

    private void removeWords(Session session, MemoryKey key, long number) throws SQLException {
        session.update(sql.deleteWords(), sql.key(key), number);
        if (sql.hasPlainIndex()) {
            session.update(SqliteMemorySql.DELETE_PLAIN, number);
        }
    }

    /** Makes all words again if they were made by others. Returns by which they are made now. */
    private String words(Session session, MemoryKey key, MemoryKind kind, State state) throws SQLException {
        if (!state.fingerprint().equals(words.fingerprint())) {
            for (Row row : session.list(sql.memories(), rows(key), sql.key(key), kind.name())) {
                if (row.isShown()) {
                    update(session, key, row, row.memory(), true);
                }
            }
        }
        return words.fingerprint();
    }

    boolean moveTo(Session session, MemoryKey key, MemoryKind kind, long least, long revision, long step)
            throws SQLException {
        State state = lock(session, key, kind, least);
        if (state.revision() != revision) {
            return false;
        }
        Progress before = progress(session, key, kind, state);
        if (step != 0 && before.steps().stream().noneMatch(each -> each.number() == step)) {
            throw new InvalidInputException("step", "discussion " + key + " has no step " + step);
        }
        Set<Long> path = new HashSet<>(Set.of(0L));
        new Progress(0, step, before.steps()).path().forEach(each -> path.add(each.number()));
        List<Row> rows = session.list(sql.memories(), rows(key), sql.key(key), kind.name());
        Set<String> replaced = rows.stream()
                .filter(row -> path.contains(row.step()) && row.memory().status() != MemoryStatus.FORGOTTEN)
                .map(row -> Objects.requireNonNullElse(row.memory().replaces(), ""))
                .collect(Collectors.toSet());
        for (Row row : rows) {
            // What is replaced on one branch only holds on the others.
            MadeMemory memory = row.memory();
            MadeMemory after = memory.status() == MemoryStatus.FORGOTTEN
                    ? memory
                    : memory.withStatus(replaced.contains(memory.id()) ? MemoryStatus.REPLACED : MemoryStatus.CURRENT);
            boolean shown = path.contains(row.step()) && after.status() == MemoryStatus.CURRENT;
            if (shown != row.isShown() || after.status() != memory.status()) {
                update(session, key, row, after, shown);
            }
        }
        if (step != 0) {
            session.update(sql.touchStep(), Instant.now().toString(), sql.key(key), kind.name(), step);
        }
        put(session, key, kind, new State(revision + 1, step, words(session, key, kind, state)));
        return true;
    }

    boolean put(Session session, MemoryKey key, long least, MadeMemory memory) throws SQLException {
        MemoryKind kind = memory.kind();
        State state = lock(session, key, kind, least);
        Row before = session.first(sql.byId(), rows(key), sql.key(key), memory.id());
        if (before == null || before.memory().kind() != kind) {
            return false;
        }
        boolean isOnPath = before.step() == 0
                || progress(session, key, kind, state).path().stream().anyMatch(step -> step.number() == before.step());
        update(session, key, before, memory, isOnPath);
        if (sql.hasPlainIndex()) {
            session.update(SqliteMemorySql.OPTIMIZE);
        }
        put(session, key, kind, new State(state.revision() + 1, state.head(), words(session, key, kind, state)));
        return true;
    }

    List<MadeMemory> shown(Session session, MemoryKey key, MemoryKind kind, int last) throws SQLException {
        List<MadeMemory> found = new ArrayList<>();
        for (Row row : session.list(sql.shown(), rows(key), sql.key(key), kind.name(), last)) {
            found.add(row.memory());
        }
        Collections.reverse(found);
        return List.copyOf(found);
    }

    /** Reads what {@link PostgresMemorySql#OVERVIEW} selects. */
    Overview overview(Session session, MemoryKey key, int last, Trust leastTrust) throws SQLException {
        Object id = sql.key(key);
        int least = leastTrust.level();
        List<Row> rows = session.list(
                PostgresMemorySql.OVERVIEW,
                rows(key),
                id,
                least,
                last,
                id,
                least,
                last,
                id,
                least,
                MemoryReader.MAX_PINNED,
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
            if (row.memory().kind() == MemoryKind.SUMMARY) {
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

    Optional<MadeMemory> find(Session session, MemoryKey key, String id) throws SQLException {
        Row row = session.first(sql.byId(), rows(key), sql.key(key), id);
        return row == null ? Optional.empty() : Optional.of(row.memory());
    }

    List<FoundMemory> search(Session session, MemoryKey key, FactQuery query) throws SQLException {
        State state = session.first(sql.progress(), State::of, sql.key(key), MemoryKind.FACT.name());
        Set<String> terms = words.terms(query);
        if (state == null || terms.isEmpty()) {
            return List.of();
        }
        if (!state.fingerprint().equals(words.fingerprint())) {
            return searchInTexts(session, key, query);
        }
        int least = query.leastTrust().level();
        long facts = Objects.requireNonNull(
                session.first(sql.countShown(), row -> row.getLong(1), sql.key(key), MemoryKind.FACT.name(), least));
        List<FactWords.Posting> postings = session.list(
                sql.words(),
                row -> new FactWords.Posting(
                        Objects.requireNonNull(row.getString(1)), row.getLong(2), row.getDouble(3)),
                sql.key(key),
                MemoryJson.list(terms),
                sql.key(key),
                least);
        List<FoundMemory> found = new ArrayList<>();
        for (FactWords.Score score : words.rank(query, facts, postings)) {
            if (found.size() == query.limit()) {
                break;
            }
            Row row = session.first(sql.byNumber(), rows(key), sql.key(key), MemoryKind.FACT.name(), score.fact());
            // A moment later it may be gone.
            if (row != null && row.isShown()) {
                found.add(new FoundMemory(row.memory(), score.score()));
            }
        }
        return List.copyOf(found);
    }

    /** Finds facts whose words were made by others. They are made again with the next change. */
    private List<FoundMemory> searchInTexts(Session session, MemoryKey key, FactQuery query) throws SQLException {
        List<MadeMemory> facts = shown(session, key, MemoryKind.FACT, Integer.MAX_VALUE).stream()
                .filter(fact -> fact.trust().isAtLeast(query.leastTrust()))
                .toList();
        return words.search(query, facts);
    }

    /** Returns the summaries in the order in which they were stored. */
    List<MadeMemory> summaries(Session session, MemoryKey key) throws SQLException {
        List<MadeMemory> found = new ArrayList<>();
        for (Row row : session.list(sql.memories(), rows(key), sql.key(key), MemoryKind.SUMMARY.name())) {
            found.add(row.memory());
        }
        return List.copyOf(found);
    }

    boolean addSummary(Session session, MemoryKey key, int versions, long revision, MadeMemory summary)
            throws SQLException {
        State chunks = lock(session, key, MemoryKind.CHUNK, 0);
        if (chunks.revision() != revision || summaries(session, key).size() != versions) {
            return false;
        }
        insert(session, key, summary, 0);
        return true;
    }

    /** Locks the discussion, and refuses what those add that saw it before. */
    void beginAfresh(Session session, MemoryKey key) throws SQLException {
        for (MemoryKind kind : MemoryKind.values()) {
            State state = lock(session, key, kind, 0);
            put(session, key, kind, new State(state.revision() + 1, 0, words.fingerprint()));
        }
    }
}
