package io.github.keepsake4j.sql;

import io.github.keepsake4j.base.DaemonThreads;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Cancels statements that run for too long. One thread checks all of them ten times a second, because the driver's
 * timer, which wakes a thread for each statement, costs up to a tenth of a short read. The thread starts with the first
 * statement, and ends with {@link #close} or when no statement ran for about a minute.
 */
final class Watchdog implements AutoCloseable {

    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int LONGEST_IDLE_PERIODS = 600;

    /** A statement while it runs. Its lock makes {@link #end} wait for a request to cancel that is being sent. */
    final class Watch {

        private final Statement statement;
        private final long deadline = System.nanoTime() + limitNanos;
        private boolean over;

        private Watch(Statement statement) {
            this.statement = statement;
        }

        /** Ends the watch. Later statements on the connection are not cancelled. */
        void end() {
            running.remove(this);
            synchronized (this) {
                over = true;
            }
        }

        private synchronized void cancelIfLate() {
            if (over || System.nanoTime() - deadline < 0) {
                return;
            }
            over = true;
            try {
                statement.cancel();
            } catch (SQLException | RuntimeException e) {
                // The server cannot be reached. Then the statement ends with the connection.
            }
        }
    }

    private final long limitNanos;
    private final Set<Watch> running = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
    private volatile boolean closed;

    /** Creates the object without starting the thread. */
    Watchdog(Duration limit) {
        this.limitNanos = limit.toNanos();
    }

    /** Watches a statement that is about to run. */
    Watch watch(Statement statement) {
        Watch watch = new Watch(statement);
        running.add(watch);
        if (thread.get() == null) {
            start();
        }
        return watch;
    }

    /** Returns whether the thread is there. */
    boolean isAwake() {
        return thread.get() != null;
    }

    /** Lets the thread end as soon as no statement runs. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread.get());
    }

    private void start() {
        Thread started = DaemonThreads.named("keepsake4j-watchdog").newThread(this::look);
        if (thread.compareAndSet(null, started)) {
            started.start();
        }
    }

    private void look() {
        int idlePeriods = 0;
        do {
            LockSupport.parkNanos(PERIOD_NANOS);
            running.forEach(Watch::cancelIfLate);
            idlePeriods = running.isEmpty() ? idlePeriods + 1 : 0;
        } while (idlePeriods == 0 || (idlePeriods < LONGEST_IDLE_PERIODS && !closed) || !mayLeave());
    }

    /** Ends the thread, unless a statement began that relies on it. */
    private boolean mayLeave() {
        thread.set(null);
        return running.isEmpty() || !thread.compareAndSet(null, Thread.currentThread());
    }
}
