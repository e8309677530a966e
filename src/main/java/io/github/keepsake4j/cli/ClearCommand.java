package io.github.keepsake4j.cli;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "clear",
        header = "Hides the messages and the summary of a conversation, and keeps them in the history.")
final class ClearCommand extends ActionCommand {

    @Option(names = "--erase", order = 20, description = "Deletes them, with all summaries. This cannot be undone.")
    private boolean erase;

    ClearCommand(Host host) {
        super(host, "clear", false);
    }

    @Override
    void addInputs(Map<String, @Nullable Object> input) {
        input.put("erase", erase);
    }
}
