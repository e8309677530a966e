package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.message.LoggedMessage;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** Prints what a model sees next to the whole history. */
final class Transcript {

    private static final int WIDTH = 120;
    private static final int ENDS = 5;

    private Transcript() {}

    static void print(Context context, HistoryPage history, PrintStream out) {
        Set<String> seen = context.shown().stream().map(LoggedMessage::id).collect(Collectors.toSet());
        out.println();
        out.printf("%-4s %-15s %-7s %s%n", "#", "in view now", "who", "the history holds");
        for (LoggedMessage logged : history.messages()) {
            out.printf(
                    "%-4d %-15s %-7s %s%n",
                    logged.sequence(),
                    seen.contains(logged.id()) ? "yes" : "-",
                    logged.message().type().name().toLowerCase(Locale.ROOT),
                    text(logged.message()));
        }
        out.println();
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
            String text = text(shown.message()).replace("\n", " ");
            out.printf(
                    "  %-7s %s%n",
                    shown.message().type().name().toLowerCase(Locale.ROOT),
                    text.length() <= WIDTH ? text : text.substring(0, WIDTH) + " ...");
        }
    }

    private static String text(ChatMessage message) {
        if (message instanceof SystemMessage system) {
            return system.text();
        }
        if (message instanceof UserMessage user) {
            return user.singleText();
        }
        return message instanceof AiMessage ai ? ai.text() : message.type().toString();
    }
}
