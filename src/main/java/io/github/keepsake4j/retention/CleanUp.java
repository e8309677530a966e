package io.github.keepsake4j.retention;

import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.metrics.Metrics;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes memories that nobody added to for a while, and conversations with all that their nodes remember. For a scheduler
 * to call, such as once a night:
 *
 * <pre>{@code
 * CleanUp cleanUp = CleanUp.of(messageLog, nodeLog).idleFor(Duration.ofDays(180));
 * CleanUp.Report report = cleanUp.run("tenant");
 * }</pre>
 *
 * <p>Memories are listed and looked at in batches, so that heap does not grow with their number. Each is looked at once
 * more right before it is removed; what is appended in the moment between is removed with it, and a turn that is going on
 * then fails as after any {@link MessageLog#erase}. A memory that cannot be read is not removed: its bytes may be repaired.
 * A log that must read memories to list them, as in a bucket, ends the run there with an error until it is.
 * An outage ends the run with an error; the next run goes on with what is left.
 *
 * <p>Immutable and thread-safe. The logs stay their makers' to close. Two runs at once do no harm.
 */
public final class CleanUp {

    private static final Logger LOG = LoggerFactory.getLogger(CleanUp.class);

    private static final int DEFAULT_BATCH = 100;
    private static final int MAX_BATCH = 1_000;

    private final List<MessageLog> logs;
    private final Duration idle;
    private final int batch;
    private final boolean dry;
    private final Metrics metrics;
    private final Consumer<MemoryInfo> listener;
    private final Clock clock;

    private CleanUp(
            List<MessageLog> logs,
            Duration idle,
            int batch,
            boolean dry,
            Metrics metrics,
            Consumer<MemoryInfo> listener,
            Clock clock) {
        this.logs = logs;
        this.idle = idle;
        this.batch = batch;
        this.dry = dry;
        this.metrics = metrics;
        this.listener = listener;
        this.clock = clock;
    }

    /**
     * What a run did.
     *
     * @param looked at how many memories it looked
     * @param removed how many it removed, or in a dry run would have
     * @param messages how many messages these held
     * @param failed how many it could not read or remove
     */
    public record Report(long looked, long removed, long messages, long failed) {

        static final Report NOTHING = new Report(0, 0, 0, 0);

        Report and(Report other) {
            return new Report(
                    looked + other.looked, removed + other.removed, messages + other.messages, failed + other.failed);
        }
    }

    /**
     * Cleans up in some logs; memories idle for 180 days unless said otherwise.
     *
     * @param logs the logs, 1 or more, such as those of conversations and of nodes; one that is given twice counts once
     * @return the clean-up; no I/O
     * @throws InvalidInputException if there is no log
     */
    public static CleanUp of(MessageLog... logs) {
        List<MessageLog> different = new ArrayList<>();
        for (MessageLog log : logs) {
            if (different.stream().noneMatch(known -> known == log)) {
                different.add(Objects.requireNonNull(log, "log"));
            }
        }
        if (different.isEmpty()) {
            throw new InvalidInputException("logs", "must not be empty");
        }
        return new CleanUp(
                List.copyOf(different),
                Duration.ofDays(180),
                DEFAULT_BATCH,
                false,
                Metrics.NONE,
                info -> {},
                Clock.systemUTC());
    }

    /**
     * Sets how long nothing was appended to a memory before it is removed. A memory without messages counts from when it
     * came into being.
     *
     * @param period longer than zero
     * @return a copy
     * @throws InvalidInputException if it is not
     */
    public CleanUp idleFor(Duration period) {
        if (period.isZero() || period.isNegative()) {
            throw new InvalidInputException("idleFor", "must be longer than zero, is " + period);
        }
        return new CleanUp(logs, period, batch, dry, metrics, listener, clock);
    }

    /**
     * Sets how many memories are listed at a time; 100 unless said otherwise.
     *
     * @param memories 1 to 1,000
     * @return a copy
     * @throws InvalidInputException if it is out of range
     */
    public CleanUp inBatchesOf(int memories) {
        if (memories < 1 || memories > MAX_BATCH) {
            throw new InvalidInputException("inBatchesOf", "must be 1 to " + MAX_BATCH + ", is " + memories);
        }
        return new CleanUp(logs, idle, memories, dry, metrics, listener, clock);
    }

    /**
     * Only reports what would be removed.
     *
     * @return a copy
     */
    public CleanUp dryRun() {
        return new CleanUp(logs, idle, batch, true, metrics, listener, clock);
    }

    /**
     * Counts what is removed.
     *
     * @param sink the metrics
     * @return a copy
     */
    public CleanUp metrics(Metrics sink) {
        return new CleanUp(logs, idle, batch, dry, Objects.requireNonNull(sink, "metrics"), listener, clock);
    }

    /**
     * Tells of each memory before it is removed, or in a dry run would be. What the listener throws ends the run, and that
     * memory stays.
     *
     * @param memories hears of them, on the thread that runs
     * @return a copy
     */
    public CleanUp telling(Consumer<MemoryInfo> memories) {
        return new CleanUp(logs, idle, batch, dry, metrics, Objects.requireNonNull(memories, "memories"), clock);
    }

    /** For tests: what time it is. */
    CleanUp at(Clock testClock) {
        return new CleanUp(logs, idle, batch, dry, metrics, listener, testClock);
    }

    /**
     * Removes a tenant's memories that have been idle.
     *
     * @param tenant the tenant's id
     * @return what was done
     */
    public Report run(String tenant) {
        Instant limit = clock.instant().minus(idle);
        Report report = Report.NOTHING;
        for (MessageLog log : logs) {
            report = report.and(
                    each(log, tenant, info -> isBefore(lastUse(info), limit), key -> isIdle(log, key, limit)));
        }
        return report;
    }

    /**
     * Removes a conversation and what nodes remember of it, however new. Where memories of nodes are, all of the tenant's
     * memories are listed for it.
     *
     * @param conversation the conversation
     * @return what was done
     */
    public Report conversation(ConversationKey conversation) {
        Report report = Report.NOTHING;
        for (MessageLog log : logs) {
            report = report.and(each(log, conversation.tenant(), info -> isPart(conversation, info), key -> true));
        }
        return report;
    }

    private Report each(MessageLog log, String tenant, Predicate<MemoryInfo> chosen, Predicate<MemoryKey> stillChosen) {
        Report report = Report.NOTHING;
        Optional<ListQuery> next = Optional.of(ListQuery.first(batch));
        while (next.isPresent()) {
            MemoryPage page = log.list(tenant, next.get());
            for (MemoryInfo info : page.memories()) {
                report = report.and(chosen.test(info) ? remove(log, info, stillChosen) : new Report(1, 0, 0, 0));
            }
            next = page.next();
        }
        return report;
    }

    private Report remove(MessageLog log, MemoryInfo info, Predicate<MemoryKey> stillChosen) {
        try {
            if (!stillChosen.test(info.key())) {
                return new Report(1, 0, 0, 0);
            }
            listener.accept(info);
            if (!dry) {
                log.erase(info.key());
                told(log.backend());
            }
            return new Report(1, 1, info.messages(), 0);
        } catch (KeepsakeException e) {
            if (e.isRetryable()) {
                throw e;
            }
            LOG.warn("Memory {} is not removed ({})", info.key(), e.getClass().getName());
            return new Report(1, 0, 0, 1);
        }
    }

    private void told(String backend) {
        try {
            metrics.memoryRemoved(backend);
        } catch (RuntimeException e) {
            LOG.debug("Metrics failed ({})", e.getClass().getName());
        }
    }

    private static Instant lastUse(MemoryInfo info) {
        Instant message = info.lastMessageAt();
        return message != null && message.isAfter(info.createdAt()) ? message : info.createdAt();
    }

    /** The list may be a while old. */
    private static boolean isIdle(MessageLog log, MemoryKey key, Instant limit) {
        List<LoggedMessage> newest = log.history(key, HistoryQuery.newest(1)).messages();
        return newest.isEmpty() || isBefore(newest.get(newest.size() - 1).createdAt(), limit);
    }

    private static boolean isBefore(Instant use, Instant limit) {
        return use.isBefore(limit);
    }

    private static boolean isPart(ConversationKey conversation, MemoryInfo info) {
        MemoryKey key = info.key();
        return key.equals(conversation)
                || (key instanceof NodeKey node && node.conversationId().equals(conversation.conversationId()));
    }
}
