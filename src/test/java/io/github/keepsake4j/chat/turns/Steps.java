package io.github.keepsake4j.chat.turns;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Threads of which one runs at a time, from stop to stop, while the thread of the program waits. So the program alone
 * decides what happens in which order.
 */
final class Steps {

    private static final ExecutorService THREADS = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "turn of a program");
        thread.setDaemon(true);
        return thread;
    });

    private static final ThreadLocal<Steps> SELF = new ThreadLocal<>();

    private final Semaphore go = new Semaphore(0);
    private final Semaphore stopped = new Semaphore(0);
    private volatile boolean over;
    private volatile boolean abandoned;
    private volatile Thread thread;

    /** Ends a thread whose program has failed. */
    private static final class Abandoned extends Error {
        private static final long serialVersionUID = 1;
    }

    /** Prepares work that begins with the first step. */
    Steps(Runnable work) {
        THREADS.execute(() -> {
            thread = Thread.currentThread();
            SELF.set(this);
            try {
                await();
                work.run();
            } catch (Abandoned e) {
                // The program reports why it has failed.
            } finally {
                SELF.remove();
                over = true;
                stopped.release();
            }
        });
    }

    /** Holds the calling thread until its next step. Other threads pass. */
    static void stop() {
        Steps self = SELF.get();
        if (self != null) {
            self.stopped.release();
            self.await();
        }
    }

    private void await() {
        go.acquireUninterruptibly();
        if (abandoned) {
            throw new Abandoned();
        }
    }

    /** Lets the work run to its next stop, or to its end. */
    void step() throws InterruptedException {
        go.release();
        if (!stopped.tryAcquire(2, TimeUnit.MINUTES)) {
            StringBuilder where = new StringBuilder("a step does not end");
            for (StackTraceElement element : thread.getStackTrace()) {
                where.append(System.lineSeparator()).append(element);
            }
            throw new AssertionError(where);
        }
    }

    boolean isOver() {
        return over;
    }

    void abandon() {
        abandoned = true;
        go.release();
    }
}
