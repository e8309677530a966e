package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command that uses one memory. Some commands can use all memories of a tenant. */
abstract class MemoryCommand extends TenantCommand {

    @Option(names = "--session", paramLabel = "<id>", description = "The conversation.")
    private @Nullable String session;

    @Option(
            names = "--app",
            paramLabel = "<id>",
            description = "With --node: the application whose node's memory it is, instead of the conversation's own.")
    private @Nullable String app;

    @Option(names = "--node", paramLabel = "<id>", description = "With --app: the node.")
    private @Nullable String node;

    /** Returns the memory, or null for all memories of the tenant. */
    @Nullable
    MemoryKey givenKey() {
        if ((app == null) != (node == null)) {
            throw new InvalidInputException(
                    app == null ? "--app" : "--node", "is required: --app and --node name a node's memory together");
        }
        if (session == null) {
            if (app != null) {
                throw new InvalidInputException("--session", "is required with --app and --node");
            }
            return null;
        }
        return app == null || node == null
                ? ConversationKey.of(tenant(), session)
                : NodeKey.of(tenant(), app, session, node);
    }

    MemoryKey key() {
        MemoryKey key = givenKey();
        if (key == null) {
            throw new InvalidInputException("--session", "is required");
        }
        return key;
    }
}
