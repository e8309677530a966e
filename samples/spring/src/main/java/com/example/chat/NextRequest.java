package com.example.chat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Omission;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The next request to the model: the messages that it would see, and in their places those that it would not see.
 *
 * @param lines the messages, in order
 * @param tokens the sizes of the parts that are shown
 * @param limit the largest number of tokens, or null for none
 * @param olderUnread whether there are older messages, which the strategy did not need to read
 * @param summarizedUpTo the last message that the summary covers, or null
 * @param dueUpTo the last message that the next summary would cover, or null
 * @param overflow whether the newest turn alone is over a limit
 */
record NextRequest(
        List<Line> lines,
        Map<Part, Long> tokens,
        Integer limit,
        boolean olderUnread,
        String summarizedUpTo,
        String dueUpTo,
        boolean overflow) {

    /** The parts of a request. */
    enum Part {
        SYSTEM,
        SUMMARY,
        MEMORIES,
        TURNS,
        TOOLS,
        /** What was recalled for a question; only of a past request. */
        RECALLED
    }

    /**
     * One message.
     *
     * @param said what would be sent; of a message of the chat, the beginning
     * @param cut whether there is more of it
     * @param shortened whether a shorter form is shown
     * @param due whether the next summary would cover it
     * @param reason why it is not shown, or null if it is shown
     */
    record Line(Said said, boolean cut, Part part, boolean shortened, boolean due, Omission.Reason reason) {}

    /** Joins what is shown with what is not shown. */
    static NextRequest of(Context context, Explanation explanation, Integer limit, String dueUpTo) {
        Deque<Omission> hidden = context.omitted().stream()
                .sorted(Comparator.comparingLong(omission -> omission.message().sequence()))
                .collect(Collectors.toCollection(ArrayDeque::new));
        long due = context.logged().stream()
                .filter(message -> message.id().equals(dueUpTo))
                .mapToLong(LoggedMessage::sequence)
                .max()
                .orElse(0);
        List<Line> lines = new ArrayList<>();
        Map<Part, Long> tokens = new EnumMap<>(Part.class);
        for (LoggedMessage message : context.shown()) {
            Part part = part(message.message());
            if (part == Part.TURNS || part == Part.TOOLS) {
                while (!hidden.isEmpty() && hidden.peek().message().sequence() < message.sequence()) {
                    lines.add(line(hidden.remove()));
                }
            }
            Line line = line(
                    message,
                    context.replaced().containsKey(message.id()),
                    message.sequence() > 0 && message.sequence() <= due,
                    null);
            tokens.merge(part, (long) line.said().tokens(), Long::sum);
            lines.add(line);
        }
        hidden.forEach(omission -> lines.add(line(omission)));
        return new NextRequest(
                lines,
                tokens,
                limit,
                explanation.olderUnread(),
                explanation.summarizedUpTo(),
                dueUpTo,
                context.overflow());
    }

    private static Line line(Omission omission) {
        return line(omission.message(), false, false, omission.reason());
    }

    private static Line line(LoggedMessage message, boolean shortened, boolean due, Omission.Reason reason) {
        String text = Said.text(message.message());
        Part part = part(message.message());
        // A summary and long-term memories are nowhere else on the page.
        int most = part == Part.SUMMARY || part == Part.MEMORIES ? text.length() : Said.BEGINNING;
        Said said = Said.of(message).with(text, most, reason == null ? size(message.message()) : message.tokens());
        return new Line(said, said.text().length() < text.length(), part, shortened, due, reason);
    }

    /** Returns about how many tokens a message has in the form in which it is sent. */
    static int size(ChatMessage message) {
        return TokenCounter.standard().estimateTokenCountInMessage(message);
    }

    static Part part(ChatMessage message) {
        if (Summarization.isSummary(message)) {
            return Part.SUMMARY;
        }
        if (Remembered.isShown(message)) {
            return Part.MEMORIES;
        }
        return message instanceof SystemMessage
                ? Part.SYSTEM
                : message instanceof ToolExecutionResultMessage ? Part.TOOLS : Part.TURNS;
    }
}
