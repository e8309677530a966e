package io.github.keepsake4j.log;

import java.util.List;
import java.util.Optional;

/**
 * One page of a tenant's memories.
 *
 * @param memories newest first by when they came into being
 * @param next the next page's query, or empty if this was the last one when it was read
 */
public record MemoryPage(List<MemoryInfo> memories, Optional<ListQuery> next) {

    /** Copies the parts. */
    public MemoryPage {
        memories = List.copyOf(memories);
    }
}
