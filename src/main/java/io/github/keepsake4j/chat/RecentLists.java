package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.codec.KeptMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.view.Reading;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The lists that memories showed last, each with its position. While a memory is at that position, its list is not read
 * again. Bounded by the length of the texts, so it never fills the heap. Thread-safe.
 */
final class RecentLists {

    /**
     * A list.
     *
     * @param reading its position
     * @param kept the messages by their ids, in order
     * @param size the size of the list
     */
    record Kept(Reading reading, Map<String, KeptMessage> kept, long size) {

        /**
         * Returns the messages.
         *
         * @return a new, mutable list of new instances
         */
        List<ChatMessage> messages() {
            List<ChatMessage> messages = new ArrayList<>(kept.size());
            kept.values().forEach(message -> messages.add(message.instance()));
            return messages;
        }
    }

    private final RecentlyUsed<MemoryKey, Kept> lists = new RecentlyUsed<>(KeptMessage.ROOM, Kept::size);

    /**
     * Returns the list that a memory showed last.
     *
     * @param key the memory
     * @return the list, or null if it is not known
     */
    @Nullable
    Kept get(MemoryKey key) {
        return lists.get(key);
    }

    /**
     * Sets the list that a memory showed last. If the reading is not {@link Reading#whole()}, the list is unknown from
     * now on.
     *
     * @param key the memory
     * @param reading the reading of the memory
     * @param messages the messages of the reading
     */
    void put(MemoryKey key, Reading reading, List<ChatMessage> messages) {
        Kept now = reading.whole() ? kept(reading, messages, lists.get(key)) : null;
        if (now == null) {
            lists.remove(key);
        } else {
            lists.put(key, now);
        }
    }

    /** A stored message never changes, so known messages are reused. */
    private static @Nullable Kept kept(Reading reading, List<ChatMessage> messages, @Nullable Kept before) {
        List<String> ids = reading.ids();
        if (messages.size() != ids.size()) {
            return null;
        }
        Map<String, KeptMessage> known = before != null
                        && before.reading().position().epoch()
                                == reading.position().epoch()
                ? before.kept()
                : Map.of();
        Map<String, KeptMessage> all = new LinkedHashMap<>();
        long size = 0;
        for (int at = 0; at < messages.size() && size <= KeptMessage.ROOM; at++) {
            String id = ids.get(at);
            KeptMessage message = known.get(id);
            message = message == null ? KeptMessage.of(messages.get(at)) : message;
            all.put(id, message);
            size += message.size();
        }
        // A list that is longer than the limit, or that has a message twice.
        return all.size() == messages.size() ? new Kept(reading, all, Math.max(KeptMessage.LEAST_ROOM, size)) : null;
    }
}
