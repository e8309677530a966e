package io.github.keepsake4j.log;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A bounded map that removes the least recently used entry. Thread-safe.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class RecentlyUsed<K, V> {

    private final Map<K, V> entries;

    /**
     * Creates an empty map.
     *
     * @param limit the maximum number of entries, 1 or more
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
     * Returns a value and makes it the most recently used one.
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
     * @return whether there was no equal value before
     */
    public synchronized boolean put(K key, V value) {
        return !value.equals(entries.put(key, value));
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
