package io.github.keepsake4j.base;

import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs work under a lock, on which a virtual thread waits without its carrier. */
public final class Locked {

    private Locked() {}

    /**
     * Runs work while the thread has a lock.
     *
     * @param lock the lock
     * @param work the work
     * @param <T> the type of its result
     * @return its result
     */
    public static <T extends @Nullable Object> T by(Lock lock, Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }
}
