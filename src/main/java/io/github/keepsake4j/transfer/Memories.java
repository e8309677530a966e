package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;

/** The memories of tenants, the oldest ones first: a log lists those first that came last, and so does the log they go to. */
final class Memories {

    private static final int LISTED = 100;

    /** Does something with a memory, and returns what was done. */
    @FunctionalInterface
    interface Step<E extends Exception> {
        MemoryCopy.Report on(MemoryKey key) throws E;
    }

    private Memories() {}

    /** Returns the sum of what was done with each. What is damaged is passed over and counted. */
    static <E extends Exception> MemoryCopy.Report each(MessageLog log, Collection<String> tenants, Step<E> step)
            throws E {
        MemoryCopy.Report report = MemoryCopy.Report.NONE;
        for (String tenant : new LinkedHashSet<>(tenants)) {
            List<MemoryKey> keys = new ArrayList<>();
            for (MemoryPage page : Reads.pages(log, tenant, ListQuery.first(LISTED))) {
                report = report.plus(
                        new MemoryCopy.Report(0, 0, List.of(), page.damaged().size()));
                page.memories().stream().map(MemoryInfo::key).forEach(keys::add);
            }
            Collections.reverse(keys);
            for (MemoryKey key : keys) {
                try {
                    report = report.plus(step.on(key));
                } catch (UnreadableDataException e) {
                    // One damaged memory must not keep the others of a tenant from being moved.
                    report = report.plus(new MemoryCopy.Report(0, 0, List.of(), 1));
                }
            }
        }
        return report;
    }
}
