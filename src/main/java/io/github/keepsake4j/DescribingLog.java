package io.github.keepsake4j;

import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Adds the metadata of new memories to the appends and descriptions that may create them. If this process knows that a
 * memory exists in the epoch of an append, the append cannot create it, because an erasure begins another epoch. A log
 * that removes tombstones forgets epochs, so a read that finds no messages forgets what was known. Thread-safe.
 */
final class DescribingLog extends ForwardingMessageLog {

    private static final int MEMORIES = 10_000;

    private final Keepsake.MetadataAtCreation metadata;

    /** The epochs in which memories exist. */
    private final RecentlyUsed<MemoryKey, Long> existing = new RecentlyUsed<>(MEMORIES);

    /** The metadata that were read on the thread of a caller whose append is made on another thread. */
    private record Captured(MemoryKey key, Map<String, String> metadata) {}

    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Captured> captured = new ThreadLocal<>();

    DescribingLog(MessageLog log, Keepsake.MetadataAtCreation metadata) {
        super(log);
        this.metadata = metadata;
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        AppendResult result = super.append(key, exists(key, append.epoch()) ? append : append.creating(metadata(key)));
        if (result.head() != null) {
            existing.put(key, result.epoch());
        }
        return result;
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        Tail tail = super.read(key, query);
        if (tail.head() != null) {
            existing.put(key, tail.epoch());
        } else {
            existing.remove(key);
        }
        return tail;
    }

    /** A title or an expiry may be set before the first message. It then creates the memory. */
    @Override
    public <R> R change(MemoryKey key, Change<R> change) {
        return super.change(
                key,
                change instanceof Change.Describe describe && keepsMetadata(describe) && Reads.info(this, key) == null
                        ? described(key, describe)
                        : change);
    }

    private static boolean keepsMetadata(Change.Describe change) {
        return change.metadata() == null
                || (change.merge() && !change.metadata().isEmpty());
    }

    @SuppressWarnings("unchecked")
    private <R> Change<R> described(MemoryKey key, Change.Describe change) {
        Map<String, @Nullable String> all = new LinkedHashMap<>(metadata(key));
        if (change.metadata() != null) {
            all.putAll(change.metadata());
        }
        return (Change<R>) new Change.Describe(change.title(), all, change.merge());
    }

    /** Returns a task that runs with the metadata that its caller gives to a new memory. */
    Runnable capture(MemoryKey key, Runnable task) {
        Captured ofCaller = new Captured(key, metadata(key));
        return () -> {
            Captured before = captured.get();
            captured.set(ofCaller);
            try {
                task.run();
            } finally {
                captured.set(before);
            }
        };
    }

    private boolean exists(MemoryKey key, @Nullable Long epoch) {
        return epoch != null && epoch.equals(existing.get(key));
    }

    private Map<String, String> metadata(MemoryKey key) {
        Captured ofCaller = captured.get();
        if (ofCaller != null && ofCaller.key().equals(key)) {
            return ofCaller.metadata();
        }
        Map<String, String> given = metadata.of(key);
        if (given == null) {
            throw new InvalidInputException("metadataAtCreation", "must not return null, for memory " + key);
        }
        return given;
    }
}
