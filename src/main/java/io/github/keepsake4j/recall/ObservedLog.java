package io.github.keepsake4j.recall;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Instant;
import java.util.Objects;

/**
 * Tells an observer what is appended and erased through it. It adds no statement to any call. This class is not for users: a
 * {@code Keepsake} puts it around its logs. Thread-safe.
 */
public final class ObservedLog extends ForwardingMessageLog {

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

    private final Observer observer;

    /**
     * Observes a log.
     *
     * @param log the log
     * @param observer is told of changes
     */
    public ObservedLog(MessageLog log, Observer observer) {
        super(log);
        this.observer = Objects.requireNonNull(observer, "observer");
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        AppendResult result = super.append(key, append);
        observer.appended(key);
        return result;
    }

    @Override
    public <R> R change(MemoryKey key, Change<R> change) {
        R result = super.change(key, change);
        if (change instanceof Change.MoveHead) {
            observer.moved(key);
        }
        return result;
    }

    @Override
    public long erase(MemoryKey key) {
        observer.erasing(key);
        long epoch = super.erase(key);
        observer.erased(key);
        return epoch;
    }

    @Override
    public boolean eraseIfIdle(MemoryKey key, Instant since) {
        // The rest goes after the condition: what is used in this moment keeps it.
        boolean erased = super.eraseIfIdle(key, since);
        if (erased) {
            observer.erased(key);
        }
        return erased;
    }

    @Override
    public long removeTombstones(String tenant, Instant erasedBefore) {
        // First, because a tombstone tells that a memory was erased.
        observer.cleanedUp(tenant);
        return super.removeTombstones(tenant, erasedBefore);
    }
}
