package io.github.keepsake4j.turn;

import io.github.keepsake4j.backend.LeaseReturns;
import io.github.keepsake4j.base.Locked;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lease of one turn. It is taken, renewed in the background while the turn runs, and released when the last share is
 * returned. Thread-safe.
 */
final class TurnLease {

    private static final Logger LOG = LoggerFactory.getLogger(TurnLease.class);

    /** The name of the lease in the log. */
    static final String LEASE = "turn";

    /** A lease is renewed when this fraction of its duration has passed, so that a renewal may fail several times. */
    private static final int RENEWED_PARTS = 4;

    private static final Duration RETRY = Duration.ofMillis(500);

    /** The longest time for which a turn that is over stays in memory. */
    private static final Duration LONGEST_STEP = Duration.ofSeconds(15);

    private final MessageLog log;
    final MemoryKey key;
    private final TurnLeases.Times times;
    private final LeaseReturns returns;
    private final LeaseReturns.Owned lease = new LeaseReturns.Owned(LEASE, Ids.next());

    /**
     * Held during a statement, so that no renewal follows the release. Such a renewal would leave a lease that is never
     * released.
     */
    private final ReentrantLock statement = new ReentrantLock();

    private long begun;
    private boolean lost;
    private boolean failing;

    /** Whether the turn has waited for the store in vain. Its end does not wait again. */
    volatile boolean hangs;

    private int shares = 1;

    TurnLease(MessageLog log, MemoryKey key, TurnLeases.Times times, LeaseReturns returns) {
        this.log = log;
        this.key = key;
        this.times = times;
        this.returns = returns;
    }

    /** Takes the lease and begins to renew it. Returns false if another turn holds it. */
    boolean acquire() {
        begun = times.now();
        Duration first = times.next(begun);
        if (!returns.acquire(log, key, lease, first)) {
            return false;
        }
        renewAfter(pause(first));
        return true;
    }

    /**
     * Adds a share, so that a turn within this turn keeps the lease. The caller must hold a share, because the turn may
     * be over otherwise.
     */
    TurnLease share() {
        Locked.by(statement, () -> ++shares);
        return this;
    }

    /**
     * Returns a share, and releases the lease with the last one. Never fails.
     *
     * @param released called when the lease was released later, in the background
     * @return whether the turn is over
     */
    boolean leave(Runnable released) {
        if (Locked.by(statement, () -> --shares) > 0) {
            return false;
        }
        // A turn that is over is not renewed, so it cannot be lost any more.
        if (!lost && hangs) {
            returns.releaseUnknown(log, key, lease, times.lease());
        } else if (!lost) {
            returns.release(log, key, lease, times.lease(), released);
        }
        return true;
    }

    private void renewAfter(Duration pause) {
        Duration step = times.shorter(pause, LONGEST_STEP);
        times.after(step, () -> {
            if (step.equals(pause)) {
                renew();
            } else if (Locked.by(statement, () -> shares) > 0) {
                renewAfter(pause.minus(step));
            }
        });
    }

    private void renew() {
        statement.lock();
        try {
            if (shares == 0) {
                return;
            }
            Duration next = times.next(begun);
            if (next.isZero()) {
                LOG.warn(
                        "Memory {}: a turn takes longer than its limit of {}; other turns may begin",
                        key,
                        times.limit());
            } else if (isHeldFor(next)) {
                renewAfter(failing ? times.shorter(RETRY, pause(next)) : pause(next));
            }
        } finally {
            statement.unlock();
        }
    }

    /** Renews the lease. Returns false if no further try is needed. A turn continues without its lease. */
    private boolean isHeldFor(Duration next) {
        try {
            lost = log.acquireLease(key, LEASE, lease.owner(), next).isEmpty();
            failing = false;
            if (lost) {
                LOG.warn("Memory {}: a turn outlived its lease of {}, and another turn has begun", key, times.lease());
            }
            return !lost;
        } catch (StorageClosedException e) {
            return false;
        } catch (RuntimeException e) {
            if (!failing) {
                LOG.warn(
                        "Memory {}: the lease of a turn could not be renewed, and is tried again ({})",
                        key,
                        e.toString());
            }
            failing = true;
            return true;
        }
    }

    /** Returns the pause before the next renewal. A lease that ends with the turn's limit is not renewed. */
    private Duration pause(Duration taken) {
        return taken.compareTo(times.lease()) < 0 ? taken : taken.dividedBy(RENEWED_PARTS);
    }
}
