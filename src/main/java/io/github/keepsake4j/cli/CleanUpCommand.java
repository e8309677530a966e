package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.retention.CleanUp;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "clean-up",
        header = "Deletes the memories to which nothing was added for a while, or which have expired.",
        description = {
            "This cannot be undone. With --json, each memory is an object on a line of its own, and the last line is the sum."
        })
final class CleanUpCommand extends TenantCommand {

    @Option(
            names = "--idle",
            paramLabel = "<period>",
            required = true,
            description = "For how long nothing was added: 180d, 12h, or as in ISO 8601.")
    private String idle = "";

    @Option(names = "--dry-run", description = "Prints what would be deleted, and deletes nothing.")
    private boolean dryRun;

    @Option(
            names = "--tombstones",
            paramLabel = "<period>",
            defaultValue = "30d",
            description = "For how long a bucket keeps what erasures leave. Default: ${DEFAULT-VALUE}.")
    private String tombstones = "30d";

    @Override
    int run() {
        Duration idleFor = Periods.parse("--idle", idle);
        Duration tombstonesFor = Periods.parse("--tombstones", tombstones);
        try (MessageLog log = open()) {
            CleanUp cleanUp = CleanUp.of(log)
                    .idleFor(idleFor)
                    .tombstonesFor(tombstonesFor)
                    .telling(this::print);
            CleanUp.Report report = (dryRun ? cleanUp.dryRun() : cleanUp).run(tenant());
            print(report);
            return report.failed() == 0 ? ExitCodes.OK : ExitCodes.DAMAGED;
        }
    }

    private void print(MemoryInfo info) {
        print(
                Fields.of(info.key())
                        .with("messages", info.messages())
                        .with("last_use", info.lastUse().toString()),
                (dryRun ? "would delete  " : "deletes  ") + Printable.memory(info.key()) + "  "
                        + Printable.time(info.lastUse()) + "  " + Printable.count(info.messages(), "message"));
    }

    private void print(CleanUp.Report report) {
        print(
                new JsonObject()
                        .with("dry_run", dryRun)
                        .with("looked", report.looked())
                        .with("removed", report.removed())
                        .with("messages", report.messages())
                        .with("failed", report.failed()),
                Printable.count(report.looked(), "memory") + " checked, "
                        + report.removed() + (dryRun ? " would be deleted" : " deleted") + " with "
                        + Printable.count(report.messages(), "message")
                        + (report.failed() == 0 ? "" : ", " + report.failed() + " could not be read"));
    }
}
