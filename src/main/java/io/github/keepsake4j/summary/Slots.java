package io.github.keepsake4j.summary;

import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The jobs of this process: at most one for each memory. It records which jobs must check their memory again. */
final class Slots {

    private final Map<MemoryKey, Slot> slots = new HashMap<>();

    /** A memory's job, which is running or waiting. Its mutable state is guarded by {@link Slots}. */
    static final class Slot {

        private final MemoryKey key;
        private SummaryPlan plan;
        private boolean again;
        private boolean waiting;
        private boolean wasHeld;
        private CompletableFuture<Boolean> turn = new CompletableFuture<>();

        /** The number of consecutive failures. Only the job itself uses it. */
        int failures;

        private Slot(MemoryKey key, SummaryPlan plan) {
            this.key = key;
            this.plan = plan;
        }

        MemoryKey key() {
            return key;
        }
    }

    /**
     * Creates a job. If there already is one, that job is told to check the memory again, and null is returned. A job
     * that waits for another process is replaced, because that process may have finished. A job that waits after a
     * failure is not replaced, because otherwise each turn would call a broken model.
     */
    synchronized @Nullable Slot claimOrMark(MemoryKey key, SummaryPlan plan) {
        Slot there = slots.get(key);
        if (there == null || (there.waiting && there.wasHeld)) {
            return put(key, plan);
        }
        there.plan = plan;
        there.again = true;
        return null;
    }

    /** Creates a job and replaces one that is only waiting. Returns null if a job is running. */
    synchronized @Nullable Slot claimUnlessRunning(MemoryKey key, SummaryPlan plan) {
        Slot there = slots.get(key);
        return there == null || there.waiting ? put(key, plan) : null;
    }

    private Slot put(MemoryKey key, SummaryPlan plan) {
        Slot slot = new Slot(key, plan);
        slots.put(key, slot);
        return slot;
    }

    /** Returns a future that completes when the running job ends or begins to wait. */
    synchronized CompletableFuture<Boolean> turn(MemoryKey key) {
        Slot slot = slots.get(key);
        return slot == null || slot.waiting ? CompletableFuture.completedFuture(true) : slot.turn;
    }

    /** Returns the newest plan and clears the request to check again. Later requests are recorded anew. */
    synchronized SummaryPlan plan(Slot slot) {
        slot.again = false;
        return slot.plan;
    }

    /** Returns the newest plan if another check was requested, or null. */
    synchronized @Nullable SummaryPlan again(Slot slot) {
        return slot.again ? plan(slot) : null;
    }

    /** Ends the job, unless another check was requested. */
    synchronized boolean end(Slot slot) {
        if (slot.again) {
            return false;
        }
        drop(slot);
        return true;
    }

    /** Ends the job. */
    synchronized void drop(Slot slot) {
        slots.remove(slot.key, slot);
        slot.turn.complete(true);
        notifyAll();
    }

    /** Makes the job wait until {@link #resume} is called. */
    synchronized void pause(Slot slot) {
        slot.waiting = true;
        slot.turn.complete(true);
    }

    /** Records whether another process holds the lease. Returns true if it does and did not at the previous call. */
    synchronized boolean held(Slot slot, boolean now) {
        boolean first = now && !slot.wasHeld;
        slot.wasHeld = now;
        return first;
    }

    /** Resumes a waiting job. Returns false if another job has replaced it. */
    synchronized boolean resume(Slot slot) {
        if (slots.get(slot.key) != slot) {
            return false;
        }
        slot.waiting = false;
        slot.turn = new CompletableFuture<>();
        return true;
    }

    synchronized boolean isIdle(MemoryKey key) {
        return !slots.containsKey(key);
    }

    synchronized boolean awaitIdle(Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!slots.isEmpty()) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }
}
