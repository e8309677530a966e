package io.github.keepsake4j;

import io.github.keepsake4j.base.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** The executor of blocking work. It uses virtual threads on JDK 21 and newer, and cached daemon threads otherwise. */
final class BlockingWork {

    private static final ExecutorService THREADS = Executors.newCachedThreadPool(threads());

    /** Its threads are used by all applications that share this class, so work takes the caller's class loader. */
    static final Executor EXECUTOR = work -> THREADS.execute(DaemonThreads.ofCaller(work));

    private BlockingWork() {}

    /**
     * Returns an executor that starts blocking work after a pause. One daemon thread of the JDK measures all pauses.
     */
    static Executor after(Duration pause) {
        Executor later = CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS, THREADS);
        return work -> later.execute(DaemonThreads.ofCaller(work));
    }

    private static ThreadFactory threads() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            type.getMethod("inheritInheritableThreadLocals", boolean.class).invoke(builder, false);
            return (ThreadFactory) type.getMethod("factory").invoke(builder);
        } catch (ReflectiveOperationException e) {
            // JDK 17 to 20 have no virtual threads.
            return DaemonThreads.named("keepsake4j");
        }
    }
}
