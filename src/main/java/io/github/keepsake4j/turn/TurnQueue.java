package io.github.keepsake4j.turn;

import io.github.keepsake4j.base.InUse;
import io.github.keepsake4j.message.MemoryKey;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * The waiting turns of this process, in order of arrival. Only the first turn of each memory asks the log, at growing
 * intervals. It is woken when a turn of this process ends. Thread-safe.
 */
final class TurnQueue {

    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(250);

    private final InUse<MemoryKey, Waiting> queues = new InUse<>(Waiting::new);
    private final LongSupplier nanoTime;

    TurnQueue(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /**
     * Waits until an attempt succeeds.
     *
     * @param key the memory
     * @param nanos the maximum time to wait, in nanoseconds
     * @param attempt returns whether it succeeded
     * @return false if the time has run out
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    boolean await(MemoryKey key, long nanos, BooleanSupplier attempt) throws InterruptedException {
        long deadline = nanoTime.getAsLong() + nanos;
        Waiting waiting = queues.enter(key);
        try {
            // With a timeout, the semaphore is fair. Without one, this thread could overtake others.
            if (!waiting.first.tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
                return false;
            }
            try {
                return poll(waiting, deadline, attempt);
            } finally {
                waiting.first.release();
            }
        } finally {
            queues.leave(key);
        }
    }

    /** Wakes the waiting turn of a memory, because a turn of this process is over. */
    void wake(MemoryKey key) {
        Waiting waiting = queues.find(key);
        if (waiting != null) {
            waiting.ended.release();
        }
    }

    private boolean poll(Waiting waiting, long deadline, BooleanSupplier attempt) throws InterruptedException {
        long pause = FIRST_PAUSE;
        while (true) {
            // Drained before the attempt, so that a turn that ends right after it shortens the pause.
            waiting.ended.drainPermits();
            if (attempt.getAsBoolean()) {
                return true;
            }
            long left = deadline - nanoTime.getAsLong();
            if (left <= 0) {
                return false;
            }
            long jittered = ThreadLocalRandom.current().nextLong(pause / 2, pause + 1);
            boolean woken = waiting.ended.tryAcquire(Math.min(left, jittered), TimeUnit.NANOSECONDS);
            pause = woken ? FIRST_PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
        }
    }

    /** The waiting turns of one memory. */
    private static final class Waiting {

        final Semaphore first = new Semaphore(1, true);
        final Semaphore ended = new Semaphore(0);
    }
}
