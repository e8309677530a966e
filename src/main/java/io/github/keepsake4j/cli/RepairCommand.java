package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

@Command(
        name = "repair",
        header = "Makes a damaged conversation usable again.",
        description = {
            "Goes back to the newest sound message, and drops views and summaries that cannot be read. Deletes and changes no message. Make a backup of the log before."
        })
final class RepairCommand extends MemoryCommand {

    @Override
    int run() {
        MemoryKey key = key();
        try (MessageLog log = open()) {
            noteIfEmpty(log, key);
            print(key, log.repair(key));
        }
        return ExitCodes.OK;
    }

    private void print(MemoryKey key, Repair repair) {
        print(
                Fields.of(key)
                        .with("damage", Fields.of(repair.damage()))
                        .with("previous_head", repair.previousHead())
                        .with("head", repair.head())
                        .with("dropped_views", repair.droppedViews())
                        .with("dropped_summaries", repair.droppedSummaries())
                        .with("dropped_references", repair.droppedReferences()),
                repair.damage().isEmpty()
                        ? "not damaged  " + Printable.memory(key)
                        : "repaired  " + Printable.memory(key) + Printable.damage(repair.damage()) + "\n"
                                + head(repair.previousHead(), repair.head()) + "\ndropped: "
                                + Printable.count(repair.droppedViews(), "view") + ", "
                                + Printable.count(repair.droppedSummaries(), "summary") + ", "
                                + Printable.count(repair.droppedReferences(), "named branch"));
    }

    private static String head(@Nullable String previous, @Nullable String head) {
        return Objects.equals(previous, head)
                ? "the head stays"
                : "the head is now " + (head == null ? "none" : Printable.line(head))
                        + (previous == null ? "" : ", and was " + Printable.line(previous));
    }
}
