package io.github.keepsake4j.base;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs work that an interrupt of its thread must not cut off. Some pools and clients refuse a thread whose interrupt flag is
 * set. This class is not for users. Stateless.
 */
public final class Uninterrupted {

    /** The number of tries. Each interrupt may end one try. */
    private static final int TRIES = 3;

    private Uninterrupted() {}

    /**
     * Calls work with the thread's interrupt flag cleared. Afterwards the flag is set if it was set before, or if the thread
     * was interrupted meanwhile. Work that fails and leaves the flag set is called again, at most {@value #TRIES} times in
     * all, so this takes no longer than three tries of the work take.
     *
     * @param work the work, which may be called again after an exception
     * @param <T> the type of its result
     * @return its result
     */
    public static <T extends @Nullable Object> T call(Supplier<T> work) {
        boolean interrupted = Thread.interrupted();
        try {
            for (int tries = 1; ; tries++) {
                try {
                    return work.get();
                } catch (RuntimeException e) {
                    if (tries == TRIES || !Thread.interrupted()) {
                        throw e;
                    }
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Waits for a lock even if the thread is interrupted, because a cancelled caller must not lose its last append.
     *
     * @param lock the lock
     * @param deadline until when to wait, by {@link System#nanoTime()}
     * @return whether it is taken
     */
    public static boolean lock(ReentrantLock lock, long deadline) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return lock.tryLock(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
