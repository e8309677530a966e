package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.MemoryKey;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A bounded set of memories with a recently observed property. It is only a hint about which statement to send.
 * Thread-safe.
 */
final class RecentMemories {

    private static final int MOST = 10_000;

    private final Map<MemoryKey, Boolean> keys = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<MemoryKey, Boolean> eldest) {
            return size() > MOST;
        }
    };

    synchronized void add(MemoryKey key) {
        keys.put(key, true);
    }

    synchronized void remove(MemoryKey key) {
        keys.remove(key);
    }

    synchronized boolean contains(MemoryKey key) {
        return keys.get(key) != null;
    }
}
