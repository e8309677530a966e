package io.github.keepsake4j.cli;

import picocli.CommandLine.Command;

@Command(
        name = "summarize",
        header = "Has a model write a summary of all complete turns.",
        description = {
            "The history keeps the messages. $OPENAI_API_KEY is the model's key. $OPENAI_BASE_URL and $OPENAI_MODEL select another endpoint and another model."
        })
final class SummarizeCommand extends ActionCommand {

    SummarizeCommand(Host host) {
        super(host, "summarize", false);
    }

    @Override
    boolean needsModel() {
        return true;
    }
}
