package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.Optional;
import java.util.function.Consumer;

/** All memories of a tenant, page by page. */
final class Memories {

    private static final int PAGE = 100;

    private Memories() {}

    /** Tells that a memory is not in the log, which may be a wrong id. Returns whether it is. */
    static boolean noteIfEmpty(Host host, MessageLog log, MemoryKey key) {
        boolean isThere = isThere(log, key);
        if (!isThere) {
            host.note("memory " + key + " is not in the log");
        }
        return isThere;
    }

    private static boolean isThere(MessageLog log, MemoryKey key) {
        try {
            return Reads.info(log, key) != null;
        } catch (UnreadableDataException e) {
            // What is damaged is there. The command itself tells of the damage, or mends it.
            return true;
        }
    }

    static void pages(MessageLog log, String tenant, boolean byActivity, Consumer<MemoryPage> use) {
        ListQuery first = ListQuery.first(PAGE);
        Optional<ListQuery> next = Optional.of(byActivity ? first.byActivity() : first);
        while (next.isPresent()) {
            MemoryPage page = log.list(tenant, next.get());
            use.accept(page);
            next = page.next();
        }
    }
}
