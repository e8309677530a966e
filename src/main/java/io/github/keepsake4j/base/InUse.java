package io.github.keepsake4j.base;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A value for each key that is in use, such as a lock. It is made for the first use and forgotten after the last one.
 * Thread-safe.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class InUse<K, V> {

    private record Use<V>(V value, int users) {}

    private final ConcurrentMap<K, Use<V>> uses = new ConcurrentHashMap<>();
    private final Supplier<V> maker;

    /**
     * Creates the object.
     *
     * @param maker makes a value
     */
    public InUse(Supplier<V> maker) {
        this.maker = maker;
    }

    /**
     * Begins a use of a key, to be followed by {@link #leave}.
     *
     * @param key the key
     * @return its value
     */
    public V enter(K key) {
        return uses.merge(key, new Use<>(maker.get(), 1), (now, first) -> new Use<>(now.value, now.users + 1)).value;
    }

    /**
     * Ends a use of a key.
     *
     * @param key the key
     */
    public void leave(K key) {
        uses.computeIfPresent(key, (any, now) -> now.users == 1 ? null : new Use<>(now.value, now.users - 1));
    }

    /**
     * Returns the value of a key.
     *
     * @param key the key
     * @return the value, or null if the key is not in use; the answer may be old
     */
    public @Nullable V find(K key) {
        Use<V> use = uses.get(key);
        return use == null ? null : use.value;
    }

    /**
     * Gives later uses of a key a new value.
     *
     * @param key the key
     * @param old the value that they would get
     */
    public void renew(K key, V old) {
        uses.computeIfPresent(key, (any, now) -> now.value == old ? new Use<>(maker.get(), now.users) : now);
    }
}
