package io.github.keepsake4j.base;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A fair, reentrant lock for each key that is in use. Threads that wait for a key get its lock in the order in which they
 * asked. This class is not for users. Thread-safe.
 *
 * @param <K> the type of the keys
 */
public final class KeyLocks<K> {

    private final InUse<K, ReentrantLock> locks = new InUse<>(() -> new ReentrantLock(true));

    /**
     * Returns whether a call holds the lock of a key or waits for it.
     *
     * @param key the key
     * @return whether it is in use; the answer may be old
     */
    public boolean isUsed(K key) {
        return locks.find(key) != null;
    }

    /**
     * Runs work while no other thread has the lock of a key.
     *
     * @param key the key
     * @param work the work
     * @param <T> the type of its result
     * @return its result
     */
    public <T extends @Nullable Object> T locked(K key, Supplier<T> work) {
        ReentrantLock lock = locks.enter(key);
        try {
            return Locked.by(lock, work);
        } finally {
            locks.leave(key);
        }
    }

    /**
     * Runs work while no other thread has the lock of a key, but waits no longer than a limit for the lock. The work then
     * runs without it, and calls that begin later get a new lock, so that a thread that hangs costs each other thread one
     * wait. The work also runs without the lock in a thread that is interrupted.
     *
     * @param key the key
     * @param limit the longest wait
     * @param work the work, which must be correct without the lock
     * @param <T> the type of its result
     * @return its result
     */
    public <T extends @Nullable Object> T lockedIfWithin(K key, Duration limit, Supplier<T> work) {
        ReentrantLock lock = locks.enter(key);
        try {
            if (isLockedWithin(lock, limit)) {
                try {
                    return work.get();
                } finally {
                    lock.unlock();
                }
            }
            if (!Thread.currentThread().isInterrupted()) {
                locks.renew(key, lock);
            }
            return work.get();
        } finally {
            locks.leave(key);
        }
    }

    private static boolean isLockedWithin(ReentrantLock lock, Duration limit) {
        try {
            return lock.tryLock(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
