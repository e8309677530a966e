package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Map;
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

    RepairCommand(Host host) {
        super(host);
    }

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
        if (json()) {
            Map<String, @Nullable Object> fields = KeyFields.of(key);
            fields.put("damage", DamageFields.of(repair.damage()));
            fields.put("previous_head", repair.previousHead());
            fields.put("head", repair.head());
            fields.put("dropped_views", repair.droppedViews());
            fields.put("dropped_summaries", repair.droppedSummaries());
            fields.put("dropped_references", repair.droppedReferences());
            out().json(fields);
            return;
        }
        if (repair.damage().isEmpty()) {
            out().line("not damaged  " + Printable.memory(key));
            return;
        }
        out().line("repaired  " + Printable.memory(key));
        repair.damage().forEach(each -> out().line(DamageFields.text(each)));
        boolean moved = !Objects.equals(repair.previousHead(), repair.head());
        out().line(
                        moved
                                ? "the head is now " + (repair.head() == null ? "none" : Printable.line(repair.head()))
                                        + (repair.previousHead() == null
                                                ? ""
                                                : ", and was " + Printable.line(repair.previousHead()))
                                : "the head stays");
        out().line("dropped: " + Printable.count(repair.droppedViews(), "view") + ", "
                + Printable.count(repair.droppedSummaries(), "summary") + ", "
                + Printable.count(repair.droppedReferences(), "named branch"));
    }
}
