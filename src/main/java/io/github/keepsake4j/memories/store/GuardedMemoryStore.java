package io.github.keepsake4j.memories.store;

import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.memories.FactQuery;
import io.github.keepsake4j.memories.FoundLongTermMemory;
import io.github.keepsake4j.memories.LongTermMemoryReader;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.LongTermMemoryWriter;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Overview;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Progress;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A store that checks inputs before it touches stored data, and makes each call under its guard. */
public abstract class GuardedMemoryStore implements LongTermMemoryStore {

    /** For subclasses. */
    protected GuardedMemoryStore() {}

    /**
     * Reads.
     *
     * @param <T> the type of the result
     * @param what the action, for errors
     * @param key the discussion
     * @param kind the kind of memories that it needs
     * @param work the work
     * @return its result
     */
    protected abstract <T> T reading(
            String what, MemoryKey key, MadeMemory.Kind kind, Function<LongTermMemoryReader, T> work);

    /**
     * Changes something in one step.
     *
     * @param <T> the type of the result
     * @param what the action, for errors
     * @param key the discussion
     * @param kind the kind of memories that it needs
     * @param work the work
     * @return its result
     */
    protected abstract <T> T writing(
            String what, MemoryKey key, MadeMemory.Kind kind, Function<LongTermMemoryWriter, T> work);

    @Override
    public List<MadeMemory> shown(MemoryKey key, MadeMemory.Kind kind, int last) {
        InvalidInputException.checkAtLeast("last", 0, last);
        return reading("memories", key, kind, all -> all.shown(key, kind, last));
    }

    @Override
    public List<FoundLongTermMemory> search(MemoryKey key, FactQuery query) {
        Objects.requireNonNull(query, "query");
        return reading("search in memories", key, MadeMemory.Kind.FACT, facts -> facts.search(key, query));
    }

    @Override
    public @Nullable MadeMemory summary(MemoryKey key) {
        return reading("summary", key, MadeMemory.Kind.SUMMARY, all -> Optional.ofNullable(all.summary(key)))
                .orElse(null);
    }

    @Override
    public List<MadeMemory> summaries(MemoryKey key) {
        return reading("summaries", key, MadeMemory.Kind.SUMMARY, all -> all.summaries(key));
    }

    @Override
    public Overview overview(MemoryKey key, int last, Trust leastTrust) {
        InvalidInputException.checkAtLeast("last", 0, last);
        return reading("memories", key, MadeMemory.Kind.CHUNK, all -> all.overview(key, last, leastTrust));
    }

    @Override
    public Optional<MadeMemory> find(MemoryKey key, String id) {
        Objects.requireNonNull(id, "id");
        return reading("memory", key, MadeMemory.Kind.CHUNK, all -> all.find(key, id));
    }

    @Override
    public Progress progress(MemoryKey key, MadeMemory.Kind kind) {
        return reading("progress of the memories", key, kind, store -> store.progress(key, kind));
    }

    @Override
    public boolean add(MemoryKey key, MadeMemory.Kind kind, long revision, Passage passage, List<MadeMemory> made) {
        checkAdd(kind, passage, made);
        return writing("addition to the memories", key, kind, store -> store.add(key, kind, revision, passage, made));
    }

    @Override
    public boolean addFailure(MemoryKey key, MadeMemory.Kind kind, long revision, Passage passage) {
        checkKind(kind);
        return writing("count of failed tries", key, kind, store -> store.addFailure(key, kind, revision, passage));
    }

    @Override
    public boolean moveTo(MemoryKey key, MadeMemory.Kind kind, long revision, long step) {
        checkKind(kind);
        return writing("move of the memories' head", key, kind, store -> store.moveTo(key, kind, revision, step));
    }

    @Override
    public boolean addSummary(MemoryKey key, int versions, long revision, MadeMemory summary) {
        if (summary.kind() != MadeMemory.Kind.SUMMARY) {
            throw new InvalidInputException("summary", "must be of the kind SUMMARY, is " + summary.kind());
        }
        return writing(
                "new summary", key, MadeMemory.Kind.SUMMARY, all -> all.addSummary(key, versions, revision, summary));
    }

    @Override
    public boolean put(MemoryKey key, MadeMemory memory) {
        return writing("change of a memory", key, memory.kind(), store -> store.put(key, memory));
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        return writing(
                "lease on the memories",
                key,
                MadeMemory.Kind.CHUNK,
                store -> store.acquireLease(key, name, owner, duration));
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        writing("release of a lease on the memories", key, MadeMemory.Kind.CHUNK, store -> {
            store.releaseLease(key, name, owner);
            return true;
        });
    }

    @Override
    public void erase(MemoryKey key) {
        writing("erasure of the memories", key, MadeMemory.Kind.CHUNK, store -> {
            store.erase(key);
            return true;
        });
    }

    private static void checkKind(MadeMemory.Kind kind) {
        if (kind == MadeMemory.Kind.SUMMARY) {
            throw new InvalidInputException("kind", "must be CHUNK or FACT; add a summary with addSummary");
        }
    }

    private static void checkAdd(MadeMemory.Kind kind, Passage passage, List<MadeMemory> memories) {
        checkKind(kind);
        if (kind == MadeMemory.Kind.CHUNK && memories.isEmpty()) {
            throw new InvalidInputException("memories", "must contain one chunk or more; is empty");
        }
        if (memories.isEmpty() && passage.equals(Passage.NONE)) {
            throw new InvalidInputException(
                    "memories", "must not be empty without a passage; pass a memory or a passage");
        }
        for (MadeMemory memory : memories) {
            if (memory.kind() != kind) {
                throw new InvalidInputException(
                        "memories", "must be of the kind " + kind + ", one is " + memory.kind());
            }
        }
    }
}
