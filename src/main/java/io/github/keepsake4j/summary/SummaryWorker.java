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
 * Makes summaries in the background and stores them with the log. It runs at most one job for each memory in this
 * process, and a lease ensures that at most one process works on a memory. This class is not for users: a
 * {@code Keepsake} has one.
 *
 * <p>A worker needs no closing. It has no threads of its own. It keeps no state about a memory without a job (except
 * whether its last summaries failed). It stops when the log is closed or the executor accepts no more work. Work that
 * was not done is found again when the next summary is due, in this process or another one. Thread-safe.
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
     * The settings of a worker.
     *
     * @param backend the log's name in metrics, such as {@code postgresql}
     * @param callTimeout the time limit of a summarizer call; more than zero
     * @param leaseMargin how much longer the lease is than a call, for the reads and writes around it; more than zero
     * @param attempts the number of attempts after a summary became due, 1 or more; only one attempt is made while
     *     earlier summaries of the memory failed
     * @param firstPause the pause after the first failure, which doubles with each further failure; more than zero
     * @param reserved matches answers that must be refused, because a reader would mistake them for something else
     */
    public record Options(
            String backend,
            Duration callTimeout,
            Duration leaseMargin,
            int attempts,
            Duration firstPause,
            Predicate<String> reserved) {

        /** Checks the components. */
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
         * Returns the default settings: 60 seconds for a summarizer call, a lease that is a sixth longer, and 3
         * attempts with pauses of 1 and 2 seconds.
         *
         * @param backend the log's name in metrics
         * @return the settings
         */
        public static Options standard(String backend) {
            return new Options(
                    backend, Duration.ofSeconds(60), Duration.ofSeconds(10), 3, Duration.ofSeconds(1), answer -> false);
        }

        /**
         * Sets which answers are refused because they look like something else. Default: none.
         *
         * @param lookAlike matches the answers that are refused
         * @return a copy
         */
        public Options reserving(Predicate<String> lookAlike) {
            return new Options(backend, callTimeout, leaseMargin, attempts, firstPause, lookAlike);
        }

        /**
         * Sets the time limit of a summarizer call. The lease becomes a sixth longer than that. Default: 60 seconds.
         *
         * @param longest the time limit, from a millisecond to a day
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
     * Creates a worker.
     *
     * @param log the log that stores messages and summaries
     * @param summarizer the summarizer that writes the summaries
     * @param counter the counter for their tokens
     * @param executor the executor that runs the jobs, which block; it should have daemon threads
     * @param metrics the metrics sink
     * @param options the settings
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
     * Reports that a summary may be due. This method returns at once, because all work is done on the executor. If a
     * job for this memory is running in this process, it checks the memory again at its end. If a job is running in
     * another process, that job does the same, and this process checks again later in case the other process was
     * killed.
     *
     * @param key the memory
     * @param plan decides whether a summary is due, and what it covers
     */
    public void due(MemoryKey key, SummaryPlan plan) {
        Slot slot = slots.claimOrMark(key, plan);
        if (slot != null) {
            submit(slot);
        }
    }

    /**
     * Makes all summaries that are due, on this thread. It waits for a job in this process and for the lease of another
     * process, but no longer than a lease lasts.
     *
     * @param key the memory
     * @param plan decides whether a summary is due, and what it covers
     * @return the number of summaries that were made, 0 or more
     * @throws SummaryFailedException if a summary could not be made, or another thread or process works on the memory
     *     for too long; retryable
     * @throws KeepsakeException if the log throws it
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
     * Returns whether there is no job for a memory in this process, neither running nor waiting for another attempt.
     *
     * @param key the memory
     * @return true if there is no job
     */
    public boolean isIdle(MemoryKey key) {
        return slots.isIdle(key);
    }

    /**
     * Waits until there is no job in this process, neither running nor waiting for another attempt. For tests.
     *
     * @param limit the maximum time to wait
     * @return false if there still is a job
     * @throws InterruptedException if the thread was interrupted
     */
    public boolean awaitIdle(Duration limit) throws InterruptedException {
        return slots.awaitIdle(limit);
    }

    private void submit(Slot slot) {
        onExecutor(slot, () -> work(slot));
    }

    /**
     * Runs a step on the executor. An executor that refuses it was shut down, which means that the application is
     * ending.
     */
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

    /** Runs a step and drops the job if the step throws, so that the memory is free for another job. */
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

    /**
     * Creates an attempt. If the summarizer hangs, another thread releases the lease and then calls the given consumer.
     */
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

    /**
     * The holder of the lease checks the memory again at its end. If it was killed instead, the lease has expired by
     * the time of the second check.
     */
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
            // An interrupt means that the executor was shut down.
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

    /** Runs the job after a pause. The timer's thread only passes the job to the executor. */
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

    /** Reports an event. A sink that throws must not make a summary fail. */
    private void measure(Consumer<Metrics> event) {
        try {
            event.accept(metrics);
        } catch (RuntimeException e) {
            LOG.debug("Metrics failed: {}", e.getClass().getName());
        }
    }
}
