package io.github.keepsake4j.cli;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "history",
        header = "Prints all that was said, on all branches.",
        description = {"The oldest message is first. With --json, each is an object on a line of its own."})
final class HistoryCommand extends MemoryCommand {

    private static final int PAGE = 500;

    @Option(names = "--newest", paramLabel = "<n>", order = 20, description = "Prints only the newest messages.")
    private @Nullable Integer newest;

    @Option(
            names = "--branch",
            paramLabel = "<message-id>",
            order = 21,
            description = "Prints only the branch that ends in this message; branches lists their ends.")
    private @Nullable String branch;

    /** The message that the next one follows, unless it begins or continues another branch. */
    private @Nullable String previous;

    HistoryCommand(Host host) {
        super(host);
    }

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
        Optional<HistoryQuery> next = Optional.of(new HistoryQuery(PAGE, above, true));
        while (next.isPresent()) {
            HistoryPage page = log.history(key, next.get());
            print(page.messages());
            next = page.next();
        }
    }

    private void print(List<LoggedMessage> page) {
        List<ChatMessage> messages = page.stream().map(LoggedMessage::message).toList();
        List<Map<?, ?>> fields = MessageFields.of(messages);
        for (int i = 0; i < page.size(); i++) {
            if (json()) {
                out().json(fields(page.get(i), fields.get(i)));
            } else {
                out().line(text(page.get(i), fields.get(i)));
            }
        }
    }

    private static Map<String, @Nullable Object> fields(LoggedMessage message, Map<?, ?> content) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("id", message.id());
        fields.put("parent_id", message.parentId());
        fields.put("sequence", message.sequence());
        fields.put("created_at", message.createdAt().toString());
        fields.put("tokens", message.tokens());
        fields.put("token_counter", message.tokenCounter());
        Outcome outcome = message.outcome();
        if (outcome != null) {
            fields.put("outcome", name(outcome));
            fields.put("outcome_reason", outcome.reason());
        }
        fields.put("message", content);
        return fields;
    }

    private String text(LoggedMessage message, Map<?, ?> content) {
        MessageText text = new MessageText(host().ansi());
        String parent = message.parentId();
        boolean jumps = previous != null && !previous.equals(parent);
        previous = message.id();
        String place = !jumps ? "" : parent == null ? "  begins anew" : "  follows " + Printable.line(parent);
        Outcome outcome = message.outcome();
        String end = outcome == null
                ? ""
                : "  "
                        + text.warning(Printable.line(
                                name(outcome) + (outcome.reason() == null ? "" : " (" + outcome.reason() + ")")));
        String head = text.quiet(message.sequence() + "  " + Printable.time(message.createdAt()) + "  "
                        + Printable.line(message.id()) + place)
                + end;
        return head + "\n" + text.of(content);
    }

    private static String name(Outcome outcome) {
        return outcome.kind().name().toLowerCase(Locale.ROOT);
    }
}
