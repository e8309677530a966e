package io.github.keepsake4j.backend;

import io.github.keepsake4j.base.Uninterrupted;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases the leases of one process. A release that fails is repeated in the background until it succeeds or the lease
 * has expired. So an outage at the end of some work blocks other processes only a little longer than it lasts.
 * Thread-safe.
 */
public final class LeaseReturns {

    private static final Logger LOG = LoggerFactory.getLogger(LeaseReturns.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    private final Function<Duration, Executor> later;
    private final LongSupplier nanoTime;

    /** The leases of this process that may still be in the log although their work is over. */
    private final Map<Work, Set<Left>> left = new ConcurrentHashMap<>();

    private record Work(MemoryKey key, String name) {}

    /**
     * Creates an instance without leases.
     *
     * @param later returns an executor that runs blocking work after a pause
     */
    public LeaseReturns(Function<Duration, Executor> later) {
        this(later, System::nanoTime);
    }

    /**
     * Creates an instance with a clock, for tests.
     *
     * @param later returns an executor that runs blocking work after a pause
     * @param nanoTime returns the time in nanoseconds, as {@link System#nanoTime()} does
     */
    public LeaseReturns(Function<Duration, Executor> later, LongSupplier nanoTime) {
        this.later = later;
        this.nanoTime = nanoTime;
    }

    /**
     * Releases a lease whose work is over. Never fails.
     *
     * @param log the log that keeps the lease
     * @param key the memory
     * @param lease the lease's name and owner
     * @param duration the time from now until the lease has expired
     * @param released called when the lease was released in the background; not called if it was released at once
     */
    public void release(MessageLog log, MemoryKey key, Owned lease, Duration duration, Runnable released) {
        Left one = new Left(log, new Work(key, lease.name()), lease.owner(), duration, released);
        if (!one.isReleased()) {
            one.keep();
        }
    }

    /**
     * Releases a lease that may have been taken although the call failed. Such leases of one memory are released together,
     * one after the other, so that many calls during an outage do not multiply.
     *
     * @param log the log that keeps the lease
     * @param key the memory
     * @param lease the lease's name and owner
     * @param duration the time from now until the lease has expired
     */
    public void releaseUnknown(MessageLog log, MemoryKey key, Owned lease, Duration duration) {
        Work work = new Work(key, lease.name());
        if (left.getOrDefault(work, Set.of()).stream().noneMatch(there -> there.takesOver(lease.owner(), duration))) {
            new Left(log, work, lease.owner(), duration, () -> {}).keep();
        }
    }

    /**
     * Takes a lease. Work of this process that is over must not block it. Its leases are released only then, so that a
     * store that hangs is waited for once.
     *
     * @param log the log that keeps the lease
     * @param key the memory
     * @param lease the lease's name and owner
     * @param duration the time for which it is taken
     * @return false if another owner holds it
     */
    public boolean acquire(MessageLog log, MemoryKey key, Owned lease, Duration duration) {
        try {
            boolean taken =
                    log.acquireLease(key, lease.name(), lease.owner(), duration).isPresent();
            Set<Left> over = left.get(new Work(key, lease.name()));
            if (!taken && over != null) {
                over.forEach(Left::isReleased);
                taken = log.acquireLease(key, lease.name(), lease.owner(), duration)
                        .isPresent();
            }
            return taken;
        } catch (RuntimeException e) {
            releaseUnknown(log, key, lease, duration);
            throw e;
        }
    }

    /**
     * Identifies a lease of a memory.
     *
     * @param name the kind of work
     * @param owner the owner; it takes a lease only once
     */
    public record Owned(String name, String owner) {}

    /** A lease whose work is over, and others of the same work that may have been taken. */
    private final class Left {

        private final MessageLog log;
        private final Work work;
        private final Deque<String> owners = new ArrayDeque<>();
        private final Runnable released;
        private final ReentrantLock statement = new ReentrantLock();
        private long expires;
        private boolean gone;

        Left(MessageLog log, Work work, String owner, Duration duration, Runnable released) {
            this.log = log;
            this.work = work;
            this.owners.add(owner);
            this.expires = nanoTime.getAsLong() + duration.toNanos();
            this.released = released;
        }

        void keep() {
            left.compute(work, (same, there) -> {
                Set<Left> all = there == null ? ConcurrentHashMap.newKeySet() : there;
                all.add(this);
                return all;
            });
            later.apply(FIRST_PAUSE).execute(() -> retry(FIRST_PAUSE));
        }

        /** Releases another owner's lease too. Returns false if it is too late for that. */
        boolean takesOver(String owner, Duration duration) {
            statement.lock();
            try {
                if (!gone) {
                    owners.add(owner);
                    expires = nanoTime.getAsLong() + duration.toNanos();
                }
                return !gone;
            } finally {
                statement.unlock();
            }
        }

        private void retry(Duration pause) {
            if (isReleased()) {
                return;
            }
            Duration longer = pause.multipliedBy(2);
            Duration next = longer.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : longer;
            later.apply(next).execute(() -> retry(next));
        }

        /** Tries to release the lease. Returns true if it needs no further attempt. */
        boolean isReleased() {
            return Uninterrupted.call(this::release);
        }

        private boolean release() {
            statement.lock();
            try {
                if (gone) {
                    return true;
                }
                while (!owners.isEmpty()) {
                    log.releaseLease(work.key(), work.name(), owners.element());
                    owners.remove();
                }
                remove();
            } catch (StorageClosedException e) {
                remove();
            } catch (RuntimeException e) {
                failed(e);
            } finally {
                statement.unlock();
            }
            return gone;
        }

        private void failed(RuntimeException error) {
            if (nanoTime.getAsLong() - expires >= 0) {
                remove();
            } else if (!left.getOrDefault(work, Set.of()).contains(this)) {
                LOG.warn(
                        "Memory {}: the lease \"{}\" could not be released, and is tried again until it expires ({})",
                        work.key(),
                        work.name(),
                        error.toString());
            }
        }

        private void remove() {
            gone = true;
            boolean[] was = {false};
            left.computeIfPresent(work, (same, all) -> {
                was[0] = all.remove(this);
                return all.isEmpty() ? null : all;
            });
            if (was[0]) {
                released.run();
            }
        }
    }
}
