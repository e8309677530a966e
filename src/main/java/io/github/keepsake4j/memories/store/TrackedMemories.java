package io.github.keepsake4j.memories.store;

import io.github.keepsake4j.backend.LeaseRules;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.memories.FactQuery;
import io.github.keepsake4j.memories.FactWords;
import io.github.keepsake4j.memories.FoundLongTermMemory;
import io.github.keepsake4j.memories.LongTermMemoryWriter;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Progress;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.words.Words;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A store that reads all memories of one kind as a whole, and makes changes in the heap. */
public abstract class TrackedMemories implements LongTermMemoryWriter {

    private final FactWords words;

    /**
     * Creates the object.
     *
     * @param words splits texts into the words by which facts are found
     */
    protected TrackedMemories(Words words) {
        this.words = new FactWords(words);
    }

    /**
     * Returns the memories of one kind.
     *
     * @param key the discussion
     * @param kind the kind
     * @return what is kept
     */
    protected abstract MemoryTrack track(MemoryKey key, MadeMemory.Kind kind);

    /**
     * Keeps what a change made of {@link #track}.
     *
     * @param key the discussion
     * @param kind the kind
     * @param after the memories
     */
    protected abstract void put(MemoryKey key, MadeMemory.Kind kind, MemoryTrack after);

    /**
     * Returns the leases of a discussion.
     *
     * @param key the discussion
     * @return the leases by name, to be changed
     */
    protected abstract Map<String, Lease> leases(MemoryKey key);

    /**
     * Keeps the leases of a discussion.
     *
     * @param key the discussion
     * @param leases the changed result of {@link #leases}
     */
    protected abstract void putLeases(MemoryKey key, Map<String, Lease> leases);

    @Override
    public List<MadeMemory> shown(MemoryKey key, MadeMemory.Kind kind, int last) {
        List<MadeMemory> shown = track(key, kind).shown();
        return List.copyOf(shown.subList(Math.max(0, shown.size() - last), shown.size()));
    }

    @Override
    public List<FoundLongTermMemory> search(MemoryKey key, FactQuery query) {
        return words.search(query, track(key, MadeMemory.Kind.FACT).shown());
    }

    @Override
    public @Nullable MadeMemory summary(MemoryKey key) {
        return track(key, MadeMemory.Kind.CHUNK).progress().holding(summaries(key));
    }

    @Override
    public List<MadeMemory> summaries(MemoryKey key) {
        return track(key, MadeMemory.Kind.SUMMARY).memories();
    }

    @Override
    public Optional<MadeMemory> find(MemoryKey key, String id) {
        return Arrays.stream(MadeMemory.Kind.values())
                .flatMap(kind -> track(key, kind).memories().stream())
                .filter(memory -> memory.id().equals(id))
                .findFirst();
    }

    @Override
    public Progress progress(MemoryKey key, MadeMemory.Kind kind) {
        return track(key, kind).progress();
    }

    @Override
    public boolean add(MemoryKey key, MadeMemory.Kind kind, long revision, Passage passage, List<MadeMemory> made) {
        return change(key, kind, revision, track -> {
            made.forEach(memory -> checkNew(key, memory));
            return track.add(passage, made);
        });
    }

    @Override
    public boolean addFailure(MemoryKey key, MadeMemory.Kind kind, long revision, Passage passage) {
        return change(key, kind, revision, track -> track.addFailure(passage));
    }

    @Override
    public boolean moveTo(MemoryKey key, MadeMemory.Kind kind, long revision, long step) {
        return change(key, kind, revision, track -> {
            MemoryTrack.checkStep(key, track.progress(), step);
            return track.moveTo(step);
        });
    }

    private boolean change(MemoryKey key, MadeMemory.Kind kind, long revision, UnaryOperator<MemoryTrack> change) {
        MemoryTrack before = track(key, kind);
        if (before.progress().revision() != revision) {
            return false;
        }
        put(key, kind, change.apply(before));
        return true;
    }

    private void checkNew(MemoryKey key, MadeMemory memory) {
        MemoryTrack.checkNew(key, memory, find(key, memory.id()).isPresent());
    }

    @Override
    public boolean addSummary(MemoryKey key, int versions, long revision, MadeMemory summary) {
        MemoryTrack before = track(key, MadeMemory.Kind.SUMMARY);
        if (before.entries().size() != versions
                || progress(key, MadeMemory.Kind.CHUNK).revision() != revision) {
            return false;
        }
        checkNew(key, summary);
        put(key, MadeMemory.Kind.SUMMARY, before.addVersion(summary));
        return true;
    }

    @Override
    public boolean put(MemoryKey key, MadeMemory memory) {
        MemoryTrack before = track(key, memory.kind());
        boolean isThere = before.memories().stream().anyMatch(each -> each.id().equals(memory.id()));
        if (isThere) {
            put(key, memory.kind(), before.put(memory));
        }
        return isThere;
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        Map<String, Lease> leases = leases(key);
        Optional<Lease> lease = LeaseRules.acquire(leases, name, owner, duration, Instant.now());
        if (lease.isPresent()) {
            putLeases(key, leases);
        }
        return lease;
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        Map<String, Lease> leases = leases(key);
        if (LeaseRules.release(leases, name, owner)) {
            putLeases(key, leases);
        }
    }
}
