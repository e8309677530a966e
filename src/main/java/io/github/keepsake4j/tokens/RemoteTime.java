package io.github.keepsake4j.tokens;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time that one read may wait for counters that call a server. They are called on other threads, so that a server
 * that does not answer does not block a turn. Thread-safe.
 */
final class RemoteTime {

    /** How long one read waits, in all its calls. */
    static final Duration MOST = Duration.ofSeconds(1);

    /** The time for which a counter is not called after a read that waited until the limit. */
    static final Duration PAUSE = Duration.ofSeconds(30);

    private static final Logger LOG = LoggerFactory.getLogger(RemoteTime.class);

    private final Executor executor;
    private final LongSupplier nanoTime;
    private final AtomicLong left = new AtomicLong(MOST.toNanos());

    RemoteTime(Executor executor, LongSupplier nanoTime) {
        this.executor = Objects.requireNonNull(executor, "executor");
        this.nanoTime = Objects.requireNonNull(nanoTime, "nanoTime");
    }

    /** Returns the time for a call that belongs to no read. */
    static RemoteTime alone() {
        return new RemoteTime(RemoteTime::onNewThread, System::nanoTime);
    }

    /** Runs each call on a thread of its own. */
    static void onNewThread(Runnable call) {
        Thread thread = new Thread(call, "keepsake4j-counter");
        thread.setDaemon(true);
        thread.start();
    }

    /** Thrown when there was no time left to call a counter, or it did not answer in time. */
    static final class NoAnswerException extends RuntimeException {

        NoAnswerException(String message) {
            super(message, null, false, false);
        }
    }

    /** The time before which a counter is not called. Thread-safe. */
    static final class Pause {
        private boolean begun;
        private long since;

        synchronized boolean isOver(long now) {
            begun &= now - since < PAUSE.toNanos();
            return !begun;
        }

        synchronized void begin(long now) {
            begun = true;
            since = now;
        }
    }

    boolean isPaused(TokenCounter counter) {
        return !counter.pause.isOver(nanoTime.getAsLong());
    }

    /**
     * Calls a counter.
     *
     * @param call what it counts
     * @return the number of tokens
     * @throws NoAnswerException if there is no time left, or if the counter does not answer in it
     */
    int ask(TokenCounter counter, IntSupplier call) {
        if (isPaused(counter)) {
            throw new NoAnswerException("it did not answer in time before");
        }
        FutureTask<Integer> asked = new FutureTask<>(call::getAsInt);
        long from = System.nanoTime();
        try {
            executor.execute(asked);
            return asked.get(Math.max(0, left.get()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            counter.pause.begin(nanoTime.getAsLong());
            LOG.warn(
                    "Counter {} did not answer within {} ms in one read. For {} s its counts are estimated",
                    counter.name(),
                    MOST.toMillis(),
                    PAUSE.toSeconds());
            throw new NoAnswerException("it did not answer in time");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NoAnswerException("the thread that waited for it was interrupted");
        } finally {
            asked.cancel(true);
            left.addAndGet(from - System.nanoTime());
        }
    }
}
