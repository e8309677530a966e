package io.github.keepsake4j.base;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A bounded map that removes the least recently used entries. Thread-safe.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class RecentlyUsed<K, V> {

    private final Map<K, V> entries = new LinkedHashMap<>(16, 0.75f, true);
    private final long limit;
    private final ToLongFunction<V> size;
    private long total;

    /**
     * Creates an empty map.
     *
     * @param limit the maximum number of entries, 1 or more
     */
    public RecentlyUsed(int limit) {
        this(limit, value -> 1);
    }

    /**
     * Creates an empty map whose values have sizes.
     *
     * @param limit the maximum of the sum of the sizes; a larger value is not kept
     * @param size returns the size of a value, 0 or more and always the same
     */
    public RecentlyUsed(long limit, ToLongFunction<V> size) {
        this.limit = limit;
        this.size = size;
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
        boolean isNew = !value.equals(entries.get(key));
        remove(key);
        if (size.applyAsLong(value) > limit) {
            return isNew;
        }
        entries.put(key, value);
        total += size.applyAsLong(value);
        for (Iterator<V> eldest = entries.values().iterator(); total > limit; eldest.remove()) {
            total -= size.applyAsLong(eldest.next());
        }
        return isNew;
    }

    /**
     * Removes a value, if there is one.
     *
     * @param key the key
     */
    public synchronized void remove(K key) {
        V removed = entries.remove(key);
        if (removed != null) {
            total -= size.applyAsLong(removed);
        }
    }
}
