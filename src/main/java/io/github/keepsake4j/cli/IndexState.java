package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * How far an index is behind a tenant's memories in a log.
 *
 * @param memories the number of memories
 * @param messages the number of their messages
 * @param damaged the number of memories that the log cannot list
 * @param behind the memories that have messages that are not indexed
 * @param missing the number of these messages
 * @param erased the memories that are indexed and that the log no longer has
 */
record IndexState(
        long memories, long messages, long damaged, List<MemoryKey> behind, long missing, List<MemoryKey> erased) {

    private static final int PAGE = 1_000;

    /** Compares all memories of a tenant. */
    static IndexState of(MessageLog log, MessageIndex index, String tenant) {
        Set<MemoryKey> listed = new HashSet<>();
        List<MemoryKey> behind = new ArrayList<>();
        long memories = 0;
        long messages = 0;
        long damaged = 0;
        long missing = 0;
        for (MemoryPage page : Reads.pages(log, tenant, ListQuery.first(PAGE))) {
            Map<MemoryKey, Watermark> known = index.watermarks(keys(page));
            damaged += page.damaged().size();
            page.damaged().stream()
                    .map(MemoryPage.Damaged::key)
                    .filter(Objects::nonNull)
                    .forEach(listed::add);
            for (MemoryInfo info : page.memories()) {
                listed.add(info.key());
                memories++;
                messages += info.messages();
                long lacking = lacking(info, known);
                if (lacking > 0) {
                    behind.add(info.key());
                    missing += lacking;
                }
            }
        }
        return new IndexState(memories, messages, damaged, behind, missing, erased(index, tenant, listed));
    }

    /** Returns whether the memories that were used last have messages that are not indexed. */
    static boolean isBehindTheNewest(MessageLog log, MessageIndex index, String tenant) {
        MemoryPage page = log.list(tenant, ListQuery.first(PAGE).byActivity());
        Map<MemoryKey, Watermark> known = index.watermarks(keys(page));
        return page.memories().stream().anyMatch(info -> lacking(info, known) > 0);
    }

    private static List<MemoryKey> keys(MemoryPage page) {
        return page.memories().stream().map(MemoryInfo::key).toList();
    }

    /** Returns how many messages are not indexed: all, if the index knows more messages than there are. */
    private static long lacking(MemoryInfo info, Map<MemoryKey, Watermark> known) {
        Watermark watermark = known.get(info.key());
        long indexed = watermark == null || watermark.sequence() > info.messages() ? 0 : watermark.sequence();
        return info.messages() - indexed;
    }

    private static List<MemoryKey> erased(MessageIndex index, String tenant, Set<MemoryKey> listed) {
        List<MemoryKey> erased = new ArrayList<>();
        long after = 0;
        while (true) {
            Map<Long, MemoryKey> page = index.memories(tenant, after, PAGE);
            for (Map.Entry<Long, MemoryKey> entry : page.entrySet()) {
                after = Math.max(after, entry.getKey());
                if (!listed.contains(entry.getValue())) {
                    erased.add(entry.getValue());
                }
            }
            if (page.size() < PAGE) {
                return erased;
            }
        }
    }

    boolean isComplete() {
        return behind.isEmpty() && erased.isEmpty();
    }
}
