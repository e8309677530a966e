package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.transfer.LangChain4jExport;
import io.github.keepsake4j.transfer.MarkdownExport;
import io.github.keepsake4j.transfer.MemoryCopy.Report;
import io.github.keepsake4j.transfer.NdjsonExport;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "export",
        header = "Prints a conversation, or all memories of a tenant, for other programs or people.",
        description = {
            "ndjson: all that they hold, as lines of JSON that import reads.",
            "markdown: for reading.",
            "langchain4j: the current branch of one conversation, as the JSON of LangChain4j's ChatMessageSerializer."
        })
final class ExportCommand extends MemoryCommand {

    private static final List<String> FORMATS = List.of("ndjson", "markdown", "langchain4j");

    @Option(
            names = "--format",
            paramLabel = "<name>",
            defaultValue = "ndjson",
            description = "ndjson (default), markdown or langchain4j.")
    private String format = "ndjson";

    @Option(
            names = "--branch",
            paramLabel = "<message-id>",
            description = "With langchain4j: the branch that ends in this message, instead of the current one.")
    private @Nullable String branch;

    @Override
    int run() {
        if (!FORMATS.contains(format)) {
            throw new InvalidInputException("--format", "must be one of " + String.join(", ", FORMATS));
        }
        boolean isForLangChain4j = format.equals("langchain4j");
        MemoryKey key = isForLangChain4j ? key() : givenKey();
        if (branch != null && !isForLangChain4j) {
            throw new InvalidInputException("--branch", "applies only to the format langchain4j");
        }
        try (MessageLog log = open();
                ProgressLine progress = host().progress()) {
            noteIfEmpty(log, key);
            MovedReport told =
                    new MovedReport(progress, MemoryTotals.later(log, tenant(), key), format.equals("ndjson") ? 2 : 1);
            Report report =
                    switch (format) {
                        case "ndjson" -> ndjson(log, key, told);
                        case "markdown" -> markdown(log, key, told);
                        default -> langChain4j(log, key());
                    };
            progress.clear();
            return MovedReport.damaged(host(), report.damaged());
        } catch (IOException e) {
            throw new Output.FailedException(e);
        }
    }

    private Report ndjson(MessageLog log, @Nullable MemoryKey key, MovedReport told) throws IOException {
        NdjsonExport export = NdjsonExport.of(log).onProgress(told::tell);
        return key == null ? export.writeTenant(tenant(), out().stream()) : export.writeMemory(key, out().stream());
    }

    private Report markdown(MessageLog log, @Nullable MemoryKey key, MovedReport told) throws IOException {
        MarkdownExport export = MarkdownExport.of(log).onProgress(told::tell);
        return key == null ? export.writeTenant(tenant(), out().writer()) : export.writeMemory(key, out().writer());
    }

    private Report langChain4j(MessageLog log, MemoryKey key) {
        ReadQuery query = branch == null
                ? ReadQuery.wholeBranch()
                : ReadQuery.wholeBranch().endingIn(branch);
        List<LoggedMessage> messages = log.read(key, query).messages();
        out().line(LangChain4jExport.toJson(
                messages.stream().map(LoggedMessage::message).toList()));
        return new Report(1, messages.size(), List.of(), 0);
    }
}
