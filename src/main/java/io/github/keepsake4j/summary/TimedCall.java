package io.github.keepsake4j.summary;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Runs something on the current thread that may hang. At the time limit the thread is interrupted, and somebody is told to
 * go on without it; whether the thread ever comes back or not, nothing waits for it and its result is not used.
 */
final class TimedCall {

    /** The time limit has passed and others have gone on: the thread that gets this must touch nothing any more. */
    static final class AbandonedException extends Exception {

        private static final long serialVersionUID = 1L;

        AbandonedException() {
            super("the time limit has passed", null, false, false);
        }
    }

    private final Thread thread = Thread.currentThread();
    private boolean ended;
    private boolean abandoned;

    private TimedCall() {}

    /**
     * Runs it.
     *
     * @param work what may hang
     * @param limit the time limit
     * @param goOn called once, on a timer's thread, if the limit passes first; must not block
     */
    static <T> T run(Callable<T> work, Duration limit, Runnable goOn) throws Exception {
        TimedCall call = new TimedCall();
        CompletableFuture<Void> timer = new CompletableFuture<Void>().orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS);
        CompletableFuture<Void> unused = timer.whenComplete((nothing, timeout) -> {
            if (timeout != null && call.abandon()) {
                goOn.run();
            }
        });
        try {
            return work.call();
        } finally {
            call.end();
            // Takes the timer out of its queue.
            timer.complete(null);
        }
    }

    private synchronized boolean abandon() {
        if (ended) {
            return false;
        }
        abandoned = true;
        // Under the lock, so that it cannot hit what the thread does next.
        thread.interrupt();
        return true;
    }

    private synchronized void end() throws AbandonedException {
        ended = true;
        if (abandoned) {
            Thread.interrupted();
            throw new AbandonedException();
        }
    }
}
