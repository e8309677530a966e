package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.Ids;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/** A command that uses one tenant's memories in one log. */
abstract class TenantCommand extends LogCommand {

    private static final int PAGE = 100;

    @Option(
            names = "--tenant",
            paramLabel = "<id>",
            defaultValue = "default",
            description = "The tenant. Default: ${DEFAULT-VALUE}.")
    private String tenant = "default";

    /** Reads all memories of the tenant, page by page. */
    void pages(MessageLog log, boolean byActivity, Consumer<MemoryPage> use) {
        ListQuery first = ListQuery.first(PAGE);
        Reads.pages(log, tenant(), byActivity ? first.byActivity() : first).forEach(use);
    }

    String tenant() {
        return Ids.check("tenant", tenant);
    }
}
