package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.view.Reading;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The lists that memories showed last, each with its position. While a memory is at that position, its list need not be
 * read again. The messages are kept as text, so each caller receives instances of its own, as from a read. Bounded by
 * the length of the texts, so it never fills the heap. Thread-safe.
 */
final class RecentLists {

    /** The maximum number of characters of all lists. */
    private static final long LIMIT = 16_000_000;

    /** The number of characters that a list counts at least, so that no more than 1,000 lists are kept. */
    private static final long LEAST = 16_000;

    /** The number of characters that a message counts beside its text. */
    private static final long BESIDE_TEXT = 200;

    private static final MessageCodec CODEC = new MessageCodec();

    /**
     * A list.
     *
     * @param reading its position
     * @param texts the messages' texts by their ids, in order
     * @param size what the list counts
     */
    record Kept(Reading reading, Map<String, String> texts, long size) {

        /**
         * Returns the messages.
         *
         * @return a new, mutable list of new instances
         */
        List<ChatMessage> messages() {
            List<ChatMessage> messages = new ArrayList<>(texts.size());
            texts.values().forEach(text -> messages.add(CODEC.decode(text)));
            return messages;
        }
    }

    private final RecentlyUsed<MemoryKey, Kept> lists = new RecentlyUsed<>(LIMIT, Kept::size);

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
     * Sets the list that a memory showed last. If the reading is not {@link Reading#whole()}, the list is not known from
     * now on.
     *
     * @param key the memory
     * @param reading what the memory shows
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

    /** A stored message never changes, so the texts that are known are taken over. */
    private static @Nullable Kept kept(Reading reading, List<ChatMessage> messages, @Nullable Kept before) {
        List<String> ids = reading.ids();
        if (messages.size() != ids.size()) {
            return null;
        }
        Map<String, String> known =
                before != null && isSameEpoch(before.reading(), reading) ? before.texts() : Map.of();
        Map<String, String> texts = new LinkedHashMap<>();
        long size = 0;
        for (int at = 0; at < messages.size() && size <= LIMIT; at++) {
            String id = ids.get(at);
            String text = known.get(id);
            text = text == null ? CODEC.encode(messages.get(at)) : text;
            texts.put(id, text);
            size += BESIDE_TEXT + text.length();
        }
        // A list that is longer than the limit, or that has a message twice.
        return texts.size() == messages.size() ? new Kept(reading, texts, Math.max(LEAST, size)) : null;
    }

    private static boolean isSameEpoch(Reading reading, Reading other) {
        return reading.position().epoch() == other.position().epoch();
    }
}
