package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.MemoryKey;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

@Command(
        name = "branches",
        header = "Lists the branches of a conversation.",
        description = {
            "Each is named by its newest message. The newest is first, and * marks the current one. With --json, each is an object on a line of its own."
        })
final class BranchesCommand extends MemoryCommand {

    BranchesCommand(Host host) {
        super(host);
    }

    @Override
    int run() {
        MemoryKey key = key();
        try (MessageLog log = open()) {
            noteIfEmpty(log, key);
            log.branches(key).forEach(this::print);
        }
        return ExitCodes.OK;
    }

    private void print(Branch branch) {
        if (json()) {
            Map<String, @Nullable Object> fields = new LinkedHashMap<>();
            fields.put("leaf_id", branch.leafId());
            fields.put("length", branch.length());
            fields.put("last_message_at", branch.lastMessageAt().toString());
            fields.put("current", branch.current());
            fields.put("names", branch.names());
            out().json(fields);
            return;
        }
        out().line("%s %s  %s  %s%s"
                .formatted(
                        branch.current() ? "*" : " ",
                        Printable.line(branch.leafId()),
                        Printable.time(branch.lastMessageAt()),
                        Printable.count(branch.length(), "message"),
                        branch.names().isEmpty() ? "" : "  " + Printable.line(String.join(", ", branch.names()))));
    }
}
