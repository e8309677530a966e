package io.github.keepsake4j.log;

import java.util.List;
import java.util.Optional;

/**
 * One page of a tenant's memories.
 *
 * @param memories the memories, in the order that the query asked for
 * @param next the next page's query, or empty if this was the last page when it was read
 */
public record MemoryPage(List<MemoryInfo> memories, Optional<ListQuery> next) {

    /** Copies the components. */
    public MemoryPage {
        memories = List.copyOf(memories);
    }
}
