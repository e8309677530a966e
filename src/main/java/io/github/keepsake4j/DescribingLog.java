package io.github.keepsake4j;

import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Adds the metadata of new memories to the appends that may create them. If this process knows that a memory exists in
 * the epoch of an append, the append cannot create it, because an erasure begins another epoch. Thread-safe.
 */
final class DescribingLog extends ForwardingMessageLog {

    private static final int MEMORIES = 10_000;

    private final Keepsake.MetadataAtCreation metadata;

    /** The epochs in which memories exist. */
    private final RecentlyUsed<MemoryKey, Long> existing = new RecentlyUsed<>(MEMORIES);

    /** The metadata that were read on the thread of a caller whose append is made on another thread. */
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Map<String, String>> captured = new ThreadLocal<>();

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
        }
        return tail;
    }

    /** Returns a task that runs with the metadata that its caller gives to a new memory. */
    Runnable capture(MemoryKey key, Runnable task) {
        if (existing.get(key) != null) {
            return task;
        }
        Map<String, String> ofCaller = metadata(key);
        return () -> {
            captured.set(ofCaller);
            try {
                task.run();
            } finally {
                captured.remove();
            }
        };
    }

    private boolean exists(MemoryKey key, @Nullable Long epoch) {
        return epoch != null && epoch.equals(existing.get(key));
    }

    private Map<String, String> metadata(MemoryKey key) {
        Map<String, String> ofCaller = captured.get();
        if (ofCaller != null) {
            return ofCaller;
        }
        Map<String, String> given = metadata.of(key);
        if (given == null) {
            throw new InvalidInputException("metadataAtCreation", "must not return null, for memory " + key);
        }
        return given;
    }
}
