package io.github.keepsake4j.cli;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.Tenant;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "erase",
        header = "Deletes a conversation with its messages and summaries, or all memories of a tenant.",
        description = {"This cannot be undone."})
final class EraseCommand extends MemoryCommand {

    @Option(names = "--with-nodes", description = "Deletes the memories of its nodes in this log too.")
    private boolean withNodes;

    @Option(
            names = "--all",
            description = "Deletes all memories of the tenant, which must be named, instead of one conversation.")
    private boolean all;

    @Option(
            names = "--where",
            paramLabel = "<name>=<text>",
            description = "With --all: only the conversations, with their nodes, whose metadata have this text.")
    private @Nullable String where;

    @Override
    int run() {
        if (all) {
            return eraseAll();
        }
        if (where != null) {
            throw new InvalidInputException("--where", "needs --all");
        }
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

    private int eraseAll() {
        if (!isGiven("--tenant") || givenKey() != null || withNodes) {
            throw new InvalidInputException("--all", "needs --tenant, and neither --session nor --with-nodes");
        }
        int equals = where == null ? 0 : where.indexOf('=');
        if (where != null && equals < 1) {
            throw new InvalidInputException("--where", "must be a name, an equals sign and a text");
        }
        try (MessageLog log = open()) {
            Tenant tenant =
                    Keepsake.builder().messageLog(log).tenant(tenant()).build().tenant(tenant());
            Tenant.Erased erased = where == null
                    ? tenant.erase()
                    : tenant.eraseWhere(where.substring(0, equals), where.substring(equals + 1));
            long memories = erased.conversations() + erased.nodes();
            print(
                    new JsonObject()
                            .with("tenant", tenant())
                            .with("memories", memories)
                            .with("messages", erased.messages())
                            .with("failed", erased.failed()),
                    "erased  " + Printable.count(memories, "memory") + " with "
                            + Printable.count(erased.messages(), "message")
                            + (erased.failed() == 0 ? "" : ", " + erased.failed() + " could not be erased"));
            return erased.failed() == 0 ? ExitCodes.OK : ExitCodes.DAMAGED;
        }
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
