package io.github.keepsake4j.spring;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.retention.CleanUp;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.CronTrigger;

/**
 * Removes memories that are not used any more, at the times of a cron expression. It has a thread of its own, so that it needs
 * no scheduling in the application. Several instances may run at the same time.
 */
final class RetentionJob implements SmartLifecycle {

    private static final Logger LOG = LoggerFactory.getLogger(RetentionJob.class);

    private final KeepsakeProperties properties;
    private final ObjectProvider<Keepsake> keepsake;
    private final ObjectProvider<MessageLog> messageLog;
    private final ObjectProvider<MessageLog> nodeLog;
    private final ObjectProvider<Metrics> metrics;
    private final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
    private volatile boolean running;

    RetentionJob(
            KeepsakeProperties properties,
            ObjectProvider<Keepsake> keepsake,
            ObjectProvider<MessageLog> messageLog,
            ObjectProvider<MessageLog> nodeLog,
            ObjectProvider<Metrics> metrics) {
        this.properties = properties;
        this.keepsake = keepsake;
        this.messageLog = messageLog;
        this.nodeLog = nodeLog;
        this.metrics = metrics;
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

    private CleanUp ofLogs() {
        List<MessageLog> logs = new ArrayList<>(List.of(messageLog.getObject()));
        nodeLog.ifUnique(logs::add);
        return CleanUp.of(logs.toArray(MessageLog[]::new));
    }

    /** Cleans up all tenants that are set. A tenant that fails is tried again at the next time. */
    void run() {
        KeepsakeProperties.Retention retention = properties.retention();
        Keepsake whole = keepsake.getIfUnique();
        // With a conversation go its memories that were made, of which the logs alone do not know.
        CleanUp cleanUp = (whole == null ? ofLogs() : whole.cleanUp())
                .idleFor(Objects.requireNonNull(retention.idleFor()))
                .tombstonesFor(retention.tombstonesFor())
                .inBatchesOf(retention.batchSize())
                .metrics(metrics.getIfUnique(() -> Metrics.NONE));
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
