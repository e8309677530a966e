package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.message.MemoryKey;

/**
 * A bounded set of memories with a recently observed property. It is only a hint about which statement to send.
 * Thread-safe.
 */
final class RecentMemories {

    static final int MOST = 10_000;

    private final RecentlyUsed<MemoryKey, Boolean> keys = new RecentlyUsed<>(MOST);

    void add(MemoryKey key) {
        if (!contains(key)) {
            keys.put(key, true);
        }
    }

    void remove(MemoryKey key) {
        keys.remove(key);
    }

    boolean contains(MemoryKey key) {
        return keys.get(key) != null;
    }
}
