package io.github.keepsake4j;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/** Threads for work that blocks: virtual ones where the JDK has them (21 and newer), else daemons that come and go. */
final class BlockingWork {

    static final Executor EXECUTOR = Executors.newCachedThreadPool(threads());

    private BlockingWork() {}

    private static ThreadFactory threads() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory")
                    .invoke(builder);
        } catch (ReflectiveOperationException e) {
            // JDK 17 to 20.
            return work -> {
                Thread thread = new Thread(work, "keepsake4j");
                thread.setDaemon(true);
                return thread;
            };
        }
    }
}
