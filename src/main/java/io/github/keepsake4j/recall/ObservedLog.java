package io.github.keepsake4j.recall;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells an observer what is appended and erased through it. It adds no statement to any call. This class is not for users: a
 * {@code Keepsake} puts it around its logs. Thread-safe.
 */
public final class ObservedLog implements MessageLog {

    /** Is told of changes after they are stored, on the caller's thread. Must be thread-safe and must not wait. */
    public interface Observer {

        /**
         * Is told that something was appended.
         *
         * @param key the memory
         */
        void appended(MemoryKey key);

        /**
         * Is told that another message is the head of the memory or of a branch.
         *
         * @param key the memory
         */
        default void moved(MemoryKey key) {}

        /**
         * Is told that a memory is about to be erased, whatever is appended to it. What is removed now is removed also if the
         * process ends before the erasure, which the caller then repeats. It may wait, and the caller of the erasure gets what it
         * throws.
         *
         * @param key the memory
         */
        default void erasing(MemoryKey key) {}

        /**
         * Is told that a clean-up has gone over a tenant's memories, so that what an erasure left that a crash ended is removed.
         *
         * @param tenant the tenant's id
         */
        default void cleanedUp(String tenant) {}

        /**
         * Is told that a memory was erased. It may wait, and the caller of the erasure gets what it throws.
         *
         * @param key the memory
         */
        void erased(MemoryKey key);
    }

    private final MessageLog log;
    private final Observer observer;

    /**
     * Observes a log.
     *
     * @param log the log
     * @param observer is told of changes
     */
    public ObservedLog(MessageLog log, Observer observer) {
        this.log = Objects.requireNonNull(log, "log");
        this.observer = Objects.requireNonNull(observer, "observer");
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        AppendResult result = log.append(key, append);
        observer.appended(key);
        return result;
    }

    @Override
    public long erase(MemoryKey key) {
        observer.erasing(key);
        long epoch = log.erase(key);
        observer.erased(key);
        return epoch;
    }

    @Override
    public boolean eraseIfIdle(MemoryKey key, Instant since) {
        // The rest goes after the condition: what is used in this moment keeps it.
        boolean erased = log.eraseIfIdle(key, since);
        if (erased) {
            observer.erased(key);
        }
        return erased;
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        return log.read(key, query);
    }

    @Override
    public List<LoggedMessage> find(MemoryKey key, Collection<String> ids) {
        return log.find(key, ids);
    }

    @Override
    public List<LoggedMessage> findAt(MemoryKey key, Collection<Long> sequences) {
        return log.findAt(key, sequences);
    }

    @Override
    public Map<MemoryKey, List<LoggedMessage>> find(Map<MemoryKey, ? extends Collection<String>> ids) {
        return log.find(ids);
    }

    @Override
    public Map<MemoryKey, List<LoggedMessage>> findAt(Map<MemoryKey, ? extends Collection<Long>> sequences) {
        return log.findAt(sequences);
    }

    @Override
    public Set<Long> onBranch(MemoryKey key, Collection<Long> sequences) {
        return log.onBranch(key, sequences);
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        return log.history(key, query);
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        return log.branches(key);
    }

    @Override
    public String moveHead(MemoryKey key, String messageId, @Nullable Long epoch) {
        String before = log.moveHead(key, messageId, epoch);
        observer.moved(key);
        return before;
    }

    @Override
    public void moveBranch(MemoryKey key, String name, String messageId, @Nullable Long epoch) {
        log.moveBranch(key, name, messageId, epoch);
    }

    @Override
    public Optional<String> branchEnd(MemoryKey key, String name) {
        return log.branchEnd(key, name);
    }

    @Override
    public void setOutcome(MemoryKey key, String messageId, @Nullable Outcome outcome, @Nullable Long epoch) {
        log.setOutcome(key, messageId, outcome, epoch);
    }

    @Override
    public Optional<Made> made(MemoryKey key, String messageId) {
        return log.made(key, messageId);
    }

    @Override
    public List<DailyUsage> usage(String tenant, LocalDate from, LocalDate toExclusive) {
        return log.usage(tenant, from, toExclusive);
    }

    @Override
    public void describe(MemoryKey key, @Nullable String title, Map<String, String> metadata) {
        log.describe(key, title, metadata);
    }

    @Override
    public void setTitle(MemoryKey key, @Nullable String title) {
        log.setTitle(key, title);
    }

    @Override
    public Map<String, String> mergeMetadata(MemoryKey key, Map<String, @Nullable String> changes) {
        return log.mergeMetadata(key, changes);
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        return log.list(tenant, query);
    }

    @Override
    public MemoryDetails details(MemoryKey key) {
        return log.details(key);
    }

    @Override
    public List<NodeKey> nodes(ConversationKey conversation) {
        return log.nodes(conversation);
    }

    @Override
    public void putSummary(MemoryKey key, Summary summary, long epoch) {
        log.putSummary(key, summary, epoch);
    }

    @Override
    public List<Summary> summaries(MemoryKey key) {
        return log.summaries(key);
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        return log.acquireLease(key, name, owner, duration);
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        log.releaseLease(key, name, owner);
    }

    @Override
    public long removeTombstones(String tenant, Instant erasedBefore) {
        // First, because a tombstone tells that a memory was erased.
        observer.cleanedUp(tenant);
        return log.removeTombstones(tenant, erasedBefore);
    }

    @Override
    public List<Damage> check(MemoryKey key) {
        return log.check(key);
    }

    @Override
    public Repair repair(MemoryKey key) {
        return log.repair(key);
    }

    @Override
    public void flush(MemoryKey key) {
        log.flush(key);
    }

    @Override
    public String backend() {
        return log.backend();
    }

    @Override
    public void close() {
        log.close();
    }
}
