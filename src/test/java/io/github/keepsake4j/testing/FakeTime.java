package io.github.keepsake4j.testing;

import io.github.keepsake4j.log.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executor;

/** Time that only a test moves, and the work that processes have planned for it. Planned work runs on the test's thread. */
public final class FakeTime {

    private record Planned(Timer timer, Instant due, Runnable work) {}

    private final TestClock clock;
    private final List<Planned> planned = new ArrayList<>();

    public FakeTime(TestClock clock) {
        this.clock = clock;
    }

    /** Returns the time as {@link System#nanoTime()} does. */
    public long nanoTime() {
        return Duration.between(Instant.EPOCH, clock.instant()).toNanos();
    }

    /** Moves the time and runs the work that becomes due, each at its time. */
    public void advance(Duration duration) {
        Instant end = clock.instant().plus(duration);
        for (Planned next = next(end); next != null; next = next(end)) {
            Duration until = Duration.between(clock.instant(), next.due());
            clock.advance(until.isNegative() ? Duration.ZERO : until);
            next.work().run();
        }
        clock.advance(Duration.between(clock.instant(), end));
    }

    private synchronized Planned next(Instant end) {
        Planned next = planned.stream()
                .filter(one -> !one.timer().suspended && !one.due().isAfter(end))
                .min(Comparator.comparing(Planned::due))
                .orElse(null);
        planned.remove(next);
        return next;
    }

    private synchronized void plan(Planned work) {
        planned.add(work);
    }

    /** Returns the number of planned pieces of work. */
    public synchronized int planned() {
        return planned.size();
    }

    /** The timer of one process. */
    public final class Timer {
        private volatile boolean suspended;

        /** Returns an executor that runs work after a pause. */
        public Executor after(Duration pause) {
            return work -> plan(new Planned(this, clock.instant().plus(pause), work));
        }

        /** Runs no planned work until {@link #resume}, as if the process was killed or suspended. */
        public void suspend() {
            suspended = true;
        }

        /** Runs planned work again, and what is overdue with the next advance. */
        public void resume() {
            suspended = false;
        }
    }
}
