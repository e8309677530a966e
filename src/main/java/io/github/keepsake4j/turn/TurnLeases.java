package io.github.keepsake4j.turn;

import io.github.keepsake4j.backend.LeaseReturns;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
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
    private final Times times;
    private final LeaseReturns returns;
    private final TurnQueue queue;

    /** The turns of the current thread on this log. The entry is removed with the last of them. */
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Map<MemoryKey, TurnLease>> ofThread = new ThreadLocal<>();

    /**
     * The durations of turns, and the clock that measures them.
     *
     * @param lease the time for which a lease lasts if it is not renewed, from one millisecond to one day
     * @param limit the time for which the lease of one turn is renewed, from one millisecond to one day
     * @param longestWait the maximum time to wait for another turn, from zero to one day
     * @param later returns an executor that runs blocking work after a pause, on daemon threads
     * @param nanoTime returns the time in nanoseconds
     */
    public record Times(
            Duration lease,
            Duration limit,
            Duration longestWait,
            Function<Duration, Executor> later,
            LongSupplier nanoTime) {

        long now() {
            return nanoTime.getAsLong();
        }

        /**
         * Returns the duration of a lease that is taken now. It is shorter near the turn's limit, and zero behind it.
         */
        Duration next(long begun) {
            Duration left = limit.minusNanos(now() - begun);
            return left.isNegative() ? Duration.ZERO : shorter(lease, left);
        }

        Duration shorter(Duration one, Duration other) {
            return one.compareTo(other) < 0 ? one : other;
        }

        void after(Duration pause, Runnable work) {
            later.apply(pause).execute(work);
        }
    }

    /**
     * Creates an instance without turns.
     *
     * @param logs returns the log that keeps a memory and its lease
     * @param policy the policy of turns without their own
     * @param times the durations of turns
     * @throws InvalidInputException if a duration is out of its range
     */
    public TurnLeases(Function<MemoryKey, MessageLog> logs, TurnPolicy policy, Times times) {
        checkLength("turnLease", times.lease());
        checkLength("turnLimit", times.limit());
        if (times.longestWait().isNegative() || times.longestWait().compareTo(LONGEST) > 0) {
            throw new InvalidInputException("turnWait", "must be from zero to one day, is " + times.longestWait());
        }
        this.logs = logs;
        this.policy = policy;
        this.times = times;
        this.returns = new LeaseReturns(times.later(), times.nanoTime());
        this.queue = new TurnQueue(times.nanoTime());
    }

    private static void checkLength(String field, Duration length) {
        if (length.compareTo(SHORTEST) < 0 || length.compareTo(LONGEST) > 0) {
            throw new InvalidInputException(field, "must be from one millisecond to one day, is " + length);
        }
    }

    /**
     * Runs a whole turn. Within a turn of the same memory on the same thread, it only runs the body.
     *
     * @param key the memory
     * @param wanted the policy of this turn, or null for the configured one
     * @param body the turn
     * @param <T> the type of the turn's result
     * @return the body's result
     * @throws TurnConflictException if another turn is in progress and the policy rejects this one, or if the wait for
     *     the other turn times out or is interrupted
     */
    public <T extends @Nullable Object> T run(MemoryKey key, @Nullable TurnPolicy wanted, Supplier<? extends T> body) {
        InvalidInputException.given("body", body);
        if (keeps(wanted) || outer(key) != null) {
            return body.get();
        }
        TurnLease turn = take(key, wanted);
        enter(turn);
        try {
            return body.get();
        } catch (StorageUnavailableException e) {
            turn.hangs = true;
            throw e;
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
     * @param wanted the policy of this turn, or null for the configured one
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

    private boolean keeps(@Nullable TurnPolicy wanted) {
        return (wanted == null ? policy : wanted) == TurnPolicy.KEEP;
    }

    private TurnLease take(MemoryKey key, @Nullable TurnPolicy wanted) {
        TurnLease turn = new TurnLease(logs.apply(key), key, times, returns);
        boolean wait = (wanted == null ? policy : wanted) == TurnPolicy.WAIT;
        try {
            if (!(wait ? queue.await(key, times.longestWait().toNanos(), turn::acquire) : turn.acquire())) {
                throw new TurnConflictException(key, wait ? times.longestWait() : null, null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TurnConflictException(key, times.longestWait(), e);
        }
        return turn;
    }

    private void end(TurnLease turn) {
        if (turn.leave(() -> queue.wake(turn.key))) {
            queue.wake(turn.key);
        }
    }

    private @Nullable TurnLease outer(MemoryKey key) {
        Map<MemoryKey, TurnLease> turns = ofThread.get();
        return turns == null ? null : turns.get(key);
    }

    private void enter(TurnLease turn) {
        Map<MemoryKey, TurnLease> turns = Objects.requireNonNullElseGet(ofThread.get(), HashMap::new);
        turns.put(turn.key, turn);
        ofThread.set(turns);
    }

    private void exit(TurnLease turn) {
        Map<MemoryKey, TurnLease> turns = ofThread.get();
        if (turns != null && turns.remove(turn.key, turn) && turns.isEmpty()) {
            ofThread.remove();
        }
    }
}
