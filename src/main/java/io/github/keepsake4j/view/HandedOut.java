package io.github.keepsake4j.view;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Maps each instance that a read returned or a caller set to its stored message, for as long as the caller keeps the
 * instance. Messages have no id, so this is the only way to recognize one. An instance whose content has changed since
 * then is a different message. Thread-safe.
 */
final class HandedOut {

    /**
     * One stored message that an instance is.
     *
     * @param key the memory
     * @param number the number of the newest reading that contains it
     * @param reading the reading that the caller has seen with it
     * @param at its index in the list that the memory showed
     * @param own whether it is the caller's own instance and no read returned it. A caller may send the same instance
     *     again as another message. So it is recognized only where the list in which it was set comes back in order
     * @param hash the hash of {@link #changeable} parts, which shows whether the instance was changed in place
     */
    private record Origin(MemoryKey key, long number, Reading reading, int at, boolean own, int hash) {
        StoredPosition place() {
            return reading.shown().get(at);
        }

        long epoch() {
            return reading.position().epoch();
        }

        boolean isSame(Origin other) {
            return key.equals(other.key)
                    && epoch() == other.epoch()
                    && place().id().equals(other.place().id());
        }
    }

    /**
     * A list whose instances were looked up.
     *
     * @param places for each message of the list its stored message, or null
     * @param saw the newest reading that contains one of them, which is what the caller has seen; null if there is none
     */
    @SuppressWarnings("ArrayRecordComponent") // The only caller adds the places that it finds elsewhere.
    record Recognized(@Nullable StoredPosition[] places, @Nullable Reading saw) {}

    private final WeakInstances<Origin> origins = new WeakInstances<>();
    private final AtomicLong readings = new AtomicLong();

    /**
     * Records the messages that a read returns.
     *
     * @param key the memory
     * @param reading what the memory shows
     * @param messages the messages that the caller receives: the first ones of the reading
     */
    void add(MemoryKey key, Reading reading, List<ChatMessage> messages) {
        add(key, reading, messages, at -> false);
    }

    /**
     * Records a list that a caller has set: the first messages that the memory shows now.
     *
     * @param given marks the list's places whose instances a read returned, as messages that are {@linkplain #forget
     * forgotten}
     */
    void set(MemoryKey key, Reading reading, List<ChatMessage> list, BitSet given) {
        add(key, reading, list, at -> !given.get(at));
    }

    private void add(MemoryKey key, Reading reading, List<ChatMessage> messages, IntPredicate own) {
        origins.clean();
        long number = readings.incrementAndGet();
        for (int at = 0; at < messages.size(); at++) {
            ChatMessage message = messages.get(at);
            Origin origin = new Origin(key, number, reading, at, own.test(at), changeable(message));
            origins.change(message, before -> merge(before, origin));
        }
    }

    /**
     * Returns the hash of the parts of a message that a caller can change. The texts and contents of LangChain4j's messages
     * are immutable, and hashing a long text costs as much as decoding it.
     */
    static int changeable(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return Objects.hashCode(user.attributes());
        }
        if (message instanceof AiMessage ai) {
            return Objects.hashCode(ai.attributes());
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return Objects.hashCode(result.attributes());
        }
        return message instanceof SystemMessage ? 0 : message.hashCode();
    }

    /**
     * Adds a reading. It replaces an older reading of the same message. An instance that a read returned remains one.
     */
    private static List<Origin> merge(List<Origin> before, Origin origin) {
        if (before.isEmpty()) {
            return List.of(origin);
        }
        boolean own = origin.own() && before.stream().filter(origin::isSame).allMatch(Origin::own);
        List<Origin> merged = new ArrayList<>(before);
        merged.removeIf(origin::isSame);
        merged.add(new Origin(origin.key(), origin.number(), origin.reading(), origin.at(), own, origin.hash()));
        return merged;
    }

    /**
     * Returns whether an instance was returned by a read of a memory and is unchanged.
     *
     * @param key the memory
     * @param epoch the epoch in which it was returned
     * @param message the instance
     * @return whether it was returned and is unchanged
     */
    boolean holds(MemoryKey key, long epoch, ChatMessage message) {
        return unchanged(key, message).anyMatch(origin -> origin.epoch() == epoch && !origin.own());
    }

    /** Returns the ids of the stored messages of an unchanged instance in a memory. */
    Set<String> ids(MemoryKey key, ChatMessage message) {
        return unchanged(key, message).map(origin -> origin.place().id()).collect(Collectors.toSet());
    }

    private Stream<Origin> unchanged(MemoryKey key, ChatMessage message) {
        int hash = changeable(message);
        return find(key, message).filter(origin -> origin.hash() == hash);
    }

    /**
     * Looks up the instances of a list. Each stored message is found once. An instance that occurs again is a new
     * message.
     */
    Recognized recognize(MemoryKey key, List<ChatMessage> list) {
        List<List<Origin>> found =
                list.stream().map(message -> find(key, message).toList()).toList();
        Origin newest = found.stream()
                .flatMap(List::stream)
                .max(Comparator.comparingLong(Origin::number))
                .orElse(null);
        @Nullable StoredPosition[] places = new StoredPosition[list.size()];
        if (newest == null) {
            return new Recognized(places, null);
        }
        Set<String> used = new HashSet<>();
        int from = 0;
        boolean whole = true;
        for (int i = 0; i < places.length; i++) {
            int hash = found.get(i).isEmpty() ? 0 : changeable(list.get(i));
            for (Origin origin : found.get(i)) {
                boolean ofNewest = origin.number() == newest.number();
                boolean fits = !origin.own() || (ofNewest && origin.at() >= from);
                if (places[i] == null
                        && fits
                        && origin.epoch() == newest.epoch()
                        && origin.hash() == hash
                        && used.add(origin.place().id())) {
                    places[i] = origin.place();
                    whole &= origin.reading().whole();
                    from = ofNewest ? origin.at() + 1 : from;
                }
            }
        }
        return new Recognized(
                places, whole ? newest.reading() : newest.reading().ofSelected());
    }

    /** Returns whether a list contains an instance that was returned before the memory was erased. */
    boolean holdsErased(MemoryKey key, long epoch, List<ChatMessage> list) {
        return list.stream()
                .flatMap(message -> find(key, message))
                .anyMatch(origin -> origin.epoch() < epoch && !origin.own());
    }

    /**
     * Removes the mapping of an instance to a stored message that does not exist in a store that was restored to an
     * older state. If the same instance is stored again, it is that message from then on.
     *
     * @return whether a read returned the instance as that message
     */
    boolean forget(MemoryKey key, ChatMessage message, String id) {
        Predicate<Origin> isLost =
                origin -> origin.key().equals(key) && origin.place().id().equals(id);
        boolean given = find(key, message).anyMatch(isLost.and(origin -> !origin.own()));
        origins.change(message, known -> known.stream().filter(isLost.negate()).toList());
        return given;
    }

    /**
     * Removes the mappings of a caller's own instances.
     *
     * @return whether no read returned any of the instances
     */
    boolean forgetOwn(MemoryKey key, List<ChatMessage> list) {
        boolean allOwn = list.stream().flatMap(message -> find(key, message)).allMatch(Origin::own);
        if (allOwn) {
            list.forEach(message -> origins.change(message, known -> known.stream()
                    .filter(origin -> !origin.key().equals(key))
                    .toList()));
        }
        return allOwn;
    }

    /** Returns the number of known instances. */
    int size() {
        return origins.size();
    }

    private Stream<Origin> find(MemoryKey key, ChatMessage message) {
        return origins.get(message).stream().filter(origin -> origin.key().equals(key));
    }
}
