package io.github.keepsake4j.recall.inmemory;

import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.LeaseRules;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.memories.FactQuery;
import io.github.keepsake4j.recall.memories.FactWords;
import io.github.keepsake4j.recall.memories.FoundMemory;
import io.github.keepsake4j.recall.memories.MadeMemory;
import io.github.keepsake4j.recall.memories.MemoryKind;
import io.github.keepsake4j.recall.memories.MemoryRules;
import io.github.keepsake4j.recall.memories.MemoryStatus;
import io.github.keepsake4j.recall.memories.MemoryStore;
import io.github.keepsake4j.recall.memories.Passage;
import io.github.keepsake4j.recall.memories.Progress;
import io.github.keepsake4j.recall.memories.Step;
import io.github.keepsake4j.recall.words.Words;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Keeps memories that were made in this process, for tests and trials. They are gone when it ends. Thread-safe. */
public final class InMemoryMemoryStore implements MemoryStore {

    private final FactWords words;
    private final Map<MemoryKey, Discussion> discussions = new HashMap<>();

    /** Creates an empty store that finds facts by {@link Words#standard()}. */
    public InMemoryMemoryStore() {
        this(Words.standard());
    }

    /**
     * Creates an empty store.
     *
     * @param words splits texts into the words by which facts are found
     */
    public InMemoryMemoryStore(Words words) {
        this.words = new FactWords(words);
    }

    /** A memory, and the step that it is of, or 0. */
    private record Entry(long step, MadeMemory memory) {

        Entry with(MadeMemory other) {
            return new Entry(step, other);
        }
    }

    /** The memories of one kind. */
    private static final class Track {

        private long revision;
        private long head;
        private final List<Step> steps = new ArrayList<>();
        private final List<Entry> entries = new ArrayList<>();

        Progress progress() {
            return new Progress(revision, head, steps);
        }

        List<MadeMemory> shown() {
            Set<Long> path = path(progress());
            return entries.stream()
                    .filter(entry -> path.contains(entry.step()))
                    .map(Entry::memory)
                    .filter(memory -> memory.status() == MemoryStatus.CURRENT)
                    .toList();
        }

        void put(Step step) {
            int place = (int) step.number() - 1;
            if (place == steps.size()) {
                steps.add(step);
            } else {
                steps.set(place, step);
            }
        }

        void put(MadeMemory memory) {
            entries.replaceAll(entry -> entry.memory().id().equals(memory.id()) ? entry.with(memory) : entry);
        }

        /** What is replaced on one branch only holds on the others. */
        void markReplaced() {
            Set<Long> path = path(progress());
            Set<String> replaced = new HashSet<>();
            entries.stream()
                    .filter(entry ->
                            path.contains(entry.step()) && entry.memory().status() != MemoryStatus.FORGOTTEN)
                    .forEach(entry -> replaced.add(
                            Objects.requireNonNullElse(entry.memory().replaces(), "")));
            entries.replaceAll(entry -> entry.memory().status() == MemoryStatus.FORGOTTEN
                    ? entry
                    : entry.with(entry.memory()
                            .withStatus(
                                    replaced.contains(entry.memory().id())
                                            ? MemoryStatus.REPLACED
                                            : MemoryStatus.CURRENT)));
        }

        private static Set<Long> path(Progress progress) {
            Set<Long> path = new HashSet<>(Set.of(0L));
            progress.path().forEach(step -> path.add(step.number()));
            return path;
        }

        void erase() {
            revision++;
            head = 0;
            steps.clear();
            entries.clear();
        }
    }

    private static final class Discussion {

        private final Map<MemoryKind, Track> tracks = new EnumMap<>(MemoryKind.class);
        private final Map<String, Lease> leases = new HashMap<>();

        Track track(MemoryKind kind) {
            return tracks.computeIfAbsent(kind, any -> new Track());
        }

        boolean isKept() {
            return tracks.values().stream().anyMatch(track -> !track.steps.isEmpty() || !track.entries.isEmpty());
        }

        Stream<Entry> entries() {
            return Stream.of(MemoryKind.values()).flatMap(kind -> track(kind).entries.stream());
        }
    }

    private Discussion of(MemoryKey key) {
        return discussions.computeIfAbsent(Objects.requireNonNull(key, "key"), any -> new Discussion());
    }

    @Override
    public synchronized List<MadeMemory> chunks(MemoryKey key, int last) {
        return newest(key, MemoryKind.CHUNK, last);
    }

    @Override
    public synchronized List<MadeMemory> facts(MemoryKey key, int last) {
        return newest(key, MemoryKind.FACT, last);
    }

    private List<MadeMemory> newest(MemoryKey key, MemoryKind kind, int last) {
        InvalidInputException.checkAtLeast("last", 0, last);
        List<MadeMemory> shown = of(key).track(kind).shown();
        return List.copyOf(shown.subList(Math.max(0, shown.size() - last), shown.size()));
    }

    @Override
    public synchronized List<FoundMemory> search(MemoryKey key, FactQuery query) {
        return words.search(
                query,
                of(key).track(MemoryKind.FACT).shown().stream()
                        .filter(fact -> fact.trust().isAtLeast(query.leastTrust()))
                        .toList());
    }

    @Override
    public synchronized @Nullable MadeMemory summary(MemoryKey key) {
        return of(key).track(MemoryKind.CHUNK).progress().holding(summaries(key));
    }

    @Override
    public synchronized List<MadeMemory> summaries(MemoryKey key) {
        return of(key).track(MemoryKind.SUMMARY).entries.stream()
                .map(Entry::memory)
                .toList();
    }

    @Override
    public synchronized Optional<MadeMemory> find(MemoryKey key, String id) {
        Objects.requireNonNull(id, "id");
        return of(key).entries()
                .map(Entry::memory)
                .filter(memory -> memory.id().equals(id))
                .findFirst();
    }

    @Override
    public synchronized Progress progress(MemoryKey key, MemoryKind kind) {
        return of(key).track(kind).progress();
    }

    @Override
    public synchronized boolean add(
            MemoryKey key, MemoryKind kind, long revision, Passage passage, List<MadeMemory> memories) {
        MemoryRules.checkAdd(kind, passage, memories);
        Track track = of(key).track(kind);
        if (track.revision != revision) {
            return false;
        }
        memories.forEach(memory -> checkNew(key, memory));
        long step = 0;
        if (!passage.equals(Passage.NONE)) {
            Progress before = track.progress();
            Step next = before.next(passage);
            step = next.number();
            track.put(new Step(step, next.parent(), passage, 0));
            track.head = before.headAfter(next);
        }
        for (MadeMemory memory : memories) {
            track.entries.add(new Entry(step, memory));
        }
        for (MadeMemory memory : memories) {
            track.entries.stream()
                    .map(Entry::memory)
                    .filter(older -> older.id().equals(memory.replaces()) && older.status() == MemoryStatus.CURRENT)
                    .findFirst()
                    .ifPresent(older -> track.put(older.withStatus(MemoryStatus.REPLACED)));
        }
        track.revision++;
        return true;
    }

    @Override
    public synchronized boolean addFailure(MemoryKey key, MemoryKind kind, long revision, Passage passage) {
        MemoryRules.checkKind(kind);
        Track track = of(key).track(kind);
        if (track.revision != revision) {
            return false;
        }
        track.put(track.progress().next(passage).failed());
        track.revision++;
        return true;
    }

    private void checkNew(MemoryKey key, MadeMemory memory) {
        if (find(key, memory.id()).isPresent()) {
            throw new InvalidInputException("id", "memory " + memory.id() + " of discussion " + key + " is there");
        }
    }

    @Override
    public synchronized boolean moveTo(MemoryKey key, MemoryKind kind, long revision, long step) {
        MemoryRules.checkKind(kind);
        Track track = of(key).track(kind);
        if (track.revision != revision) {
            return false;
        }
        if (step != 0 && track.steps.stream().noneMatch(each -> each.number() == step)) {
            throw new InvalidInputException("step", "discussion " + key + " has no step " + step);
        }
        track.head = step;
        track.markReplaced();
        track.revision++;
        return true;
    }

    @Override
    public synchronized boolean addSummary(MemoryKey key, int versions, long revision, MadeMemory summary) {
        MemoryRules.checkSummary(summary);
        Track track = of(key).track(MemoryKind.SUMMARY);
        if (track.entries.size() != versions || of(key).track(MemoryKind.CHUNK).revision != revision) {
            return false;
        }
        checkNew(key, summary);
        track.entries.add(new Entry(0, summary));
        return true;
    }

    @Override
    public synchronized boolean put(MemoryKey key, MadeMemory memory) {
        Track track = of(key).track(memory.kind());
        if (track.entries.stream().noneMatch(entry -> entry.memory().id().equals(memory.id()))) {
            return false;
        }
        track.put(memory);
        track.revision++;
        return true;
    }

    @Override
    public synchronized Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        return LeaseRules.acquire(of(key).leases, name, owner, duration, Instant.now());
    }

    @Override
    public synchronized void releaseLease(MemoryKey key, String name, String owner) {
        LeaseRules.release(of(key).leases, name, owner);
    }

    @Override
    public synchronized void erase(MemoryKey key) {
        Discussion discussion = of(key);
        for (MemoryKind kind : MemoryKind.values()) {
            discussion.track(kind).erase();
        }
        discussion.leases.clear();
    }

    @Override
    public void discussions(String tenant, Consumer<MemoryKey> action) {
        List<MemoryKey> kept;
        synchronized (this) {
            kept = discussions.entrySet().stream()
                    .filter(each -> each.getKey().tenant().equals(tenant))
                    .filter(each -> each.getValue().isKept())
                    .map(Map.Entry::getKey)
                    .toList();
        }
        kept.forEach(action);
    }

    /** Does nothing. */
    @Override
    public void compact() {}

    @Override
    public String backend() {
        return "memory";
    }

    /** Does nothing: what it has is there as long as the store is. */
    @Override
    public void close() {}
}
