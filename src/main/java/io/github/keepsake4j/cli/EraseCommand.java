package io.github.keepsake4j.cli;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "erase",
        header = "Deletes a conversation with its messages and summaries.",
        description = {"This cannot be undone."})
final class EraseCommand extends MemoryCommand {

    @Option(names = "--with-nodes", description = "Deletes the memories of its nodes in this log too.")
    private boolean withNodes;

    @Override
    int run() {
        MemoryKey key = key();
        if (withNodes && key.canonical().startsWith("node/")) {
            throw new InvalidInputException(
                    "--with-nodes", "applies only to a conversation; leave out --app and --node");
        }
        try (MessageLog log = open()) {
            boolean isThere = noteIfEmpty(log, key);
            int nodes = 0;
            if (withNodes) {
                Keepsake keepsake =
                        Keepsake.builder().messageLog(log).tenant(tenant()).build();
                nodes = keepsake.conversation(key).eraseWithNodes();
            } else {
                log.erase(key);
            }
            print(key, isThere, nodes);
        }
        return ExitCodes.OK;
    }

    private void print(MemoryKey key, boolean wasThere, int nodes) {
        String memory = Printable.memory(key);
        String ofNodes = Printable.count(nodes, "memory") + " of its nodes";
        String erased = wasThere ? memory + (nodes == 0 ? "" : ", and " + ofNodes) : ofNodes + "  " + memory;
        print(
                Fields.of(key).with("erased", wasThere).with("erased_nodes", nodes),
                wasThere || nodes > 0 ? "erased  " + erased : "nothing to erase  " + memory);
    }
}
