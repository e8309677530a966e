package io.github.keepsake4j.turn;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The turns of this process that keep others out, each by a lease in the log, which others respect in every process.
 * Thread-safe. Users say {@code Keepsake.turn(id, ...)}.
 */
public final class TurnLeases {

    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration LONGEST = Duration.ofDays(1);

    private final MessageLog log;
    private final TurnPolicy policy;
    private final Duration lease;
    private final long waitNanos;
    private final LongSupplier nanoTime;
    private final TurnQueue queue;

    /** The newest turn of each memory, which is the one that holds the lease. */
    private final Map<MemoryKey, TurnLease> held = new ConcurrentHashMap<>();

    /** The turns that the current thread is in. Of this log only, and removed with the last of them. */
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Map<MemoryKey, TurnLease>> ofThread = new ThreadLocal<>();

    /**
     * Makes one without turns.
     *
     * @param log where the leases are kept
     * @param policy what happens when a turn meets another and does not say what it wants
     * @param lease how long a lease lasts from the turn's begin or newest append, from a millisecond to a day
     * @param wait the longest wait for another turn, zero or more
     * @throws InvalidInputException if a duration is out of its range
     */
    public TurnLeases(MessageLog log, TurnPolicy policy, Duration lease, Duration wait) {
        this(log, policy, lease, wait, System::nanoTime);
    }

    TurnLeases(MessageLog log, TurnPolicy policy, Duration lease, Duration wait, LongSupplier nanoTime) {
        if (lease.compareTo(SHORTEST) < 0 || lease.compareTo(LONGEST) > 0) {
            throw new InvalidInputException("turnLease", "must be from a millisecond to a day, is " + lease);
        }
        if (wait.isNegative() || wait.compareTo(LONGEST) > 0) {
            throw new InvalidInputException("turnWait", "must be from zero to a day, is " + wait);
        }
        this.log = log;
        this.policy = policy;
        this.lease = lease;
        this.waitNanos = wait.toNanos();
        this.nanoTime = nanoTime;
        this.queue = new TurnQueue(nanoTime);
    }

    /**
     * Runs a whole turn. Within a turn of the same memory on the same thread it only runs the body.
     *
     * @param key the memory
     * @param wanted what to do when another turn is going on, or null for what was configured
     * @param body the turn
     * @param <T> what the turn returns
     * @return what the body returned
     * @throws TurnConflictException if another turn is going on, and this one is rejected or has waited long enough
     */
    public <T extends @Nullable Object> T run(MemoryKey key, @Nullable TurnPolicy wanted, Supplier<? extends T> body) {
        Objects.requireNonNull(body, "body");
        if (keeps(wanted) || outer(key) != null) {
            return body.get();
        }
        TurnLease turn = take(key, wanted);
        enter(turn);
        try {
            return body.get();
        } finally {
            exit(turn);
            end(turn);
        }
    }

    /**
     * Begins a turn that ends when the handle is closed. The handle belongs to no thread: another turn of the memory is
     * another turn, on this thread too. Opened within {@link #run} it prolongs that turn.
     *
     * @param key the memory
     * @param wanted what to do when another turn is going on, or null for what was configured
     * @return the handle, to be closed
     * @throws TurnConflictException if another turn is going on, and this one is rejected or has waited long enough
     */
    public TurnHandle open(MemoryKey key, @Nullable TurnPolicy wanted) {
        if (keeps(wanted)) {
            return new TurnHandle(() -> {});
        }
        TurnLease outer = outer(key);
        TurnLease turn = outer != null ? outer.share() : take(key, wanted);
        return new TurnHandle(() -> end(turn));
    }

    /**
     * Renews the lease of this process's turn on a memory, if there is one and it is time to.
     *
     * @param key the memory
     */
    public void renew(MemoryKey key) {
        TurnLease turn = held.get(key);
        if (turn != null) {
            turn.renew();
        }
    }

    private boolean keeps(@Nullable TurnPolicy wanted) {
        return (wanted == null ? policy : wanted) == TurnPolicy.KEEP;
    }

    private TurnLease take(MemoryKey key, @Nullable TurnPolicy wanted) {
        TurnLease turn = new TurnLease(log, key, lease, nanoTime);
        boolean wait = (wanted == null ? policy : wanted) == TurnPolicy.WAIT;
        try {
            if (!(wait ? queue.await(key, waitNanos, turn::acquire) : turn.acquire())) {
                throw new TurnConflictException(key, null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TurnConflictException(key, e);
        }
        TurnLease before = held.put(key, turn);
        if (before != null) {
            before.lost();
        }
        return turn;
    }

    private void end(TurnLease turn) {
        if (turn.leave()) {
            held.remove(turn.key(), turn);
            queue.wake(turn.key());
        }
    }

    private @Nullable TurnLease outer(MemoryKey key) {
        Map<MemoryKey, TurnLease> turns = ofThread.get();
        return turns == null ? null : turns.get(key);
    }

    private void enter(TurnLease turn) {
        Map<MemoryKey, TurnLease> turns = ofThread.get();
        if (turns == null) {
            turns = new HashMap<>();
            ofThread.set(turns);
        }
        turns.put(turn.key(), turn);
    }

    private void exit(TurnLease turn) {
        Map<MemoryKey, TurnLease> turns = ofThread.get();
        if (turns != null) {
            turns.remove(turn.key());
            if (turns.isEmpty()) {
                ofThread.remove();
            }
        }
    }
}
