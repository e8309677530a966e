package io.github.keepsake4j.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Work of several threads at the same time. */
public final class Threads {

    /** The work of one thread, which may throw. */
    public interface Work {
        void run(int thread) throws Exception;
    }

    private Threads() {}

    /**
     * Runs the work in threads with the numbers from 0 on, and returns when all have ended. If one fails, the others have
     * ten seconds for their end before they are interrupted, so that they do not write behind the test's back.
     */
    public static void run(int threads, Work work) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> futures = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int thread = i;
                futures.add(executor.submit(() -> {
                    work.run(thread);
                    return null;
                }));
            }
            for (Future<?> future : futures) {
                future.get();
            }
        } finally {
            executor.shutdown();
            if (!executor.awaitTermination(10, TimeUnit.SECONDS)) {
                executor.shutdownNow();
            }
        }
    }

    /** Lets this process, which a test started, end with an error if one of its threads fails. */
    public static void endIfOneFails() {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
    }
}
