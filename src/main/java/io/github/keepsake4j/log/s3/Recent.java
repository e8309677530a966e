package io.github.keepsake4j.log.s3;

import java.lang.ref.SoftReference;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What was read or written last, by name. It goes when the heap gets tight. Thread-safe. */
final class Recent<T> {

    private final Map<String, SoftReference<T>> byName;

    Recent(int limit) {
        byName = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, SoftReference<T>> eldest) {
                return size() > limit;
            }
        };
    }

    synchronized @Nullable T get(String name) {
        SoftReference<T> reference = byName.get(name);
        return reference == null ? null : reference.get();
    }

    synchronized void put(String name, T value) {
        byName.put(name, new SoftReference<>(value));
    }

    synchronized void remove(String name) {
        byName.remove(name);
    }
}
