package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.LogClosedException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.Slots.Slot;
import io.github.keepsake4j.summary.SummaryFailedException.Kind;
import io.github.keepsake4j.summary.TimedCall.AbandonedException;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes summaries in the background and keeps them beside the log: at most one job for each memory in this process, and by
 * a lease one for each memory in all processes. Not for users: a {@code Keepsake} has one.
 *
 * <p>It needs no closing. It has no threads of its own, keeps nothing about a memory without a job (but whether its last
 * summaries failed), and stops where the log is closed or the executor takes no more work. What it was about to do is
 * found out again when the next summary is due, in this process or another. Thread-safe.
 */
public final class SummaryWorker {

    private static final Logger LOG = LoggerFactory.getLogger(SummaryWorker.class);

    private final Attempt.Tools tools;
    private final Executor executor;
    private final Metrics metrics;
    private final Options options;
    private final Slots slots = new Slots();
    private final FailureSeries series = new FailureSeries();

    /**
     * How a worker goes about it.
     *
     * @param backend the log's name in metrics, such as {@code postgresql}
     * @param callTimeout how long a summarizer may take; more than zero
     * @param leaseMargin how much longer the lease is, for what is read and written around it; more than zero
     * @param attempts how often it is tried after a summary became due, 1 or more; only once while earlier ones failed
     * @param firstPause the pause after the first failure, which doubles with each; more than zero
     * @param reserved what an answer must not look like, since a reader would take it for something else
     */
    public record Options(
            String backend,
            Duration callTimeout,
            Duration leaseMargin,
            int attempts,
            Duration firstPause,
            Predicate<String> reserved) {

        /** Checks the parts. */
        public Options {
            Objects.requireNonNull(backend, "backend");
            Objects.requireNonNull(reserved, "reserved");
            checkPositive("callTimeout", callTimeout);
            checkPositive("leaseMargin", leaseMargin);
            checkPositive("firstPause", firstPause);
            if (attempts < 1) {
                throw new InvalidInputException("attempts", "must be 1 or more");
            }
        }

        /**
         * 60 seconds for a summarizer, a lease a sixth longer, 3 attempts with pauses of 1 and 2 seconds.
         *
         * @param backend the log's name in metrics
         * @return the options
         */
        public static Options standard(String backend) {
            return new Options(
                    backend, Duration.ofSeconds(60), Duration.ofSeconds(10), 3, Duration.ofSeconds(1), answer -> false);
        }

        /**
         * Refuses answers that look like something else.
         *
         * @param lookAlike what an answer must not look like
         * @return a copy
         */
        public Options reserving(Predicate<String> lookAlike) {
            return new Options(backend, callTimeout, leaseMargin, attempts, firstPause, lookAlike);
        }

        /**
         * Gives a summarizer another time, and the lease a sixth more.
         *
         * @param longest how long a call may take, from a millisecond to a day
         * @return a copy
         * @throws InvalidInputException if the time is out of range
         */
        public Options callTimeout(Duration longest) {
            if (longest.compareTo(Duration.ofMillis(1)) < 0 || longest.compareTo(Duration.ofDays(1)) > 0) {
                throw new InvalidInputException(
                        "summarizerTimeout", "must be from a millisecond to a day, is " + longest);
            }
            return new Options(backend, longest, longest.dividedBy(6), attempts, firstPause, reserved);
        }

        Duration lease() {
            return callTimeout.plus(leaseMargin);
        }

        private static void checkPositive(String name, Duration duration) {
            if (duration.isZero() || duration.isNegative()) {
                throw new InvalidInputException(name, "must be more than zero, is " + duration);
            }
        }
    }

    /**
     * Makes a worker.
     *
     * @param log where messages and summaries are kept
     * @param summarizer what writes them
     * @param counter what counts them
     * @param executor what runs jobs, which block; it should have daemon threads
     * @param metrics what hears of them
     * @param options how to go about it
     */
    public SummaryWorker(
            MessageLog log,
            Summarizer summarizer,
            TokenCounter counter,
            Executor executor,
            Metrics metrics,
            Options options) {
        this(log, summarizer, counter, executor, metrics, options, Clock.systemUTC());
    }

    SummaryWorker(
            MessageLog log,
            Summarizer summarizer,
            TokenCounter counter,
            Executor executor,
            Metrics metrics,
            Options options,
            Clock clock) {
        this.tools = new Attempt.Tools(log, summarizer, counter, this::measure, options, clock);
        this.executor = executor;
        this.metrics = metrics;
        this.options = options;
    }

    /**
     * Says that a summary may be due. Returns at once: all work is done on the executor. If a job for this memory runs in
     * this process it looks again at its end; if one runs in another process, that one does, and this one makes sure
     * later, in case it was killed.
     *
     * @param key the memory
     * @param plan what says whether one is due, and what it covers
     */
    public void due(MemoryKey key, SummaryPlan plan) {
        Slot slot = slots.claimOrMark(key, plan);
        if (slot != null) {
            submit(slot);
        }
    }

    /**
     * Makes all summaries that are due, on this thread. Waits for a job in this process and for the lease of another one,
     * but no longer than a lease lasts.
     *
     * @param key the memory
     * @param plan what says whether one is due, and what it covers
     * @return how many were made, 0 or more
     * @throws SummaryFailedException if one could not be made, or somebody else is at it for too long; retryable
     * @throws KeepsakeException what the log throws
     */
    public int summarizeNow(MemoryKey key, SummaryPlan plan) {
        long deadline = System.nanoTime() + options.lease().toNanos();
        Slot slot = claim(key, plan, deadline);
        boolean abandoned = false;
        try {
            int made = attemptUntil(deadline, slot);
            series.healed(key);
            return made;
        } catch (AbandonedException e) {
            abandoned = true;
            throw timeout(key);
        } catch (SummaryFailedException e) {
            measure(sink -> sink.summaryFailed(options.backend(), e.kind().tag()));
            throw e;
        } finally {
            if (!abandoned && !slots.end(slot)) {
                submit(slot);
            }
        }
    }

    /**
     * Tells whether there is no job for a memory in this process, not even one that waits to try again.
     *
     * @param key the memory
     * @return true if there is none
     */
    public boolean isIdle(MemoryKey key) {
        return slots.isIdle(key);
    }

    /**
     * Waits until there is no job in this process, not even one that waits to try again. For tests.
     *
     * @param limit how long to wait
     * @return false if there still is one
     * @throws InterruptedException if the thread was interrupted
     */
    public boolean awaitIdle(Duration limit) throws InterruptedException {
        return slots.awaitIdle(limit);
    }

    private void submit(Slot slot) {
        onExecutor(slot, () -> work(slot));
    }

    /** An executor that was shut down is how an application says that it ends. */
    private void onExecutor(Slot slot, Runnable step) {
        try {
            executor.execute(() -> guarded(slot, step));
        } catch (RuntimeException | Error e) {
            LOG.debug(
                    "The executor refused a job for memory {}: {}",
                    slot.key(),
                    e.getClass().getName());
            slots.drop(slot);
        }
    }

    /** Whatever happens, the memory is free for another job. */
    private void guarded(Slot slot, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            slots.drop(slot);
            throw e;
        }
    }

    private void work(Slot slot) {
        MemoryKey key = slot.key();
        do {
            try {
                boolean done = attempt(slot, attempt -> failed(slot, timeout(key)))
                        .run(slots.plan(slot), () -> slots.again(slot));
                if (!done) {
                    heldByAnother(slot);
                    return;
                }
                slot.failures = 0;
                slots.held(slot, false);
                series.healed(key);
            } catch (AbandonedException e) {
                return;
            } catch (LogClosedException e) {
                slots.drop(slot);
                return;
            } catch (ErasedException e) {
                LOG.debug("Memory {} was erased while it was summarized", key);
            } catch (RuntimeException e) {
                failed(slot, e);
                return;
            }
        } while (!slots.end(slot));
    }

    /** If the summarizer hangs, the lease is given back by another thread, which then does what it is told. */
    private Attempt attempt(Slot slot, Consumer<Attempt> timedOut) {
        Attempt[] self = new Attempt[1];
        self[0] = new Attempt(
                slot.key(),
                tools,
                () -> onExecutor(slot, () -> {
                    self[0].release();
                    timedOut.accept(self[0]);
                }));
        return self[0];
    }

    /** Its holder looks again at its end. If it was killed instead, the lease is over by the time of the second look. */
    private void heldByAnother(Slot slot) {
        if (slots.held(slot, true)) {
            later(slot, options.lease().plusMillis(100));
        } else {
            endOrGoOn(slot);
        }
    }

    private void failed(Slot slot, RuntimeException error) {
        MemoryKey key = slot.key();
        Kind kind = error instanceof SummaryFailedException failure ? failure.kind() : Kind.STORAGE;
        measure(sink -> sink.summaryFailed(options.backend(), kind.tag()));
        if (kind == Kind.INTERRUPTED) {
            // The executor was shut down.
            slots.drop(slot);
            return;
        }
        boolean before = slot.failures == 0 && series.isFailing(key);
        series.failed(key, kind, error instanceof SummaryFailedException ? error.getCause() : error);
        slot.failures++;
        if (before || slot.failures >= options.attempts()) {
            slots.drop(slot);
            return;
        }
        later(slot, options.firstPause().multipliedBy(1L << Math.min(slot.failures - 1, 20)));
    }

    private void endOrGoOn(Slot slot) {
        if (!slots.end(slot)) {
            submit(slot);
        }
    }

    /** The timer's thread only hands the job over. */
    private void later(Slot slot, Duration pause) {
        slots.pause(slot);
        CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
                .execute(() -> {
                    if (slots.resume(slot)) {
                        submit(slot);
                    }
                });
    }

    private Slot claim(MemoryKey key, SummaryPlan plan, long deadline) {
        while (true) {
            Slot slot = slots.claimUnlessRunning(key, plan);
            if (slot != null) {
                return slot;
            }
            try {
                slots.turn(key).get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (TimeoutException | ExecutionException e) {
                throw new SummaryFailedException(
                        Kind.BUSY, "Memory " + key + ": a summary is being made in this process", null);
            } catch (InterruptedException e) {
                throw interrupted(key, e);
            }
        }
    }

    private int attemptUntil(long deadline, Slot slot) throws AbandonedException {
        int made = 0;
        long pause = 50;
        while (true) {
            Attempt attempt = attempt(slot, timedOut -> endOrGoOn(slot));
            boolean done = attempt.run(slots.plan(slot), () -> slots.again(slot));
            made += attempt.made();
            if (done) {
                return made;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new SummaryFailedException(
                        Kind.BUSY, "Memory " + slot.key() + ": another process is making a summary", null);
            }
            try {
                Thread.sleep(pause);
            } catch (InterruptedException e) {
                throw interrupted(slot.key(), e);
            }
            pause = Math.min(1000, pause * 2);
        }
    }

    private static SummaryFailedException interrupted(MemoryKey key, InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new SummaryFailedException(
                Kind.INTERRUPTED, "Memory " + key + ": interrupted while waiting for another summary", cause);
    }

    private SummaryFailedException timeout(MemoryKey key) {
        return new SummaryFailedException(
                Kind.TIMEOUT, "Memory " + key + ": no summary within " + options.callTimeout(), null);
    }

    /** A sink that throws must not cost a summary. */
    private void measure(Consumer<Metrics> event) {
        try {
            event.accept(metrics);
        } catch (RuntimeException e) {
            LOG.debug("Metrics failed: {}", e.getClass().getName());
        }
    }
}
