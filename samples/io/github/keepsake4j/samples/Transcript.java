package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.message.LoggedMessage;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** Prints what a model sees, and the whole history beside it. */
final class Transcript {

    private static final int WIDTH = 120;
    private static final int TERMINAL = 80;
    private static final int ENDS = 5;
    private static final int FIRST = 3;
    private static final int LAST = 4;

    private Transcript() {}

    /** Prints the oldest and the newest messages of a branch, and which of them are in view, for a terminal of 80 by 24. */
    static void print(Conversation conversation, PrintStream out) {
        Context context = conversation.context();
        Set<String> seen = context.logged().stream().map(LoggedMessage::id).collect(Collectors.toSet());
        long kept = conversation.info().map(MemoryInfo::messages).orElse(0L);
        out.printf(
                "%n%d messages kept, %d in view%s.%n",
                kept, seen.size(), context.summary() == null ? "" : ", and a summary of the others");
        out.printf("%-4s %-7s %-6s %s%n", "#", "in view", "who", "message");
        List<LoggedMessage> first =
                conversation.history(HistoryQuery.oldest(FIRST)).messages();
        List<LoggedMessage> last = conversation.branch(LAST).messages().stream()
                .filter(message -> first.stream().noneMatch(each -> each.id().equals(message.id())))
                .toList();
        first.forEach(message -> out.println(line(message, seen)));
        if (kept > first.size() + last.size()) {
            out.printf("...  %d more%n", kept - first.size() - last.size());
        }
        last.forEach(message -> out.println(line(message, seen)));
        if (context.summary() != null) {
            // It begins with a title of its own, "Summary of the earlier conversation".
            List<String> summary = text(context.summary().message()).lines().toList();
            summary.stream().limit(ENDS).forEach(text -> out.println(cut(text, TERMINAL)));
            if (summary.size() > ENDS) {
                out.printf("...  %d more lines%n", summary.size() - ENDS);
            }
        }
        out.println();
    }

    private static String line(LoggedMessage logged, Set<String> seen) {
        String inView = seen.contains(logged.id()) ? "yes" : "-";
        String who = logged.message().type().name().toLowerCase(Locale.ROOT);
        return cut("%-4d %-7s %-6s %s".formatted(logged.sequence(), inView, who, text(logged.message())), TERMINAL);
    }

    /** Prints what a model sees: the messages at its beginning and at its end, with the first words of each. */
    static void printShown(Context context, PrintStream out) {
        List<LoggedMessage> all = context.shown();
        for (int i = 0; i < all.size(); i++) {
            if (i == ENDS && all.size() > 2 * ENDS) {
                out.printf("  ... %d more ...%n", all.size() - 2 * ENDS);
                i = all.size() - ENDS;
            }
            LoggedMessage shown = all.get(i);
            out.printf(
                    "  %-7s %s%n",
                    shown.message().type().name().toLowerCase(Locale.ROOT), cut(text(shown.message()), WIDTH));
        }
    }

    private static String cut(String text, int width) {
        String line = text.replace("\n", " ");
        return line.length() <= width ? line : line.substring(0, width - 4) + " ...";
    }

    static String text(ChatMessage message) {
        if (message instanceof SystemMessage system) {
            return system.text();
        }
        if (message instanceof UserMessage user) {
            return user.singleText();
        }
        return message instanceof AiMessage ai ? ai.text() : message.type().toString();
    }
}
