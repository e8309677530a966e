package io.github.keepsake4j;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** The executor of blocking work. It uses virtual threads on JDK 21 and newer, and cached daemon threads otherwise. */
final class BlockingWork {

    static final Executor EXECUTOR = Executors.newCachedThreadPool(threads());

    private BlockingWork() {}

    /**
     * Returns an executor that starts blocking work after a pause. One daemon thread of the JDK measures all pauses.
     */
    static Executor after(Duration pause) {
        return CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS, EXECUTOR);
    }

    private static ThreadFactory threads() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory")
                    .invoke(builder);
        } catch (ReflectiveOperationException e) {
            // JDK 17 to 20 have no virtual threads.
            return work -> {
                Thread thread = new Thread(work, "keepsake4j");
                thread.setDaemon(true);
                return thread;
            };
        }
    }
}
