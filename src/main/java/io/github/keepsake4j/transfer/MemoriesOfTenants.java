package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.transfer.MemoryCopy.Report;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * The memories of tenants, oldest first, because a log lists the newest ones first and the target must have the same
 * order.
 */
final class MemoriesOfTenants {

    private static final int LISTED = 100;

    /** Processes a memory, and returns a report. */
    @FunctionalInterface
    interface Step<E extends Exception> {
        Report on(MemoryKey key) throws E;
    }

    private MemoriesOfTenants() {}

    /** Returns the sum of the reports. Damaged memories are skipped and counted. */
    static <E extends Exception> Report each(MessageLog log, Collection<String> tenants, Step<E> step) throws E {
        Report report = Report.NONE;
        for (String tenant : new LinkedHashSet<>(InvalidInputException.given("tenants", tenants))) {
            List<MemoryKey> keys = new ArrayList<>();
            for (MemoryPage page : Reads.pages(log, tenant, ListQuery.first(LISTED))) {
                report = report.plus(new Report(0, 0, List.of(), page.damaged().size()));
                page.memories().stream().map(MemoryInfo::key).forEach(keys::add);
            }
            Collections.reverse(keys);
            for (MemoryKey key : keys) {
                try {
                    report = report.plus(step.on(key));
                } catch (UnreadableDataException e) {
                    // One damaged memory must not prevent the copy of the others.
                    report = report.plus(new Report(0, 0, List.of(), 1));
                }
            }
        }
        return report;
    }
}
