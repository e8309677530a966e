package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "clear",
        header = "Hides the messages and the summary of a conversation, and keeps them in the history.")
final class ClearCommand extends ActionCommand {

    @Option(names = "--erase", description = "Deletes them, with all summaries. This cannot be undone.")
    private boolean erase;

    @Override
    void addInputs(JsonObject input) {
        input.put("erase", erase);
    }
}
