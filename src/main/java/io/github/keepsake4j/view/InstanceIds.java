package io.github.keepsake4j.view;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The ids under which instances were stored or shown, to return the id of a message object to a caller. Unlike
 * {@link HandedOut}, it does not affect the meaning of a list that a caller sets. Thread-safe.
 */
final class InstanceIds {

    /** The maximum number of ids that are kept for one instance. From two on, the id is not certain in any case. */
    private static final int MOST = 16;

    private record Known(MemoryKey key, String id, int hash) {}

    private final WeakInstances<List<Known>> known = new WeakInstances<>();

    void add(MemoryKey key, ChatMessage message, String id) {
        known.clean();
        List<Known> added = List.of(new Known(key, id, HandedOut.changeable(message)));
        known.merge(message, added, InstanceIds::merge);
    }

    private static List<Known> merge(List<Known> before, List<Known> added) {
        List<Known> all =
                Stream.concat(before.stream(), added.stream()).distinct().toList();
        return List.copyOf(all.subList(Math.max(0, all.size() - MOST), all.size()));
    }

    /** Returns the ids of an instance in a memory. */
    Set<String> find(MemoryKey key, ChatMessage message) {
        int hash = HandedOut.changeable(message);
        return Objects.requireNonNullElse(known.get(message), List.<Known>of()).stream()
                .filter(each -> each.key().equals(key) && each.hash() == hash)
                .map(Known::id)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }
}
