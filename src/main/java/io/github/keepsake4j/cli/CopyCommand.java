package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.transfer.MemoryCopy;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "copy",
        header = "Copies a conversation, or all memories of a tenant, to another log.",
        description = {
            "A copy has all that its memory holds, and is compared with it. The source is only read. A copy that broke off goes on when it is called again."
        })
final class CopyCommand extends Subcommand {

    private static final String DONE = "copied and compared";

    @Option(names = "--from", paramLabel = "<uri>", required = true, description = "The log that is read.")
    private String from = "";

    @Option(names = "--to", paramLabel = "<uri>", required = true, description = "The log that is written.")
    private String to = "";

    @Option(
            names = "--tenant",
            paramLabel = "<id>",
            defaultValue = "default",
            description = "The tenant. Default: ${DEFAULT-VALUE}.")
    private String tenant = "default";

    @Option(
            names = "--session",
            paramLabel = "<id>",
            description = "The conversation. Default: all memories of the tenant.")
    private @Nullable String session;

    @Option(names = "--make-tables", description = "Makes the tables that a PostgreSQL database lacks.")
    private boolean makeTables;

    @Override
    int run() {
        Ids.check("tenant", tenant);
        LogUri read = new LogUri("--from", from, false, false, host().environment());
        LogUri written = new LogUri("--to", to, true, makeTables, host().environment());
        if (LogUri.areSame(read, written)) {
            throw new InvalidInputException("--to", "must be another log than --from");
        }
        MemoryKey key = session == null ? null : ConversationKey.of(tenant, session);
        try (MessageLog source = read.open();
                MessageLog target = written.open();
                ProgressLine progress = host().progress()) {
            noteIfEmpty(source, key);
            MovedReport report = new MovedReport(progress, MemoryTotals.later(source, tenant, key), 1);
            MemoryCopy copy = MemoryCopy.between(source, target).onProgress(report::tell);
            try {
                return report.print(this, key == null ? copy.tenant(tenant) : copy.memory(key), DONE);
            } catch (MemoryCopy.UnfinishedException e) {
                report.print(this, e.report(), DONE);
                throw e;
            }
        }
    }
}
