package io.github.keepsake4j.spring;

import io.github.keepsake4j.retention.CleanUp;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.CronTrigger;

/**
 * Removes memories that are no longer used, at the times of a cron expression. It has a thread of its own, so the
 * application needs no scheduling. Several instances may run at the same time.
 */
final class RetentionJob implements SmartLifecycle {

    private static final Logger LOG = LoggerFactory.getLogger(RetentionJob.class);

    private final KeepsakeProperties properties;
    private final Supplier<CleanUp> cleanUps;
    private final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
    private volatile boolean running;

    RetentionJob(KeepsakeProperties properties, Supplier<CleanUp> cleanUps) {
        this.properties = properties;
        this.cleanUps = cleanUps;
    }

    @Override
    public void start() {
        KeepsakeProperties.Retention retention = properties.retention();
        scheduler.setThreadNamePrefix("keepsake4j-retention-");
        scheduler.setDaemon(true);
        scheduler.setAwaitTerminationMillis(properties.shutdownMaxWait().toMillis());
        scheduler.initialize();
        // It ends with the scheduler.
        var unused = scheduler.schedule(
                this::run, new CronTrigger(Objects.requireNonNull(retention.cron()), retention.zone()));
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        scheduler.shutdown();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Cleans up all configured tenants. A tenant that fails is tried again at the next time. */
    void run() {
        KeepsakeProperties.Retention retention = properties.retention();
        CleanUp cleanUp = cleanUps.get()
                .idleFor(Objects.requireNonNull(retention.idleFor()))
                .tombstonesFor(retention.tombstonesFor())
                .inBatchesOf(retention.batchSize());
        for (Map.Entry<String, String> metadata : retention.metadata().entrySet()) {
            cleanUp = cleanUp.withMetadata(metadata.getKey(), metadata.getValue());
        }
        for (String tenant : retention.tenants()) {
            try {
                CleanUp.Report report = cleanUp.run(tenant);
                LOG.info(
                        "Retention: {} memories looked at, {} removed with {} messages, {} failed",
                        report.looked(),
                        report.removed(),
                        report.messages(),
                        report.failed());
            } catch (RuntimeException e) {
                LOG.warn("Retention failed and is repeated at the next time: {}", e.toString());
            }
        }
    }
}
