package io.github.keepsake4j.log;

import io.github.keepsake4j.message.MemoryKey;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The entry of a memory in a list of memories.
 *
 * @param key the memory
 * @param title its title, or null
 * @param metadata short texts by name
 * @param messages the number of its messages on all branches
 * @param tokens the sum of their stored token counts
 * @param createdAt when it was created, in microseconds of UTC; if its first message was imported, the time of that
 *     message
 * @param lastMessageAt the latest time of its messages, in microseconds of UTC, or null if it has none
 * @param storedAt when this log first stored it, in microseconds of UTC; later than {@code createdAt} if it was imported
 */
public record MemoryInfo(
        MemoryKey key,
        @Nullable String title,
        Map<String, String> metadata,
        long messages,
        long tokens,
        Instant createdAt,
        @Nullable Instant lastMessageAt,
        Instant storedAt) {

    /** Copies the components. */
    public MemoryInfo {
        metadata = Map.copyOf(metadata);
    }

    /**
     * Returns when the memory was last used, according to its messages.
     *
     * @return the later of {@code lastMessageAt} and {@code storedAt}
     */
    public Instant lastUse() {
        return lastMessageAt != null && lastMessageAt.isAfter(storedAt) ? lastMessageAt : storedAt;
    }

    /** Leaves out the title and the metadata, so that the result may be logged. */
    @Override
    public String toString() {
        return "MemoryInfo[key=" + key + ", messages=" + messages + ", tokens=" + tokens + ", createdAt=" + createdAt
                + ", lastMessageAt=" + lastMessageAt + "]";
    }
}
