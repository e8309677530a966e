package io.github.keepsake4j.backend;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Instant;
import java.util.Objects;

/**
 * Reports appends and erasures to an observer. It adds no statement to any call. This class is not for users: a
 * {@code Keepsake} puts it around its logs. Thread-safe.
 */
public final class ObservedLog extends ForwardingMessageLog {

    /** Receives changes after they are stored, on the caller's thread. Must be thread-safe and must not wait. */
    public interface Observer {

        /**
         * Called after an append.
         *
         * @param key the memory
         */
        void appended(MemoryKey key);

        /**
         * Called when another message became the head of the memory or of a branch.
         *
         * @param key the memory
         */
        default void moved(MemoryKey key) {}

        /**
         * Called before a memory is erased unconditionally. An implementation removes its own data here. If the process
         * then ends before the erasure, the caller repeats the erasure. The method may wait. Its exceptions go to the
         * caller of the erasure.
         *
         * @param key the memory
         */
        default void erasing(MemoryKey key) {}

        /**
         * Called after a clean-up of a tenant's memories, to remove the remains of an erasure that a crash interrupted.
         *
         * @param tenant the tenant's id
         */
        default void cleanedUp(String tenant) {}

        /**
         * Called after a memory was erased. The method may wait. Its exceptions go to the caller of the erasure.
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
     * @param observer receives the changes
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
        // Other data is removed after the condition was checked: a memory that is in use keeps it.
        boolean erased = super.eraseIfIdle(key, since);
        if (erased) {
            observer.erased(key);
        }
        return erased;
    }

    @Override
    public long removeTombstones(String tenant, Instant erasedBefore) {
        // First, because a tombstone shows that a memory was erased.
        observer.cleanedUp(tenant);
        return super.removeTombstones(tenant, erasedBefore);
    }
}
