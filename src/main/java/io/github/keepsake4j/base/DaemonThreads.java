package io.github.keepsake4j.base;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Makes threads that hold nothing of the application that called first, which this library may outlive in a server. */
public final class DaemonThreads {

    private static final ClassLoader OWN = DaemonThreads.class.getClassLoader();

    static {
        // The JDK's thread for all pauses and time limits holds what its first caller has.
        named("keepsake4j-timer")
                .newThread(() -> new CompletableFuture<>().completeOnTimeout(null, 0, TimeUnit.NANOSECONDS))
                .start();
    }

    private DaemonThreads() {}

    /**
     * Makes threads for work of this library, or {@linkplain #ofCaller of several callers}.
     *
     * @param name the name of each thread
     * @return the factory
     */
    @SuppressWarnings("removal")
    public static ThreadFactory named(String name) {
        // Without the privileged action, a thread holds the class loaders of all classes on the stack.
        return work -> AccessController.doPrivileged((PrivilegedAction<Thread>) () -> {
            Thread thread = new Thread(root(), work, name, 0, false);
            thread.setDaemon(true);
            thread.setContextClassLoader(OWN);
            return thread;
        });
    }

    /** A thread of a caller's group would be waited for by what ends the group, such as Maven's exec:java. */
    private static ThreadGroup root() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        return group;
    }

    /**
     * Lets work run with the caller's context class loader on a thread that serves several callers.
     *
     * @param work the work
     * @return the work to run
     */
    public static Runnable ofCaller(Runnable work) {
        ClassLoader caller = Thread.currentThread().getContextClassLoader();
        return () -> {
            Thread.currentThread().setContextClassLoader(caller);
            try {
                work.run();
            } finally {
                Thread.currentThread().setContextClassLoader(OWN);
            }
        };
    }
}
