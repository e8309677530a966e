package io.github.keepsake4j.log;

import java.util.List;
import java.util.Optional;

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
        List<MemoryInfo> memories, List<DamagedMemory> damaged, List<DailyUsage> usage, Optional<ListQuery> next) {

    /** Copies the components. */
    public MemoryPage {
        memories = List.copyOf(memories);
        damaged = List.copyOf(damaged);
        usage = List.copyOf(usage);
    }
}
