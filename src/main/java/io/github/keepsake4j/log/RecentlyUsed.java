package io.github.keepsake4j.log;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A bounded map that forgets the entry that was not used for the longest time. Thread-safe.
 *
 * @param <K> the keys
 * @param <V> the values
 */
public final class RecentlyUsed<K, V> {

    private final Map<K, V> entries;

    /**
     * Makes an empty map.
     *
     * @param limit how many entries at most, 1 or more
     */
    public RecentlyUsed(int limit) {
        entries = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > limit;
            }
        };
    }

    /**
     * Returns a value, which is then the most recently used one.
     *
     * @param key the key
     * @return the value, or null if there is none
     */
    public synchronized @Nullable V get(K key) {
        return entries.get(key);
    }

    /**
     * Sets a value.
     *
     * @param key the key
     * @param value the value
     */
    public synchronized void put(K key, V value) {
        entries.put(key, value);
    }

    /**
     * Removes a value, if there is one.
     *
     * @param key the key
     */
    public synchronized void remove(K key) {
        entries.remove(key);
    }
}
