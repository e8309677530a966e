package io.github.keepsake4j.summary;

import io.github.keepsake4j.message.MemoryKey;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The jobs of this process: at most one for each memory. It records which jobs must check their memory again. */
final class SummaryJobs {

    private final Map<MemoryKey, Job> jobs = new HashMap<>();

    /** A memory's job, which is running or waiting. Its mutable state is guarded by {@link SummaryJobs}. */
    static final class Job {

        final MemoryKey key;
        private Supplier<Optional<SummaryTask>> plan;
        private boolean again;
        private boolean waiting;
        private boolean wasHeld;
        private CompletableFuture<Boolean> turn = new CompletableFuture<>();

        /** The number of consecutive failures. Only the job itself uses it. */
        int failures;

        private Job(MemoryKey key, Supplier<Optional<SummaryTask>> plan) {
            this.key = key;
            this.plan = plan;
        }
    }

    /**
     * Creates a job. If there already is one, that job will check the memory again, and null is returned. A job that
     * waits for another process is replaced, because that process may have finished. A job that waits after a failure
     * is not replaced, because otherwise each turn would call a broken model.
     */
    synchronized @Nullable Job claimOrMark(MemoryKey key, Supplier<Optional<SummaryTask>> plan) {
        Job there = jobs.get(key);
        if (there == null || (there.waiting && there.wasHeld)) {
            return put(key, plan);
        }
        there.plan = plan;
        there.again = true;
        return null;
    }

    /** Creates a job and replaces one that is only waiting. Returns null if a job is running. */
    synchronized @Nullable Job claimUnlessRunning(MemoryKey key, Supplier<Optional<SummaryTask>> plan) {
        Job there = jobs.get(key);
        return there == null || there.waiting ? put(key, plan) : null;
    }

    private Job put(MemoryKey key, Supplier<Optional<SummaryTask>> plan) {
        Job job = new Job(key, plan);
        jobs.put(key, job);
        return job;
    }

    /** Returns a future that completes when the running job ends or begins to wait. */
    synchronized CompletableFuture<Boolean> turn(MemoryKey key) {
        Job job = jobs.get(key);
        return job == null || job.waiting ? CompletableFuture.completedFuture(true) : job.turn;
    }

    /** Returns the newest plan and clears the request to check again. Later requests are recorded again. */
    synchronized Supplier<Optional<SummaryTask>> plan(Job job) {
        job.again = false;
        return job.plan;
    }

    /** Returns the newest plan if another check was requested, or null. */
    synchronized @Nullable Supplier<Optional<SummaryTask>> again(Job job) {
        return job.again ? plan(job) : null;
    }

    /** Ends the job, unless another check was requested. */
    synchronized boolean end(Job job) {
        if (job.again) {
            return false;
        }
        drop(job);
        return true;
    }

    /** Ends the job. */
    synchronized void drop(Job job) {
        jobs.remove(job.key, job);
        job.turn.complete(true);
    }

    /** Makes the job wait until {@link #resume} is called. */
    synchronized void pause(Job job) {
        job.waiting = true;
        job.turn.complete(true);
    }

    /** Records whether another process holds the lease. Returns true if it does and did not at the previous call. */
    synchronized boolean held(Job job, boolean now) {
        boolean first = now && !job.wasHeld;
        job.wasHeld = now;
        return first;
    }

    /** Resumes a waiting job. Returns false if another job has replaced it. */
    synchronized boolean resume(Job job) {
        if (jobs.get(job.key) != job) {
            return false;
        }
        job.waiting = false;
        job.turn = new CompletableFuture<>();
        return true;
    }

    synchronized boolean isIdle(MemoryKey key) {
        return !jobs.containsKey(key);
    }

    synchronized boolean isIdle() {
        return jobs.isEmpty();
    }
}
