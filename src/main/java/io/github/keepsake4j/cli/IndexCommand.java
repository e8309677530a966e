package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageIndex;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "index",
        header = "Makes the search index of a tenant's memories, or completes it.",
        description = {
            "Waits for what another process is indexing, and ends when nothing is missing. A run that broke off goes on when it is"
                    + " called again. The log is only read."
        })
final class IndexCommand extends TenantCommand {

    @Mixin
    private IndexOption index = new IndexOption();

    @Option(names = "--make-tables", description = "Makes the tables that a PostgreSQL database lacks.")
    private boolean makeTables;

    @Option(names = "--rebuild", description = "Empties the index before, of all tenants.")
    private boolean rebuild;

    @Option(
            names = "--check",
            description =
                    "Compares the index with all messages, and changes nothing. The exit code is 3 if they differ, and"
                            + " 1 if messages are not indexed yet.")
    private boolean check;

    @Override
    int run() {
        if (check && (rebuild || makeTables)) {
            throw new InvalidInputException("--check", "changes nothing; leave out --rebuild and --make-tables");
        }
        try (MessageLog log = open();
                MessageIndex opened = index.open(host().environment(), !check, makeTables);
                ProgressLine progress = host().progress()) {
            if (check) {
                return check(log, opened, progress);
            }
            if (rebuild) {
                opened.clear();
            }
            return print(new IndexRun(log, opened, tenant(), progress, IndexCommand::sleep).run(), progress);
        }
    }

    private static void sleep(Duration pause) {
        try {
            Thread.sleep(pause.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KeepsakeException("the command was interrupted", e);
        }
    }

    private int print(IndexRun.Report report, ProgressLine progress) {
        progress.clear();
        IndexState state = report.state();
        print(
                new JsonObject()
                        .with("memories", state.memories())
                        .with("messages", state.messages())
                        .with("added", report.added())
                        .with("damaged", report.damaged()),
                Printable.count(state.memories(), "memory") + " with " + Printable.count(state.messages(), "message")
                        + " indexed, " + Printable.number(report.added()) + " of them now");
        return MovedReport.damaged(host(), report.damaged());
    }

    private int check(MessageLog log, MessageIndex opened, ProgressLine progress) {
        IndexState state = IndexState.of(log, opened, tenant());
        IndexComparison.Report report = IndexComparison.of(log, opened, tenant(), progress, state);
        progress.clear();
        long damaged = Math.max(state.damaged(), state.memories() - report.memories());
        report.wrong().forEach((key, messages) -> print(key, messages));
        state.erased()
                .forEach(key -> print(
                        Fields.of(key).with("problem", "erased"),
                        text().warning("erased") + "  " + Printable.memory(key)
                                + "  is in the index and no longer in the log"));
        print(
                new JsonObject()
                        .with("memories", report.memories())
                        .with("messages", state.messages())
                        .with("missing", state.missing())
                        .with("wrong", report.wrong().size())
                        .with("erased", state.erased().size())
                        .with("damaged", damaged),
                Printable.count(report.memories(), "memory") + " compared, "
                        + report.wrong().size() + " wrong, " + state.erased().size() + " erased; "
                        + Printable.count(state.missing(), "message") + " not indexed");
        return code(state, report, damaged);
    }

    private int code(IndexState state, IndexComparison.Report report, long damaged) {
        if (!report.wrong().isEmpty()) {
            host().note("the index differs from the log; keepsake index --rebuild makes it again");
            return ExitCodes.DAMAGED;
        }
        if (damaged > 0) {
            return MovedReport.damaged(host(), damaged);
        }
        if (!state.isComplete()) {
            host().note("the index is not complete; keepsake index completes it");
            return ExitCodes.FAILED;
        }
        return ExitCodes.OK;
    }

    private void print(MemoryKey key, int messages) {
        print(
                Fields.of(key).with("problem", "wrong").with("messages", messages),
                text().warning("wrong") + "  " + Printable.memory(key) + "  " + Printable.count(messages, "message"));
    }
}
