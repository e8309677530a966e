package io.github.keepsake4j.memories.inmemory;

import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.memories.LongTermMemoryReader;
import io.github.keepsake4j.memories.LongTermMemoryWriter;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.store.GuardedMemoryStore;
import io.github.keepsake4j.memories.store.MemoryTrack;
import io.github.keepsake4j.memories.store.TrackedMemories;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.words.Words;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;

/** Keeps long-term memories in this process, for tests and trials. They are lost when the process ends. Thread-safe. */
public final class InMemoryLongTermMemoryStore extends GuardedMemoryStore {

    private final Kept kept;

    /** Creates an empty store that finds facts by {@link Words#standard()}. */
    public InMemoryLongTermMemoryStore() {
        this(Words.standard());
    }

    /**
     * Creates an empty store.
     *
     * @param words splits texts into the words by which facts are found
     */
    public InMemoryLongTermMemoryStore(Words words) {
        kept = new Kept(words);
    }

    private record Discussion(Map<MadeMemory.Kind, MemoryTrack> tracks, Map<String, Lease> leases) {

        boolean isKept() {
            return tracks.values().stream()
                    .anyMatch(track -> !track.progress().steps().isEmpty()
                            || !track.entries().isEmpty());
        }
    }

    private static final class Kept extends TrackedMemories {

        private final Map<MemoryKey, Discussion> discussions = new HashMap<>();

        Kept(Words words) {
            super(words);
        }

        private Discussion of(MemoryKey key) {
            return discussions.computeIfAbsent(
                    Objects.requireNonNull(key, "key"),
                    any -> new Discussion(new EnumMap<>(MadeMemory.Kind.class), new HashMap<>()));
        }

        @Override
        protected MemoryTrack track(MemoryKey key, MadeMemory.Kind kind) {
            return of(key).tracks().getOrDefault(kind, MemoryTrack.empty(0));
        }

        @Override
        protected void put(MemoryKey key, MadeMemory.Kind kind, MemoryTrack after) {
            of(key).tracks().put(kind, after);
        }

        @Override
        protected Map<String, Lease> leases(MemoryKey key) {
            return of(key).leases();
        }

        @Override
        protected void putLeases(MemoryKey key, Map<String, Lease> leases) {
            // They were changed in their place.
        }

        @Override
        public void erase(MemoryKey key) {
            for (MadeMemory.Kind kind : MadeMemory.Kind.values()) {
                put(key, kind, MemoryTrack.empty(progress(key, kind).revision() + 1));
            }
            leases(key).clear();
        }
    }

    @Override
    protected synchronized <T> T reading(
            String what, MemoryKey key, MadeMemory.Kind kind, Function<LongTermMemoryReader, T> work) {
        return work.apply(kept);
    }

    @Override
    protected synchronized <T> T writing(
            String what, MemoryKey key, MadeMemory.Kind kind, Function<LongTermMemoryWriter, T> work) {
        return work.apply(kept);
    }

    @Override
    public void discussions(String tenant, Consumer<MemoryKey> action) {
        List<MemoryKey> found;
        synchronized (this) {
            found = kept.discussions.entrySet().stream()
                    .filter(each -> each.getKey().tenant().equals(tenant))
                    .filter(each -> each.getValue().isKept())
                    .map(Map.Entry::getKey)
                    .toList();
        }
        found.forEach(action);
    }

    /** Does nothing. */
    @Override
    public void compact() {}

    @Override
    public String backend() {
        return "memory";
    }

    /** Does nothing: the memories live as long as the store. */
    @Override
    public void close() {}
}
