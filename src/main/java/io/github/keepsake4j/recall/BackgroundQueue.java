package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageClosedException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does some work for items in the background, one item after the other. An item that is added again before its turn is
 * done once. An item that failed is tried again, after longer and longer pauses. It has no thread of its own.
 * Thread-safe.
 *
 * @param <T> the items
 */
final class BackgroundQueue<T> {

    private static final Logger LOG = LoggerFactory.getLogger(BackgroundQueue.class);

    /** The largest number of waiting items. */
    private static final int MAX_WAITING = 100_000;

    private static final int MAX_TRIES = 8;

    private final String what;
    private final Predicate<T> work;
    private final Duration pause;
    private final Executor executor;
    private final Function<Duration, Executor> later;

    private final Set<T> waiting = new LinkedHashSet<>();
    private final Set<T> inWork = new LinkedHashSet<>();
    private boolean scheduled;
    private boolean stopped;
    private int failures;

    /**
     * Creates an empty queue.
     *
     * @param what names the work in a warning
     * @param work does the work for an item; returns false if the item must be tried again
     * @param pause the time for which items are collected before the work begins
     * @param executor runs the work
     * @param later returns an executor that runs something after a pause
     */
    BackgroundQueue(
            String what, Predicate<T> work, Duration pause, Executor executor, Function<Duration, Executor> later) {
        this.what = what;
        this.work = work;
        this.pause = pause;
        this.executor = task -> tryToRun(executor, task);
        this.later = later;
    }

    /**
     * Runs a task. An executor that refuses work was shut down because the application ends. The index continues at the
     * next start.
     */
    static void tryToRun(Executor executor, Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug(
                    "The executor refused work for the index ({})", e.getClass().getName());
        }
    }

    /** Returns what a warning says of a failure. Some stay until a user follows the advice of the error. */
    static String reason(RuntimeException e) {
        return e instanceof KeepsakeException known && !known.isRetryable()
                ? String.valueOf(e.getMessage())
                : e.getClass().getName();
    }

    /**
     * Adds an item.
     *
     * @return false if too many items wait; then it was not added
     */
    boolean add(T item) {
        synchronized (this) {
            if (stopped) {
                return true;
            }
            if (waiting.size() >= MAX_WAITING) {
                return false;
            }
            waiting.add(item);
            if (scheduled) {
                return true;
            }
            scheduled = true;
        }
        schedule(pause);
        return true;
    }

    private void schedule(Duration after) {
        later.apply(after).execute(() -> executor.execute(this::work));
    }

    /** Returns the items that are worked on or wait. */
    synchronized List<T> items() {
        return Stream.concat(inWork.stream(), waiting.stream()).toList();
    }

    synchronized void stop() {
        stopped = true;
        waiting.clear();
    }

    synchronized boolean isStopped() {
        return stopped;
    }

    private void work() {
        while (true) {
            T item;
            synchronized (this) {
                if (waiting.isEmpty()) {
                    scheduled = false;
                    return;
                }
                item = waiting.iterator().next();
                waiting.remove(item);
                inWork.add(item);
            }
            boolean failed = true;
            try {
                failed = !work.test(item);
                failures = failed ? failures : 0;
            } catch (StorageClosedException e) {
                stop();
            } catch (RuntimeException e) {
                failures++;
                LOG.warn("The {} of {} failed and is tried again ({})", what, item, reason(e));
            } finally {
                synchronized (this) {
                    inWork.remove(item);
                    if (failed && !stopped) {
                        waiting.add(item);
                    }
                }
            }
            if (failed) {
                schedule(pause.multipliedBy(1L << Math.min(failures, MAX_TRIES)));
                return;
            }
        }
    }

    /** Does all work that waits now, for tests. */
    void drain() {
        while (true) {
            T item;
            synchronized (this) {
                if (waiting.isEmpty()) {
                    return;
                }
                item = waiting.iterator().next();
                waiting.remove(item);
            }
            while (!work.test(item)) {
                Thread.onSpinWait();
            }
        }
    }
}
