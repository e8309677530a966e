package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Instant;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads and changes memories: the documents in the bucket, or a layer over them. Thread-safe. */
interface StoredMemories {

    /** Reads from the newest state of a memory. The question changes nothing. */
    <T> T ask(MemoryKey key, Function<MemoryTree, T> question);

    /** Changes a memory. The change may be made several times, each time on another tree. */
    <T> T change(MemoryKey key, Function<MemoryTree, T> change);

    /** Appends to a memory. A layer may write the append later than other changes. */
    default AppendResult append(MemoryKey key, Append append, Instant now) {
        return change(key, tree -> tree.append(append, now));
    }

    /** Erases a memory, even one that cannot be read, and returns its new epoch. */
    long erase(MemoryKey key);

    /** Does {@link S3MessageLog#eraseIfIdle} for an unknown memory. */
    boolean eraseIfIdle(MemoryKey key, Instant since);

    /** Erases a memory if its document is still as it was listed, and returns whether it was erased. */
    boolean eraseIf(MemoryKey key, String etag, @Nullable Tombstone listed);

    /** Writes the appends to a memory that are held back. */
    default void flush(MemoryKey key) {}

    /** Returns the memories to which appends are held back. */
    default Set<MemoryKey> held() {
        return Set.of();
    }

    /** Writes all appends that are held back. */
    default void close() {}
}
