package io.github.keepsake4j.summary;

import io.github.keepsake4j.base.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Runs a call that may hang on the current thread. At the time limit the thread is interrupted, and a callback
 * continues without it. After that, the call's result is not used, and nothing waits for the thread, even if it never
 * returns.
 */
final class TimeLimitedCall {

    /**
     * Thrown after the time limit has passed and the callback was called. The thread that receives it must not access
     * anything anymore.
     */
    static final class AbandonedException extends Exception {

        AbandonedException() {
            super("the time limit has passed", null, false, false);
        }
    }

    private final Thread thread = Thread.currentThread();
    private boolean ended;
    private boolean abandoned;

    private TimeLimitedCall() {}

    /**
     * Runs the call.
     *
     * @param work the call that may hang
     * @param limit the time limit
     * @param goOn called once, on a timer's thread, if the limit passes first; must not block
     */
    static <T> T run(Callable<T> work, Duration limit, Runnable goOn) throws Exception {
        TimeLimitedCall call = new TimeLimitedCall();
        Runnable after = DaemonThreads.ofCaller(goOn);
        CompletableFuture<Void> timer = new CompletableFuture<Void>().orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS);
        CompletableFuture<Void> unused = timer.whenComplete((nothing, timeout) -> {
            if (timeout != null && call.abandon()) {
                after.run();
            }
        });
        try {
            return work.call();
        } finally {
            call.end();
            // Removes the timer from its queue.
            timer.complete(null);
        }
    }

    private synchronized boolean abandon() {
        if (ended) {
            return false;
        }
        abandoned = true;
        // The interrupt is sent under the lock, so that it cannot interrupt the next work of the thread.
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
