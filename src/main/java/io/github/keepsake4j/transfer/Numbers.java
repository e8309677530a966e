package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The numbers that messages and summaries have in a log that has counted them from 1 without gaps. In another log, the first
 * ones may have been dropped.
 */
final class Numbers {

    private final Map<Long, Long> versions = new HashMap<>();
    private final long before;

    Numbers(MessageLog log, MemoryKey key, List<Summary> summaries) {
        List<LoggedMessage> first = log.history(key, HistoryQuery.oldest(1)).messages();
        before = first.isEmpty() ? 0 : first.get(0).sequence() - 1;
        for (Summary summary : summaries) {
            versions.put(summary.version(), versions.size() + 1L);
        }
    }

    /** Returns the number of a message. */
    long of(long sequence) {
        return sequence - before;
    }

    /** Returns what an answer was made from, by these numbers. */
    Seen of(Seen seen) {
        return new Seen(
                seen.shown().stream()
                        .map(range -> new Seen.Range(of(range.first()), of(range.last())))
                        .toList(),
                seen.shortened().stream().map(this::of).toList(),
                versions.getOrDefault(seen.summary(), 0L),
                seen.altered(),
                seen.memories());
    }
}
