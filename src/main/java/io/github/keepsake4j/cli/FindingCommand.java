package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageSearch;
import io.github.keepsake4j.recall.words.Words;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A command that finds messages with an index. It adds nothing to the index. */
abstract class FindingCommand extends MemoryCommand {

    @Mixin
    private IndexOption index = new IndexOption();

    @Option(names = "--query", paramLabel = "<text>", required = true, description = "The words to look for.")
    private String query = "";

    /** Finds messages, prints them, and returns whether some may be missing. */
    abstract boolean find(MessageLog log, MessageIndex opened, MessageSearch search, String text);

    @Override
    final int run() {
        if (query.isBlank()) {
            throw new InvalidInputException("--query", "must have a word");
        }
        prepare();
        try (MessageLog log = open();
                MessageIndex opened = index.open(host().environment(), false, false)) {
            MessageSearch search = new MessageSearch(
                    opened, key -> log, List.of(log), Words.standard(), task -> {}, pause -> task -> {});
            if (find(log, opened, search, query)) {
                host().note(
                                "messages may be missing, because they are not indexed yet; keepsake index completes the index");
            }
        }
        return ExitCodes.OK;
    }

    /** Checks the options, before anything is opened. */
    abstract void prepare();

    /** Returns the place and time of a message that was found, in front of its fields. */
    static JsonObject fields(LoggedMessage message) {
        return new JsonObject()
                .with("id", message.id())
                .with("sequence", message.sequence())
                .with("created_at", message.createdAt().toString())
                .with("message", content(message).values());
    }

    /** Returns the line above a message that was found. */
    static String heading(MemoryKey key, LoggedMessage message) {
        return Printable.memory(key) + "  " + message.sequence() + "  " + Printable.time(message.createdAt()) + "  "
                + Printable.line(message.id());
    }

    final String text(LoggedMessage message) {
        return text().of(content(message));
    }

    private static JsonFields content(LoggedMessage message) {
        return TerminalText.fields(List.of(message.message())).get(0);
    }
}
