package io.github.keepsake4j.cli;

import io.github.keepsake4j.component.MemoryInput;
import picocli.CommandLine.Command;

@Command(
        name = "get",
        header = "Prints what a model sees of a conversation.",
        description = {
            "At most " + MemoryInput.DEFAULT_MAX_MESSAGES + " messages of " + MemoryInput.DEFAULT_MAX_TOKENS
                    + " tokens, unless --max-messages and --max-tokens say other limits. Both hold, and the limits of an"
                    + " application are not known here. The history keeps what they leave out."
        })
final class GetCommand extends ActionCommand {

    GetCommand(Host host) {
        super(host, "get", false);
    }
}
