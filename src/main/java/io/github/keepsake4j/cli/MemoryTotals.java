package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How much there is to do. The lists of a log are read for it, so it is counted when it is first printed.
 *
 * @param memories the number of memories
 * @param messages the number of their messages
 */
record MemoryTotals(long memories, long messages) {

    private static final int PAGE = 1_000;

    /** Nothing is known. */
    static final MemoryTotals UNKNOWN = new MemoryTotals(0, 0);

    /** Returns the sums of a memory, or of all memories of a tenant. They are counted once, at the first call. */
    static Supplier<MemoryTotals> later(MessageLog log, String tenant, @Nullable MemoryKey key) {
        Map<String, MemoryTotals> counted = new HashMap<>();
        return () -> counted.computeIfAbsent(tenant, t -> key == null ? ofTenant(log, t) : ofMemory(log, key));
    }

    private static MemoryTotals ofMemory(MessageLog log, MemoryKey key) {
        try {
            MemoryInfo info = Reads.info(log, key);
            return info == null ? UNKNOWN : new MemoryTotals(1, info.messages());
        } catch (UnreadableDataException e) {
            return UNKNOWN;
        }
    }

    private static MemoryTotals ofTenant(MessageLog log, String tenant) {
        long memories = 0;
        long messages = 0;
        for (MemoryPage page : Reads.pages(log, tenant, ListQuery.first(PAGE))) {
            memories += page.memories().size() + page.damaged().size();
            messages += page.memories().stream().mapToLong(MemoryInfo::messages).sum();
        }
        return new MemoryTotals(memories, messages);
    }
}
