package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import java.util.Optional;
import java.util.function.Consumer;

/** All memories of a tenant, page by page. */
final class Memories {

    private static final int PAGE = 100;

    private Memories() {}

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
