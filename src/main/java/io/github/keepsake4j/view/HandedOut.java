package io.github.keepsake4j.view;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Knows which stored message each instance is that a read gave out, for as long as the caller keeps the instance. Messages
 * have no id, so this is the only way to recognize one. An instance whose content has changed since is another message.
 * Thread-safe.
 */
public final class HandedOut {

    /** An application's constant may be given out again and again, each time as another message. */
    private static final int MOST_ORIGINS = 16;

    /** A map's key: the same instance, or nothing. */
    private static final class Instance extends WeakReference<ChatMessage> {
        private final int hash;

        Instance(ChatMessage message, @Nullable ReferenceQueue<ChatMessage> queue) {
            super(message, queue);
            this.hash = System.identityHashCode(message);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other || (other instanceof Instance that && get() != null && get() == that.get());
        }
    }

    /**
     * One message that an instance was given out as.
     *
     * @param key the memory
     * @param read the number of the newest read that did so
     * @param reading that read
     * @param place the message
     * @param hash the content's hash, which tells of changes in place
     */
    private record Origin(MemoryKey key, long read, Reading reading, Place place, int hash) {
        boolean is(MemoryKey other, long epoch) {
            return key.equals(other) && reading.position().epoch() == epoch;
        }
    }

    /**
     * A list whose instances were looked up.
     *
     * @param places for each message of the list the stored one that it is, or null
     * @param saw the newest read that gave out one of them, which is what the caller saw; null if none did
     */
    @SuppressWarnings("ArrayRecordComponent") // Made for one caller, which fills in what it finds elsewhere.
    record Recognized(@Nullable Place[] places, @Nullable Reading saw) {}

    private final Map<Instance, List<Origin>> origins = new ConcurrentHashMap<>();
    private final ReferenceQueue<ChatMessage> gone = new ReferenceQueue<>();
    private final AtomicLong reads = new AtomicLong();

    /**
     * Notes what a read gives out.
     *
     * @param key the memory
     * @param shown the messages that its caller gets
     */
    public void add(MemoryKey key, Shown shown) {
        for (Reference<? extends ChatMessage> old = gone.poll(); old != null; old = gone.poll()) {
            origins.remove(old);
        }
        long read = reads.incrementAndGet();
        Reading reading = shown.reading();
        for (int i = 0; i < shown.messages().size(); i++) {
            ChatMessage message = shown.messages().get(i).message();
            Origin origin = new Origin(key, read, reading, reading.shown().get(i), message.hashCode());
            origins.merge(new Instance(message, gone), List.of(origin), HandedOut::merge);
        }
    }

    /** A newer read as the same message replaces an older one, and so does a newer epoch. */
    private static List<Origin> merge(List<Origin> before, List<Origin> added) {
        Origin origin = added.get(0);
        List<Origin> merged = new ArrayList<>(before.size() + 1);
        for (Origin old : before) {
            boolean same = old.is(origin.key(), origin.reading().position().epoch())
                    && old.place().id().equals(origin.place().id());
            if (!same) {
                merged.add(old);
            }
        }
        merged.add(origin);
        return List.copyOf(merged.subList(Math.max(0, merged.size() - MOST_ORIGINS), merged.size()));
    }

    /**
     * Tells whether an instance was given out of a memory and is unchanged.
     *
     * @param key the memory
     * @param epoch the epoch in which it was given out
     * @param message the instance
     * @return whether it was
     */
    public boolean holds(MemoryKey key, long epoch, ChatMessage message) {
        int hash = message.hashCode();
        return find(message).stream().anyMatch(origin -> origin.is(key, epoch) && origin.hash() == hash);
    }

    /** Looks up the instances of a list. Each stored message counts once: an instance that comes again is a new one. */
    Recognized recognize(MemoryKey key, List<ChatMessage> list) {
        List<List<Origin>> found = new ArrayList<>(list.size());
        long epoch = 0;
        for (ChatMessage message : list) {
            List<Origin> ofMemory = find(message).stream()
                    .filter(origin -> origin.key().equals(key))
                    .toList();
            found.add(ofMemory);
            for (Origin origin : ofMemory) {
                epoch = Math.max(epoch, origin.reading().position().epoch());
            }
        }
        @Nullable Place[] places = new Place[list.size()];
        Set<String> used = new HashSet<>();
        Origin newest = null;
        for (int i = 0; i < places.length; i++) {
            int hash = found.get(i).isEmpty() ? 0 : list.get(i).hashCode();
            for (Origin origin : found.get(i)) {
                if (origin.reading().position().epoch() != epoch) {
                    continue;
                }
                newest = newest == null || newest.read() < origin.read() ? origin : newest;
                if (places[i] == null
                        && origin.hash() == hash
                        && used.add(origin.place().id())) {
                    places[i] = origin.place();
                }
            }
        }
        return new Recognized(places, newest == null ? null : newest.reading());
    }

    /** Whether a list holds an instance that was given out before the memory was erased. */
    boolean holdsErased(MemoryKey key, long epoch, List<ChatMessage> list) {
        return list.stream()
                .flatMap(message -> find(message).stream())
                .anyMatch(origin ->
                        origin.key().equals(key) && origin.reading().position().epoch() < epoch);
    }

    private List<Origin> find(ChatMessage message) {
        return origins.getOrDefault(new Instance(message, null), List.of());
    }
}
