package io.github.keepsake4j.summary;

import io.github.keepsake4j.backend.LeaseReturns;
import io.github.keepsake4j.base.DaemonThreads;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.SummaryFailedException.Kind;
import io.github.keepsake4j.summary.SummaryJobs.Job;
import io.github.keepsake4j.summary.TimeLimitedCall.AbandonedException;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates summaries in the background and stores them in the log. It runs at most one job for each memory in this
 * process, and a lease ensures that at most one process works on a memory. This class is not for users: a
 * {@code Keepsake} has one.
 *
 * <p>A worker needs no closing. It has no threads of its own. It keeps no state about a memory without a job (except
 * whether its last summaries failed). It stops when the log is closed or the executor accepts no more work. Work that
 * was not done is found again when the next summary is due, in this process or another one. Thread-safe.
 */
public final class SummaryWorker {

    private static final Logger LOG = LoggerFactory.getLogger(SummaryWorker.class);
    private static final int REMEMBERED = 1_000;

    /**
     * The settings of attempts.
     *
     * @param callTimeout the time limit of a summarizer call; more than zero
     * @param leaseMargin the time by which the lease is longer than a call, for the reads and writes around it; more
     * than zero
     * @param attempts the number of attempts after a summary became due, 1 or more; only one attempt is made while
     *     earlier summaries of the memory failed
     * @param firstPause the pause after the first failure, which doubles with each further failure; more than zero
     * @param reserved matches answers that must be refused, because a reader would mistake them for something else
     * @param clock the clock for the creation times of summaries and the expiry of the lease
     */
    public record Options(
            Duration callTimeout,
            Duration leaseMargin,
            int attempts,
            Duration firstPause,
            Predicate<String> reserved,
            Clock clock) {

        /**
         * Returns settings with a lease that is a sixth longer than a call, and 3 attempts with pauses of 1 and 2
         * seconds.
         *
         * @param callTimeout the time limit of a summarizer call, from a millisecond to a day
         * @param reserved matches answers that must be refused
         * @return the settings
         * @throws InvalidInputException if the time is out of range
         */
        public static Options of(Duration callTimeout, Predicate<String> reserved) {
            if (callTimeout.compareTo(Duration.ofMillis(1)) < 0 || callTimeout.compareTo(Duration.ofDays(1)) > 0) {
                throw new InvalidInputException(
                        "summarizerTimeout", "must be from a millisecond to a day, is " + callTimeout);
            }
            Duration margin = callTimeout.dividedBy(6);
            return new Options(callTimeout, margin, 3, Duration.ofSeconds(1), reserved, Clock.systemUTC());
        }

        Duration lease() {
            return callTimeout.plus(leaseMargin);
        }
    }

    private final SummaryAttempt.Tools tools;
    private final Executor executor;
    private final SummaryJobs jobs = new SummaryJobs();

    /**
     * How the summaries of memories currently fail. A broken summarizer is logged once for each memory and kind of
     * failure, not in every turn. The number of remembered memories is bounded; if one is forgotten, its failure may be
     * logged once more.
     */
    private final RecentlyUsed<MemoryKey, String> failing = new RecentlyUsed<>(REMEMBERED);

    /**
     * Creates a worker.
     *
     * @param logs returns the log that stores the messages and summaries of a memory
     * @param summarizer the summarizer that writes the summaries
     * @param counter the counter for their tokens
     * @param executor the executor that runs the jobs, which block; it should have daemon threads
     * @param metrics the metrics sink
     * @param options the settings of its attempts
     */
    public SummaryWorker(
            Function<MemoryKey, MessageLog> logs,
            Summarizer summarizer,
            TokenCounter counter,
            Executor executor,
            Metrics metrics,
            Options options) {
        LeaseReturns returns = new LeaseReturns(
                pause -> CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS, executor));
        this.tools = new SummaryAttempt.Tools(logs, summarizer, counter, metrics, new Refusals(), options, returns);
        this.executor = executor;
    }

    /**
     * Reports that a summary may be due. This method returns at once, because all work is done on the executor. If a
     * job for this memory is running in this process, it checks the memory again at its end. If a job is running in
     * another process, that job does the same, and this process checks again later in case the other process was
     * killed.
     *
     * @param key the memory
     * @param plan reads the current state of the memory and returns the next summary to make, or empty if none is due.
     *     It is called on a background thread while no other process creates summaries of this memory. It is called
     *     again after a summary was stored, until nothing is due. Therefore a task should not be larger than a
     *     summarizer can process within its time limit; the rest follows with the next call
     */
    public void due(MemoryKey key, Supplier<Optional<SummaryTask>> plan) {
        Job job = jobs.claimOrMark(key, plan);
        if (job != null) {
            submit(job);
        }
    }

    /**
     * Creates all due summaries on this thread. It waits for a job in this process and for the lease of another
     * process, but no longer than a lease lasts.
     *
     * @param key the memory
     * @param plan returns the next summary to make, as in {@link #due}
     * @return the number of summaries that were created, 0 or more
     * @throws SummaryFailedException if a summary could not be created, or another thread or process works on the
     *     memory for too long; retryable
     * @throws KeepsakeException if the log throws it
     */
    public int summarizeNow(MemoryKey key, Supplier<Optional<SummaryTask>> plan) {
        long deadline = System.nanoTime() + tools.options().lease().toNanos();
        Job job = claim(key, plan, deadline);
        boolean abandoned = false;
        try {
            int made = attemptUntil(deadline, job);
            healed(key);
            return made;
        } catch (AbandonedException e) {
            abandoned = true;
            throw timeout(key);
        } catch (SummaryFailedException e) {
            measureFailure(key, e.kind());
            throw e;
        } finally {
            if (!abandoned) {
                endOrGoOn(job);
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
        return jobs.isIdle(key);
    }

    boolean isIdle() {
        return jobs.isIdle();
    }

    private void healed(MemoryKey key) {
        failing.remove(key);
        tools.refusals().healed(key);
    }

    private void submit(Job job) {
        onExecutor(job, () -> work(job));
    }

    /**
     * Runs a step on the executor. An executor that refuses it was shut down, which means that the application is
     * ending.
     */
    private void onExecutor(Job job, Runnable step) {
        try {
            executor.execute(() -> guarded(job, step));
        } catch (RuntimeException | Error e) {
            LOG.debug(
                    "The executor refused a job for memory {}: {}",
                    job.key,
                    e.getClass().getName());
            jobs.drop(job);
        }
    }

    /** Runs a step and drops the job if the step throws, so that the memory is free for another job. */
    private void guarded(Job job, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            jobs.drop(job);
            throw e;
        }
    }

    private void work(Job job) {
        MemoryKey key = job.key;
        do {
            try {
                boolean done = attempt(job, () -> failed(job, timeout(key))).run();
                if (!done) {
                    heldByAnother(job);
                    return;
                }
                job.failures = 0;
                jobs.held(job, false);
                healed(key);
            } catch (AbandonedException e) {
                return;
            } catch (StorageClosedException e) {
                jobs.drop(job);
                return;
            } catch (ErasedException e) {
                LOG.debug("Memory {} was erased while it was summarized", key);
            } catch (RuntimeException e) {
                failed(job, e);
                return;
            }
        } while (!jobs.end(job));
    }

    /**
     * Creates an attempt. If the summarizer hangs, another thread releases the lease and then runs the given step.
     */
    private SummaryAttempt attempt(Job job, Runnable timedOut) {
        return new SummaryAttempt(
                jobs,
                job,
                tools,
                attempt -> onExecutor(job, () -> {
                    attempt.release();
                    timedOut.run();
                }));
    }

    /**
     * The holder of the lease checks the memory again at its end. If it was killed instead, the lease has expired by
     * the time of the second check.
     */
    private void heldByAnother(Job job) {
        if (jobs.held(job, true)) {
            later(job, tools.options().lease().plusMillis(100));
        } else {
            endOrGoOn(job);
        }
    }

    private void failed(Job job, RuntimeException error) {
        MemoryKey key = job.key;
        Kind kind = error instanceof SummaryFailedException failure ? failure.kind() : Kind.STORAGE;
        measureFailure(key, kind);
        if (kind == Kind.INTERRUPTED) {
            // An interrupt means that the executor was shut down.
            jobs.drop(job);
            return;
        }
        boolean before = job.failures == 0 && failing.get(key) != null;
        warn(key, kind, error instanceof SummaryFailedException ? error.getCause() : error);
        job.failures++;
        if (before || job.failures >= tools.options().attempts()) {
            jobs.drop(job);
            return;
        }
        later(job, tools.options().firstPause().multipliedBy(1L << Math.min(job.failures - 1, 20)));
    }

    private void measureFailure(MemoryKey key, Kind kind) {
        Metrics.tell(
                tools.metrics(),
                sink -> sink.summaryFailed(tools.logs().apply(key).backend(), kind.tag()));
    }

    private void endOrGoOn(Job job) {
        if (!jobs.end(job)) {
            submit(job);
        }
    }

    /** Runs the job after a pause. The timer's thread only passes the job to the executor. */
    private void later(Job job, Duration pause) {
        jobs.pause(job);
        CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
                .execute(DaemonThreads.ofCaller(() -> {
                    if (jobs.resume(job)) {
                        submit(job);
                    }
                }));
    }

    private Job claim(MemoryKey key, Supplier<Optional<SummaryTask>> plan, long deadline) {
        while (true) {
            Job job = jobs.claimUnlessRunning(key, plan);
            if (job != null) {
                return job;
            }
            try {
                jobs.turn(key).get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (TimeoutException | ExecutionException e) {
                throw new SummaryFailedException(
                        Kind.BUSY, "Memory " + key + ": a summary is being made in this process");
            } catch (InterruptedException e) {
                throw interrupted(key, e);
            }
        }
    }

    private int attemptUntil(long deadline, Job job) throws AbandonedException {
        int made = 0;
        long pause = 50;
        while (true) {
            SummaryAttempt attempt = attempt(job, () -> endOrGoOn(job));
            boolean done = attempt.run();
            made += attempt.made();
            if (done) {
                return made;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new SummaryFailedException(
                        Kind.BUSY, "Memory " + job.key + ": another process is making a summary");
            }
            try {
                Thread.sleep(pause);
            } catch (InterruptedException e) {
                throw interrupted(job.key, e);
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
                Kind.TIMEOUT,
                "Memory " + key + ": no summary within " + tools.options().callTimeout());
    }

    /** Logs a failure. Only the class of the cause is logged, because its text may contain what a model or a user said. */
    private void warn(MemoryKey key, Kind kind, @Nullable Throwable cause) {
        String how = kind.tag() + (cause == null ? "" : ", " + cause.getClass().getName());
        if (failing.put(key, how)) {
            LOG.warn(
                    "No summary of memory {} was made ({}). Nothing is lost: the model sees what the limits allow, and"
                            + " the summary is tried again later",
                    key,
                    how);
        }
    }
}
