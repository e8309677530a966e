package io.github.keepsake4j.log;

import io.github.keepsake4j.message.MemoryKey;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/**
 * Names messages of one or several memories, by their ids or by their sequences.
 *
 * @param ids the ids by memory; empty if the messages are named by their sequences
 * @param sequences the sequences by memory; empty if the messages are named by their ids
 * @param made whether {@link Found#made()} is read
 */
public record Selection(Map<MemoryKey, Set<String>> ids, Map<MemoryKey, Set<Long>> sequences, boolean made) {

    /** Copies the components. */
    public Selection {
        if (!ids.isEmpty() && !sequences.isEmpty()) {
            throw new IllegalArgumentException("a selection names ids or sequences");
        }
        ids = copy(ids);
        sequences = copy(sequences);
    }

    /**
     * Selects messages by their ids.
     *
     * @param ids the ids by memory, in any order
     * @return a selection that does not ask how the messages were made
     */
    public static Selection ofIds(Map<MemoryKey, ? extends Collection<String>> ids) {
        return new Selection(copy(ids), Map.of(), false);
    }

    /**
     * Selects messages by their sequences.
     *
     * @param sequences the sequences by memory, in any order
     * @return a selection that does not ask how the messages were made
     */
    public static Selection ofSequences(Map<MemoryKey, ? extends Collection<Long>> sequences) {
        return new Selection(Map.of(), copy(sequences), false);
    }

    private static <T> Map<MemoryKey, Set<T>> copy(Map<MemoryKey, ? extends Collection<T>> named) {
        return named.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, of -> Set.copyOf(of.getValue())));
    }

    /**
     * Asks also how the messages were made.
     *
     * @return a copy
     */
    public Selection withMade() {
        return new Selection(ids, sequences, true);
    }

    /**
     * Finds the messages of one memory after the other, for logs that find no others.
     *
     * @param byIds finds messages of a memory by their ids
     * @param bySequences finds messages of a memory by their sequences
     * @return the result of {@link MessageLog#find}
     */
    public Map<MemoryKey, List<Found>> each(
            BiFunction<MemoryKey, Set<String>, List<Found>> byIds,
            BiFunction<MemoryKey, Set<Long>, List<Found>> bySequences) {
        Map<MemoryKey, List<Found>> found = new HashMap<>();
        ids.forEach((key, wanted) -> found.put(key, byIds.apply(key, wanted)));
        sequences.forEach((key, wanted) -> found.put(key, bySequences.apply(key, wanted)));
        return found;
    }
}
