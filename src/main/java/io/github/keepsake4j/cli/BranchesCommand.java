package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.MemoryKey;
import picocli.CommandLine.Command;

@Command(
        name = "branches",
        header = "Lists the branches of a conversation.",
        description = {
            "Each is named by its newest message. The newest is first, and * marks the current one. With --json, each is an object on a line of its own."
        })
final class BranchesCommand extends MemoryCommand {

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
        print(
                new JsonObject()
                        .with("leaf_id", branch.leafId())
                        .with("length", branch.length())
                        .with("last_message_at", branch.lastMessageAt().toString())
                        .with("current", branch.current())
                        .with("names", branch.names()),
                (branch.current() ? "* " : "  ") + Printable.line(branch.leafId()) + "  "
                        + Printable.time(branch.lastMessageAt()) + "  "
                        + Printable.count(branch.length(), "message")
                        + (branch.names().isEmpty() ? "" : "  " + Printable.line(String.join(", ", branch.names()))));
    }
}
