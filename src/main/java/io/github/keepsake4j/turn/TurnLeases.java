package io.github.keepsake4j.turn;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The turns of this process that exclude other turns. Each holds a lease in the log, which every process respects.
 * Thread-safe. Applications call {@code Keepsake.turn(id, ...)}.
 */
public final class TurnLeases {

    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration LONGEST = Duration.ofDays(1);

    private final Function<MemoryKey, MessageLog> logs;
    private final TurnPolicy policy;
    private final Duration lease;
    private final long waitNanos;
    private final LongSupplier nanoTime;
    private final TurnQueue queue;

    /** The newest turn of each memory, which holds the lease. */
    private final Map<MemoryKey, TurnLease> held = new ConcurrentHashMap<>();

    /** The turns of the current thread on this log. The entry is removed with the last of them. */
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Map<MemoryKey, TurnLease>> ofThread = new ThreadLocal<>();

    /**
     * Creates an instance without turns.
     *
     * @param logs returns the log that keeps a memory and its lease
     * @param policy the policy of turns that name none
     * @param lease how long a lease lasts after the turn's begin or its newest append, from one millisecond to one day
     * @param wait the maximum time to wait for another turn, from zero to one day
     * @throws InvalidInputException if a duration is out of its range
     */
    public TurnLeases(Function<MemoryKey, MessageLog> logs, TurnPolicy policy, Duration lease, Duration wait) {
        this(logs, policy, lease, wait, System::nanoTime);
    }

    TurnLeases(
            Function<MemoryKey, MessageLog> logs,
            TurnPolicy policy,
            Duration lease,
            Duration wait,
            LongSupplier nanoTime) {
        if (lease.compareTo(SHORTEST) < 0 || lease.compareTo(LONGEST) > 0) {
            throw new InvalidInputException("turnLease", "must be from one millisecond to one day, is " + lease);
        }
        if (wait.isNegative() || wait.compareTo(LONGEST) > 0) {
            throw new InvalidInputException("turnWait", "must be from zero to one day, is " + wait);
        }
        this.logs = logs;
        this.policy = policy;
        this.lease = lease;
        this.waitNanos = wait.toNanos();
        this.nanoTime = nanoTime;
        this.queue = new TurnQueue(nanoTime);
    }

    /**
     * Runs a whole turn. Within a turn of the same memory on the same thread, it only runs the body.
     *
     * @param key the memory
     * @param wanted what to do when another turn is in progress, or null for the configured policy
     * @param body the turn
     * @param <T> the type of the turn's result
     * @return the body's result
     * @throws TurnConflictException if another turn is in progress and the policy rejects this one, or if the wait for
     *     the other turn times out or is interrupted
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
     * Begins a turn that ends when the handle is closed. The handle belongs to no thread, so another turn of the memory
     * conflicts with it, even on this thread. A handle that is opened within {@link #run} prolongs that turn.
     *
     * @param key the memory
     * @param wanted what to do when another turn is in progress, or null for the configured policy
     * @return the handle, which must be closed
     * @throws TurnConflictException if another turn is in progress and the policy rejects this one, or if the wait for
     *     the other turn times out or is interrupted
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
     * Renews the lease of this process's turn on a memory, if there is such a turn and the renewal is due.
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
        TurnLease turn = new TurnLease(logs.apply(key), key, lease, nanoTime);
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
