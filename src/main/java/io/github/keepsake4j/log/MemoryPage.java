package io.github.keepsake4j.log;

import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One page of a tenant's memories. Together, the two lists have at most as many entries as the query allows.
 *
 * @param memories the memories, in the order that the query asked for
 * @param damaged the memories that cannot be read, in the same order; always empty for logs that do not read memories to
 *     list them
 * @param usage for a query {@linkplain ListQuery#withUsage with usage}, one sum for each of the memories and each day on
 *     which its answers used tokens, in any order
 * @param next the next page's query, or empty if this was the last page when it was read
 */
public record MemoryPage(
        List<MemoryInfo> memories, List<Damaged> damaged, List<DailyUsage> usage, Optional<ListQuery> next) {

    /** Copies the components. */
    public MemoryPage {
        memories = List.copyOf(memories);
        damaged = List.copyOf(damaged);
        usage = List.copyOf(usage);
    }

    /**
     * The entry of a memory in a list of memories, if the memory cannot be read.
     *
     * @param name the name of the damaged data in its store, such as the name of an object
     * @param key the memory, or null if only the damaged data contains it
     * @param problem the reason, without text of messages
     */
    public record Damaged(String name, @Nullable MemoryKey key, String problem) {}
}
