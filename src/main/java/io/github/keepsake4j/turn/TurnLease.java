package io.github.keepsake4j.turn;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One turn's lease: taken, renewed, and given back when the last who shares it leaves. Thread-safe. */
final class TurnLease {

    private static final Logger LOG = LoggerFactory.getLogger(TurnLease.class);

    /** The name of the lease in the log. */
    static final String LEASE = "turn";

    /** A lease is renewed when this part of it has passed: seldom enough to cost little, with three more chances. */
    private static final int RENEWED_PARTS = 4;

    private final MessageLog log;
    private final MemoryKey key;
    private final Duration duration;
    private final LongSupplier nanoTime;
    private final String owner = Ids.next();

    /** Held during a statement, so that no renewal comes behind the release and leaves a lease that nobody gives back. */
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

    /** Takes or renews the lease, unless another turn holds it. */
    boolean acquire() {
        // From before the statement, so that the lease ends later than we think and not earlier.
        long now = nanoTime.getAsLong();
        if (log.acquireLease(key, LEASE, owner, duration).isEmpty()) {
            return false;
        }
        renewedAt = now;
        return true;
    }

    /** Lets a turn within this turn keep it open. Only for whoever has a share, or it might be over already. */
    TurnLease share() {
        statement.lock();
        try {
            shares++;
            return this;
        } finally {
            statement.unlock();
        }
    }

    /** Renews the lease if it is time to. Never fails: what was appended is appended. */
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

    /** Notes that another turn has the lease now. This one goes on, since nothing of it may be lost. */
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
     * Gives a share back, and with the last one the lease. Never fails: a lease that stays expires by itself.
     *
     * @return whether the turn is over
     */
    boolean leave() {
        // Some pools refuse an interrupted thread, and the lease would keep others out until it expires.
        boolean interrupted = Thread.interrupted();
        statement.lock();
        try {
            if (--shares > 0) {
                return false;
            }
            log.releaseLease(key, LEASE, owner);
            return true;
        } catch (RuntimeException e) {
            LOG.warn("Memory {}: the lease of a turn could not be given back; it ends within {}", key, duration, e);
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
