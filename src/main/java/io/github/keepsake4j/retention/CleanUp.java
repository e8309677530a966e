package io.github.keepsake4j.retention;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.metrics.Metrics;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes memories to which nothing was appended for a while or which have expired, and conversations together with the
 * memories of their nodes. A scheduler should call it, for instance once a night:
 *
 * <pre>{@code
 * CleanUp cleanUp = CleanUp.of(messageLog, nodeLog).idleFor(Duration.ofDays(180));
 * CleanUp.Report report = cleanUp.run("tenant");
 * }</pre>
 *
 * <p>Memories are listed and checked in batches, so that heap use does not grow with their number. Each memory is
 * checked once more in the step that removes it, as {@link MessageLog#eraseIfIdle} describes, so that a concurrent
 * append keeps the memory. A turn that is in progress when its memory is removed fails, as after any
 * {@link MessageLog#erase}. A memory that cannot be read is not removed, because its bytes may be repaired. It is
 * counted and logged, and the run continues. An outage ends the run with an error; the next run continues with the
 * remaining memories.
 *
 * <p>A run also removes old tombstones of the tenant's erased memories. They must stay for longer than any work that
 * began before the erasure may take.
 *
 * <p>Immutable and thread-safe. The creators of the logs remain responsible for closing them. Several runs at the same time
 * are safe, and each reports what it removed.
 */
public final class CleanUp {

    private static final Logger LOG = LoggerFactory.getLogger(CleanUp.class);

    private static final int DEFAULT_BATCH = 100;
    private static final int MAX_BATCH = 1_000;

    private final List<MessageLog> logs;
    private Duration idle = Duration.ofDays(180);
    private Duration tombstones = Duration.ofDays(30);
    private int batch = DEFAULT_BATCH;
    private boolean dry;
    private ListQuery.@Nullable Metadata metadata;
    private Metrics metrics = Metrics.NONE;
    private Consumer<MemoryInfo> listener = info -> {};
    private Consumer<MemoryKey> others = key -> {};
    private Clock clock = Clock.systemUTC();

    private CleanUp(List<MessageLog> logs) {
        this.logs = logs;
    }

    /** Returns a copy with a change. */
    private CleanUp with(Consumer<CleanUp> change) {
        CleanUp copy = new CleanUp(logs);
        copy.idle = idle;
        copy.tombstones = tombstones;
        copy.batch = batch;
        copy.dry = dry;
        copy.metadata = metadata;
        copy.metrics = metrics;
        copy.listener = listener;
        copy.others = others;
        copy.clock = clock;
        change.accept(copy);
        return copy;
    }

    /**
     * The result of a run.
     *
     * @param looked the number of memories that were checked; a node's memory that is removed with its conversation may
     * count twice
     * @param removed the number of memories that were removed, or in a dry run would have been
     * @param messages the number of messages in the removed memories
     * @param failed the number of memories that could not be read or removed
     */
    public record Report(long looked, long removed, long messages, long failed) {

        static final Report NOTHING = new Report(0, 0, 0, 0);

        /** The report on a memory that was checked and kept. */
        static final Report STAYS = new Report(1, 0, 0, 0);

        Report and(Report other) {
            return new Report(
                    looked + other.looked, removed + other.removed, messages + other.messages, failed + other.failed);
        }
    }

    /**
     * Creates a clean-up of the given logs. By default, it removes memories that have been idle for 180 days.
     *
     * @param logs the logs, 1 or more, such as those of conversations and of nodes; a log that is given twice counts
     *     once
     * @return the clean-up; this method does no I/O
     * @throws InvalidInputException if no log is given
     */
    public static CleanUp of(MessageLog... logs) {
        List<MessageLog> different = new ArrayList<>();
        for (MessageLog log : logs) {
            if (different.stream().noneMatch(known -> known == log)) {
                different.add(InvalidInputException.given("log", log));
            }
        }
        if (different.isEmpty()) {
            throw new InvalidInputException("logs", "must not be empty");
        }
        return new CleanUp(List.copyOf(different));
    }

    /**
     * Sets how long a memory must be idle before it is removed, counted from its last append. A memory without messages
     * is idle since its creation, and an imported one since it was stored. Default: 180 days.
     *
     * @param period the period, longer than zero
     * @return a copy
     * @throws InvalidInputException if the period is zero or negative
     */
    public CleanUp idleFor(Duration period) {
        InvalidInputException.checkPositive("idleFor", period);
        return with(copy -> copy.idle = period);
    }

    /**
     * Sets how long the tombstone of an erased memory stays. A turn, a retry or a summary that began before the erasure
     * and is delayed for longer is no longer refused. Only logs in buckets and files have tombstones to remove.
     * Default: 30 days.
     *
     * @param period the period, longer than zero
     * @return a copy
     * @throws InvalidInputException if the period is zero or negative
     */
    public CleanUp tombstonesFor(Duration period) {
        InvalidInputException.checkPositive("tombstonesFor", period);
        return with(copy -> copy.tombstones = period);
    }

    /**
     * Sets the number of memories that are listed at a time. Default: 100.
     *
     * @param memories 1 to 1,000
     * @return a copy
     * @throws InvalidInputException if the number is out of range
     */
    public CleanUp inBatchesOf(int memories) {
        InvalidInputException.checkRange("inBatchesOf", 1, MAX_BATCH, memories);
        return with(copy -> copy.batch = memories);
    }

    /**
     * Limits {@link #run} to memories with a value of their metadata, such as those of an owner or a project, for a
     * period of their own. They are listed in the first log, which must declare the name; see
     * {@link ListQuery#withMetadata}. The memories of a conversation's nodes are removed with it, because they do not
     * have its metadata. Default: all memories.
     *
     * @param name the name, such as {@code project}
     * @param value the text
     * @return a copy
     */
    public CleanUp withMetadata(String name, String value) {
        return with(copy -> copy.metadata = new ListQuery.Metadata(name, value));
    }

    /**
     * Makes the clean-up report the memories that would be removed, without removing them.
     *
     * @return a copy
     */
    public CleanUp dryRun() {
        return with(copy -> copy.dry = true);
    }

    /**
     * Sets the metrics sink. It counts the removed memories. Default: none.
     *
     * @param sink the metrics sink
     * @return a copy
     */
    public CleanUp metrics(Metrics sink) {
        return with(copy -> copy.metrics = InvalidInputException.given("metrics", sink));
    }

    /**
     * Sets a listener that is called for each memory before it is removed, or in a dry run would be. The listener is
     * also called for a memory that is kept because it is used at that moment. If the listener throws an exception,
     * that memory is not removed. The exception ends the run, unless it is a {@link KeepsakeException} that is not
     * retryable. Default: none.
     *
     * @param memories the listener, which is called on the thread of the run
     * @return a copy
     */
    public CleanUp telling(Consumer<MemoryInfo> memories) {
        return with(copy -> copy.listener = InvalidInputException.given("memories", memories));
    }

    /**
     * Sets a function that removes the data of a memory in other places, such as {@code memoryStore::erase} for its
     * long-term memories. It is called after each removal, so that a memory that is not removed keeps the data. If the
     * process ends between the two, the data stays. {@code Keepsake.cleanUp()} does not need this function, and removes
     * such data in its next run. An exception ends the run, unless it is a {@link KeepsakeException} that is not
     * retryable. Default: none.
     *
     * @param removes removes the data of a memory in other places; called on the thread of the run, and not in a dry
     * run
     * @return a copy
     */
    public CleanUp alsoErasing(Consumer<MemoryKey> removes) {
        return with(copy -> copy.others = InvalidInputException.given("removes", removes));
    }

    /** Sets the clock, for tests. */
    CleanUp at(Clock testClock) {
        return with(copy -> copy.clock = testClock);
    }

    /**
     * Removes a tenant's idle memories, and those that have expired; see {@link MemoryInfo#expiresAt}. An append keeps a
     * memory that expires after its last use; a change of the conditions that is made during the run may come too late.
     * The memories of a conversation's nodes are removed with an expired conversation. If the run fails in between after
     * the removal of a conversation that expired after its last use, they remain until they are idle or have expired
     * themselves. A memory that expires at a time is removed even if messages in it cannot be read.
     *
     * @param tenant the tenant's id
     * @return the result of the run
     */
    public Report run(String tenant) {
        Instant now = clock.instant();
        Instant limit = before(now, idle);
        ListQuery all = ListQuery.first(batch);
        ListQuery query = metadata == null ? all : all.withMetadata(metadata.name(), metadata.value());
        List<MessageLog> listed = metadata == null ? logs : logs.subList(0, 1);
        Report report = each(listed, tenant, query, new Due(now, limit, query)::look, key -> true);
        if (!dry) {
            logs.forEach(log -> log.removeTombstones(tenant, before(now, tombstones)));
        }
        return report;
    }

    /**
     * Removes a conversation and its nodes' memories, however recent they are. To find the nodes' memories, all
     * memories of the tenant are listed.
     *
     * @param conversation the conversation
     * @return the result of the run
     */
    public Report conversation(ConversationKey conversation) {
        InvalidInputException.given("conversation", conversation);
        return each(
                logs,
                conversation.tenant(),
                ListQuery.first(batch),
                (log, info) -> isPart(conversation, info.key())
                        ? remove(log, info, () -> {
                            // Also first, because a run after a crash would not list the conversation.
                            others.accept(info.key());
                            return Reads.erase(log, info.key());
                        })
                        : Report.STAYS,
                key -> isPart(conversation, key));
    }

    /** Returns the time before a period, or the year 1970 if that was longer ago. */
    private static Instant before(Instant now, Duration period) {
        return period.compareTo(Duration.between(Instant.EPOCH, now)) > 0 ? Instant.EPOCH : now.minus(period);
    }

    /** Removes the memories that are idle or have expired. Used by one thread. */
    private final class Due {

        private final Instant now;
        private final Instant limit;
        private final ListQuery query;

        /** The removed nodes' memories. A page that was read before may still have them. */
        private final Set<NodeKey> gone = new HashSet<>();

        Due(Instant now, Instant limit, ListQuery query) {
            this.now = now;
            this.limit = limit;
            this.query = query;
        }

        Report look(MessageLog log, MemoryInfo info) {
            if (info.key() instanceof NodeKey node && gone.contains(node)) {
                return Report.NOTHING;
            }
            if (isExpired(info)) {
                return withNodes(log, info, reports -> eraseExpired(log, info.key(), reports));
            }
            if (!info.lastUse().isBefore(limit)) {
                return Report.STAYS;
            }
            return metadata == null
                    ? removed(log, info, () -> log.eraseIfIdle(info.key(), limit))
                    : withNodes(log, info, reports -> {
                        // Its metadata may have been changed since the list was read.
                        MemoryInfo current = Reads.info(log, info.key());
                        return current != null && query.matches(current) && eraseIdle(log, info.key(), limit, reports);
                    });
        }

        private boolean isExpired(MemoryInfo info) {
            Instant end = info.expiresAt();
            return end != null && end.isBefore(now);
        }

        /** Removes a memory by a function that adds the reports on its nodes. */
        private Report withNodes(MessageLog log, MemoryInfo listed, Predicate<List<Report>> erase) {
            List<Report> reports = new ArrayList<>();
            reports.add(removed(log, listed, () -> erase.test(reports)));
            if (dry && reports.get(0).removed() > 0) {
                nodes(listed.key(), reports, Reads::erase);
            }
            return reports.stream().reduce(Report.NOTHING, Report::and);
        }

        private boolean eraseExpired(MessageLog log, MemoryKey key, List<Report> reports) {
            // The conditions may have been changed since the list was read.
            MemoryInfo info = Reads.info(log, key);
            if (info == null || !isExpired(info)) {
                return false;
            }
            MemoryInfo.Expiry expiry = MemoryInfo.Expiry.of(info.metadata());
            if (expiry.at() != null && expiry.at().isBefore(now)) {
                // The nodes first: if this fails, the conversation is still listed.
                nodes(key, reports, Reads::erase);
                return Reads.erase(log, key);
            }
            return eraseIdle(log, key, now.minus(Objects.requireNonNull(expiry.afterUse())), reports);
        }

        private boolean eraseIdle(MessageLog log, MemoryKey key, Instant since, List<Report> reports) {
            if (!log.eraseIfIdle(key, since)) {
                return false;
            }
            // A node that a run uses at this moment stays.
            nodes(key, reports, (its, node) -> its.eraseIfIdle(node, since));
            return true;
        }

        private void nodes(MemoryKey key, List<Report> reports, BiPredicate<MessageLog, MemoryKey> erase) {
            if (key instanceof ConversationKey conversation) {
                for (MessageLog log : logs) {
                    log.nodes(conversation).stream()
                            .filter(node -> !gone.contains(node))
                            .forEach(node -> reports.add(attempt(node, () -> removeNode(log, node, erase))));
                }
            }
        }

        private Report removeNode(MessageLog log, NodeKey node, BiPredicate<MessageLog, MemoryKey> erase) {
            MemoryInfo info = Reads.info(log, node);
            return info == null ? Report.NOTHING : removed(log, info, () -> erase.test(log, node));
        }

        private Report removed(MessageLog log, MemoryInfo info, BooleanSupplier erased) {
            Report report = remove(log, info, erased);
            if (report.removed() > 0 && info.key() instanceof NodeKey node) {
                gone.add(node);
            }
            return report;
        }
    }

    private static Report each(
            List<MessageLog> logs,
            String tenant,
            ListQuery query,
            BiFunction<MessageLog, MemoryInfo, Report> look,
            Predicate<MemoryKey> concerned) {
        Report report = Report.NOTHING;
        for (MessageLog log : logs) {
            for (MemoryPage page : Reads.pages(log, tenant, query)) {
                for (MemoryInfo info : page.memories()) {
                    report = report.and(attempt(info.key(), () -> look.apply(log, info)));
                }
                for (MemoryPage.Damaged damaged : page.damaged()) {
                    report = report.and(
                            damaged.key() == null || concerned.test(damaged.key())
                                    ? failed(damaged.name(), damaged.problem())
                                    : Report.STAYS);
                }
            }
        }
        return report;
    }

    private static Report attempt(MemoryKey key, Supplier<Report> look) {
        try {
            return look.get();
        } catch (KeepsakeException e) {
            if (e.isRetryable()) {
                throw e;
            }
            return failed(key.toString(), e.toString());
        }
    }

    private Report remove(MessageLog log, MemoryInfo info, BooleanSupplier erased) {
        return attempt(info.key(), () -> {
            listener.accept(info);
            if (dry) {
                return new Report(1, 1, info.messages(), 0);
            }
            if (!erased.getAsBoolean()) {
                return Report.STAYS;
            }
            // Last, because a memory that is used at this moment keeps its data.
            others.accept(info.key());
            Metrics.tell(metrics, sink -> sink.memoryRemoved(log.backend()));
            return new Report(1, 1, info.messages(), 0);
        });
    }

    private static Report failed(String memory, String why) {
        LOG.warn("Memory {} is not removed completely ({})", memory, why);
        return new Report(1, 0, 0, 1);
    }

    private static boolean isPart(ConversationKey conversation, MemoryKey key) {
        return key.equals(conversation)
                || (key instanceof NodeKey node && node.conversationId().equals(conversation.conversationId()));
    }
}
