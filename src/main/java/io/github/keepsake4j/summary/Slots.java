package io.github.keepsake4j.summary;

import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** At most one job for each memory in this process: who has one, and who shall look again. */
final class Slots {

    private final Map<MemoryKey, Slot> slots = new HashMap<>();

    /** A memory's job. It runs, or waits for its time. What changes is guarded by {@link Slots}. */
    static final class Slot {

        private final MemoryKey key;
        private SummaryPlan plan;
        private boolean again;
        private boolean waiting;
        private boolean wasHeld;
        private CompletableFuture<Boolean> turn = new CompletableFuture<>();

        /** Failures in a row; only the job itself uses it. */
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
     * A new job, or null if there is one, which looks again then. One that waits for another process is replaced: that
     * process may be done by now. One that waits after a failure is not, or each turn would ask a broken model.
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

    /** A new job, in place of one that only waits; or null if one runs. */
    synchronized @Nullable Slot claimUnlessRunning(MemoryKey key, SummaryPlan plan) {
        Slot there = slots.get(key);
        return there == null || there.waiting ? put(key, plan) : null;
    }

    private Slot put(MemoryKey key, SummaryPlan plan) {
        Slot slot = new Slot(key, plan);
        slots.put(key, slot);
        return slot;
    }

    /** What completes when the running job ends or begins to wait. */
    synchronized CompletableFuture<Boolean> turn(MemoryKey key) {
        Slot slot = slots.get(key);
        return slot == null || slot.waiting ? CompletableFuture.completedFuture(true) : slot.turn;
    }

    /** The newest plan; from here on, whoever wants another look must say so. */
    synchronized SummaryPlan plan(Slot slot) {
        slot.again = false;
        return slot.plan;
    }

    /** The newest plan if somebody wants another look, else null. */
    synchronized @Nullable SummaryPlan again(Slot slot) {
        return slot.again ? plan(slot) : null;
    }

    /** Ends the job, unless somebody wants another look. */
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

    /** The job does nothing until {@link #resume}. */
    synchronized void pause(Slot slot) {
        slot.waiting = true;
        slot.turn.complete(true);
    }

    /** Somebody else holds the lease: true the first time in a row. */
    synchronized boolean held(Slot slot, boolean now) {
        boolean first = now && !slot.wasHeld;
        slot.wasHeld = now;
        return first;
    }

    /** The job goes on, unless another has taken its place. */
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
