package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An explanation of which messages a model would see of a memory, which it would not see, and why. It contains no
 * message text, so it may be logged. {@link #toString()} returns a table for people.
 *
 * @param key the memory
 * @param shown the messages that are shown, in the order in which a model receives them
 * @param omitted the messages that were read and are not shown
 * @param olderUnread whether there are older messages, which the strategy did not need to read
 * @param memories the ids of the conversation's long-term memories that are shown in one of these messages, in order
 * @param summarizedUpTo the id of the last message that the shown summary covers, with all messages of the branch before it; null if
 *     no summary is shown
 * @param open the ids of the questions of turns that were not over and have complete tool rounds. Such a turn moves behind
 *     the turns that ended before it when it ends
 * @param overflow whether the system message, or the newest turn's user message and last round, exceed a limit
 */
public record Explanation(
        MemoryKey key,
        List<Line> shown,
        List<Line> omitted,
        boolean olderUnread,
        List<String> memories,
        @Nullable String summarizedUpTo,
        List<String> open,
        boolean overflow) {

    /**
     * One message.
     *
     * @param messageId its id
     * @param type its type
     * @param tokens its size in tokens as counted when it was appended
     * @param replaced whether another form is shown in its place: a shortened result, or a question without what was
     *     retrieved for it
     * @param reason why it is not shown, or null if it is shown
     * @param outcome how it ended if it did not end well, or null
     */
    public record Line(
            String messageId,
            ChatMessageType type,
            int tokens,
            boolean replaced,
            @Nullable Reason reason,
            @Nullable Outcome outcome) {}

    /** Copies the lists. */
    public Explanation {
        shown = List.copyOf(shown);
        omitted = List.copyOf(omitted);
        memories = List.copyOf(memories);
        open = List.copyOf(open);
    }

    static Explanation of(MemoryKey key, Tail tail, Context context) {
        Remembered remembered = context.remembered();
        return new Explanation(
                key,
                context.shown().stream()
                        .map(message -> line(message, context, null))
                        .toList(),
                context.omitted().stream()
                        .map(omission -> line(omission.message(), context, omission.reason()))
                        .toList(),
                !tail.complete(),
                remembered == null ? List.of() : remembered.memories(),
                context.summary() == null || tail.summary() == null
                        ? null
                        : tail.summary().coversUpTo(),
                context.open(),
                context.overflow());
    }

    /**
     * Returns the number of tokens that are shown. A message that is shown in shortened form counts with its full size.
     *
     * @return the sum of the shown messages' tokens
     */
    public long tokens() {
        return shown.stream().mapToLong(Line::tokens).sum();
    }

    @Override
    public String toString() {
        StringBuilder table = new StringBuilder(key + ": " + shown.size() + " messages shown, " + tokens() + " tokens; "
                + (memories.isEmpty() ? "" : memories.size() + " memories in one message; ")
                + (summarizedUpTo == null ? "" : "a summary covers all up to message " + summarizedUpTo + "; ")
                + omitted.size()
                + (olderUnread ? " read and not shown; older ones not read" : " not shown")
                + (open.isEmpty() ? "" : "; turns that were not over and move when they end: " + open)
                + (overflow ? "; the newest turn is over a limit" : ""));
        shown.forEach(line -> append(table, "shown", line));
        omitted.forEach(line -> append(table, "not shown", line));
        return table.toString();
    }

    private static void append(StringBuilder table, String what, Line line) {
        String why = line.reason() != null ? line.reason().name() : line.replaced() ? "REPLACED" : "";
        Outcome outcome = line.outcome();
        String ended = outcome == null
                ? ""
                : "  ended " + outcome.kind() + (outcome.reason() == null ? "" : ": " + outcome.reason());
        table.append(System.lineSeparator())
                .append("%-9s %-21s %7d tokens  %s  %s"
                        .formatted(what, line.type(), line.tokens(), line.messageId(), why + ended)
                        .stripTrailing());
    }

    private static Line line(LoggedMessage message, Context context, @Nullable Reason reason) {
        return new Line(
                message.id(),
                message.message().type(),
                message.tokens(),
                context.replaced().containsKey(message.id()),
                reason,
                message.outcome());
    }
}
