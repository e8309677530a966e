package io.github.keepsake4j.log;

import io.github.keepsake4j.message.MemoryKey;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a list of memories shows of one.
 *
 * @param key the memory
 * @param title its title, or null
 * @param metadata short texts by name
 * @param messages how many messages it holds, all branches
 * @param tokens the sum of their stored token counts
 * @param createdAt when it came into being, in microseconds of UTC
 * @param lastMessageAt when its newest message was appended, in microseconds of UTC, or null if it has none
 */
public record MemoryInfo(
        MemoryKey key,
        @Nullable String title,
        Map<String, String> metadata,
        long messages,
        long tokens,
        Instant createdAt,
        @Nullable Instant lastMessageAt) {

    /** Copies the parts. */
    public MemoryInfo {
        metadata = Map.copyOf(metadata);
    }
}
