package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.component.MemoryInput;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "get",
        header = "Prints what a model sees of a conversation.",
        description = {
            "At most " + MemoryInput.DEFAULT_MAX_MESSAGES + " messages of " + MemoryInput.DEFAULT_MAX_TOKENS
                    + " tokens, unless --max-messages and --max-tokens say other limits. Both hold, and the limits of an"
                    + " application are not known here. The history keeps what they leave out."
        })
final class GetCommand extends ActionCommand {

    @Option(
            names = "--strategy",
            paramLabel = "<name>",
            order = 32,
            description = "How they are selected: sliding_window (default), token_limit or summarization.")
    private @Nullable String strategy;

    @Override
    void addInputs(JsonObject input) {
        input.put("strategy", strategy);
    }
}
