package io.github.keepsake4j.cli;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.Executor;

/** Runs tasks in the calling thread, in the order in which they are due, without their pauses. Used by one thread. */
final class Schedule {

    private record Task(Duration due, long number, Runnable work) {}

    private final Queue<Runnable> ready = new ArrayDeque<>();
    private final PriorityQueue<Task> later =
            new PriorityQueue<>(Comparator.comparing(Task::due).thenComparing(Task::number));
    private Duration now = Duration.ZERO;
    private long number;

    /** Returns an executor that runs a task when its turn comes. */
    Executor soon() {
        return ready::add;
    }

    /** Returns an executor for tasks that are due after a pause. */
    Executor after(Duration pause) {
        return task -> later.add(new Task(now.plus(pause), number++, task));
    }

    /** Runs what is due next. */
    void runNext() {
        Task next = later.poll();
        if (next != null) {
            now = next.due();
            next.work().run();
        }
        for (Runnable task = ready.poll(); task != null; task = ready.poll()) {
            task.run();
        }
    }
}
