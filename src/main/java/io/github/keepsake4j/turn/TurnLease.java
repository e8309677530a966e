package io.github.keepsake4j.turn;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lease of one turn. It is acquired, renewed, and released when the last share is returned. Thread-safe. */
final class TurnLease {

    private static final Logger LOG = LoggerFactory.getLogger(TurnLease.class);

    /** The name of the lease in the log. */
    static final String LEASE = "turn";

    /**
     * A lease is renewed when this fraction of its duration has passed. So renewals are rare, and three more attempts
     * remain if one fails.
     */
    private static final int RENEWED_PARTS = 4;

    private final MessageLog log;
    private final MemoryKey key;
    private final Duration duration;
    private final LongSupplier nanoTime;
    private final String owner = Ids.next();

    /**
     * Held during a statement, so that no renewal follows the release. Such a renewal would leave a lease that is never
     * released.
     */
    private final ReentrantLock statement = new ReentrantLock();

    private volatile long renewedAt;
    private volatile boolean lost;
    private int shares = 1;

    TurnLease(MessageLog log, MemoryKey key, Duration duration, LongSupplier nanoTime) {
        this.log = log;
        this.key = key;
        this.duration = duration;
        this.nanoTime = nanoTime;
    }

    MemoryKey key() {
        return key;
    }

    /** Acquires or renews the lease. Returns false if another turn holds it. */
    boolean acquire() {
        // The time is taken before the statement, so that the lease ends later than calculated here and not earlier.
        long now = nanoTime.getAsLong();
        if (log.acquireLease(key, LEASE, owner, duration).isEmpty()) {
            return false;
        }
        renewedAt = now;
        return true;
    }

    /**
     * Adds a share, so that a turn within this turn keeps the lease. The caller must hold a share, because the turn may
     * be over otherwise.
     */
    TurnLease share() {
        statement.lock();
        try {
            shares++;
            return this;
        } finally {
            statement.unlock();
        }
    }

    /** Renews the lease if it is due. Never fails, because the append that preceded it is already stored. */
    void renew() {
        if (!isDue() || !statement.tryLock()) {
            return;
        }
        try {
            if (isDue() && shares > 0 && !acquire()) {
                lost();
            }
        } catch (RuntimeException e) {
            LOG.warn("Memory {}: the lease of a turn could not be renewed; the next append tries again", key, e);
        } finally {
            statement.unlock();
        }
    }

    /**
     * Records that another turn has acquired the lease. This turn continues, because none of its messages may be lost.
     */
    void lost() {
        statement.lock();
        try {
            if (!lost && shares > 0) {
                lost = true;
                LOG.warn("Memory {}: a turn outlived its lease of {}, and another turn has begun", key, duration);
            }
        } finally {
            statement.unlock();
        }
    }

    /**
     * Returns a share, and releases the lease with the last one. Never fails: a lease that cannot be released expires.
     *
     * @return whether the turn is over
     */
    boolean leave() {
        // Some connection pools refuse an interrupted thread. The lease would then exclude other turns until it
        // expires.
        boolean interrupted = Thread.interrupted();
        statement.lock();
        try {
            if (--shares > 0) {
                return false;
            }
            log.releaseLease(key, LEASE, owner);
            return true;
        } catch (RuntimeException e) {
            LOG.warn("Memory {}: the lease of a turn could not be released; it expires within {}", key, duration, e);
            return true;
        } finally {
            statement.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean isDue() {
        return !lost && nanoTime.getAsLong() - renewedAt >= duration.toNanos() / RENEWED_PARTS;
    }
}
