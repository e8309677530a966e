package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "history",
        header = "Prints all that was said, on all branches.",
        description = {"The oldest message is first. With --json, each is an object on a line of its own."})
final class HistoryCommand extends MemoryCommand {

    private static final int PAGE = 500;

    @Option(names = "--newest", paramLabel = "<n>", description = "Prints only the newest messages.")
    private @Nullable Integer newest;

    @Option(
            names = "--branch",
            paramLabel = "<message-id>",
            description = "Prints only the branch that ends in this message; branches lists their ends.")
    private @Nullable String branch;

    /** The message that the next one follows, unless it begins or continues another branch. */
    private @Nullable String previous;

    @Override
    int run() {
        MemoryKey key = key();
        if (newest != null) {
            InvalidInputException.checkAtLeast("--newest", 1, newest);
        }
        try (MessageLog log = open()) {
            if (!noteIfEmpty(log, key)) {
                return ExitCodes.FAILED;
            }
            int most = newest == null ? Integer.MAX_VALUE : newest;
            if (branch != null) {
                print(log.read(key, ReadQuery.newest(most).endingIn(branch)).messages());
            } else {
                pages(log, key, newest == null ? 0 : start(log, key, most));
            }
        }
        return ExitCodes.OK;
    }

    /** Returns the sequence above which the newest messages are. */
    private static long start(MessageLog log, MemoryKey key, int most) {
        List<LoggedMessage> end = log.history(key, HistoryQuery.newest(1)).messages();
        return end.isEmpty() ? 0 : Math.max(0, end.get(0).sequence() - most);
    }

    private void pages(MessageLog log, MemoryKey key, long above) {
        for (HistoryQuery next = HistoryQuery.after(above, PAGE); next != null; ) {
            HistoryPage page = log.history(key, next);
            print(page.messages());
            next = page.next().orElse(null);
        }
    }

    private void print(List<LoggedMessage> page) {
        List<JsonFields> fields =
                TerminalText.fields(page.stream().map(LoggedMessage::message).toList());
        for (int i = 0; i < page.size(); i++) {
            print(fields(page.get(i), fields.get(i)), text(page.get(i), fields.get(i)));
        }
    }

    private static JsonObject fields(LoggedMessage message, JsonFields content) {
        JsonObject fields = new JsonObject()
                .with("id", message.id())
                .with("parent_id", message.parentId())
                .with("sequence", message.sequence())
                .with("created_at", message.createdAt().toString())
                .with("tokens", message.tokens())
                .with("token_counter", message.tokenCounter());
        Outcome outcome = message.outcome();
        if (outcome != null) {
            fields.with("outcome", Printable.name(outcome.kind())).with("outcome_reason", outcome.reason());
        }
        return fields.with("message", content.values());
    }

    private String text(LoggedMessage message, JsonFields content) {
        String parent = message.parentId();
        boolean jumps = previous != null && !previous.equals(parent);
        previous = message.id();
        String place = !jumps ? "" : parent == null ? "  begins a new branch" : "  follows " + Printable.line(parent);
        Outcome outcome = message.outcome();
        String end = "";
        if (outcome != null) {
            String reason = outcome.reason() == null ? "" : " (" + outcome.reason() + ")";
            end = "  " + text().warning(Printable.line(Printable.name(outcome.kind()) + reason));
        }
        String head = message.sequence() + "  " + Printable.time(message.createdAt()) + "  "
                + Printable.line(message.id()) + place;
        return text().quiet(head) + end + "\n" + text().of(content);
    }
}
