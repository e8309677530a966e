package io.github.keepsake4j.spring;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Runs summaries, the index and asynchronous calls, and stops with the application. It stops after the web server,
 * which may still append to memories, and before the beans are destroyed, so that the log is open while work ends.
 */
final class BackgroundWork implements Executor, SmartLifecycle {

    private static final Logger LOG = LoggerFactory.getLogger(BackgroundWork.class);

    /** Below the web server's, which stop first. */
    private static final int PHASE = SmartLifecycle.DEFAULT_PHASE / 2;

    private final Duration longestWait;
    private final ExecutorService threads;
    private volatile boolean running = true;

    BackgroundWork(Duration longestWait) {
        this.longestWait = longestWait;
        CustomizableThreadFactory factory = new CustomizableThreadFactory("keepsake4j-");
        factory.setDaemon(true);
        this.threads = Executors.newCachedThreadPool(factory);
    }

    @Override
    public void execute(Runnable work) {
        threads.execute(work);
    }

    @Override
    public void start() {
        // It runs from the beginning.
    }

    @Override
    public void stop() {
        running = false;
        threads.shutdown();
        try {
            if (threads.awaitTermination(longestWait.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
            LOG.warn("Work in the background did not end within {} and is interrupted; nothing is lost", longestWait);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        threads.shutdownNow();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
