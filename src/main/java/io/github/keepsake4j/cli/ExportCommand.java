package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.transfer.LangChain4jExport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "export",
        header = "Prints memories in a format that other programs read.",
        description = {
            "langchain4j: the current branch of a conversation, as the JSON of LangChain4j's ChatMessageSerializer."
        })
final class ExportCommand extends MemoryCommand {

    @Option(names = "--format", paramLabel = "<name>", required = true, order = 20, description = "The format.")
    private String format = "";

    @Option(
            names = "--branch",
            paramLabel = "<message-id>",
            order = 21,
            description = "With langchain4j: the branch that ends in this message, instead of the current one.")
    private @Nullable String branch;

    ExportCommand(Host host) {
        super(host);
    }

    @Override
    int run() {
        switch (format) {
            case "langchain4j" -> langChain4j(key());
            default -> throw new InvalidInputException("--format", "must be one of langchain4j");
        }
        return ExitCodes.OK;
    }

    private void langChain4j(MemoryKey key) {
        try (MessageLog log = open()) {
            noteIfEmpty(log, key);
            ReadQuery all = ReadQuery.newest(Integer.MAX_VALUE);
            out().line(LangChain4jExport.toJson(
                    log.read(key, branch == null ? all : all.endingIn(branch)).messages().stream()
                            .map(LoggedMessage::message)
                            .toList()));
        }
    }
}
