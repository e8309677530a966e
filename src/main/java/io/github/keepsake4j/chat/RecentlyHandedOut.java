package io.github.keepsake4j.chat;

import io.github.keepsake4j.message.MemoryKey;
import java.lang.ref.SoftReference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** What was handed out of the memories that were used last, as long as there is heap to spare. Thread-safe. */
final class RecentlyHandedOut {

    /** Enough for the conversations that one process has going on at a time. */
    private static final int MEMORIES = 1_000;

    private final Map<MemoryKey, SoftReference<HandedOut>> recent = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<MemoryKey, SoftReference<HandedOut>> eldest) {
            return size() > MEMORIES;
        }
    };

    synchronized @Nullable HandedOut get(MemoryKey key) {
        SoftReference<HandedOut> reference = recent.get(key);
        return reference == null ? null : reference.get();
    }

    synchronized void put(MemoryKey key, HandedOut newest) {
        recent.put(key, new SoftReference<>(newest));
    }

    /** Changes what is there; nothing happens if there is nothing. */
    synchronized void change(MemoryKey key, UnaryOperator<HandedOut> change) {
        HandedOut before = get(key);
        if (before != null) {
            put(key, change.apply(before));
        }
    }
}
