package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.Recalled.Passage;
import io.github.keepsake4j.text.Fence;
import io.github.keepsake4j.text.MessageText;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Writes recalled messages as text for a model. The text is between two marks, so that it is not found and recalled
 * again after a framework added it to a message or a tool returned it.
 */
final class RecalledText {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm", Locale.ROOT);

    /** Line breaks and other control characters. They would end the line of a name or change its display. */
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\u2028\\u2029]+");

    private RecalledText() {}

    /**
     * Writes a passage. A message begins with its time and speaker; its further lines are indented, so that none of
     * them looks like a beginning.
     */
    static String of(Passage passage, ZoneId zone) {
        StringBuilder text = new StringBuilder();
        for (LoggedMessage message : passage.messages()) {
            text.append('[')
                    .append(TIME.format(message.createdAt().atZone(zone)))
                    .append("] ")
                    .append(speaker(message))
                    .append(": ")
                    .append(Fence.indented(own(message)))
                    .append('\n');
        }
        return Fence.RECALLED.around(text.toString().stripTrailing());
    }

    /** Returns the speaker of a message: a name on one line, or the role. */
    static String speaker(LoggedMessage message) {
        if (message.message() instanceof UserMessage user) {
            String name = user.name() == null
                    ? ""
                    : CONTROL.matcher(user.name()).replaceAll(" ").strip();
            return name.isEmpty() ? Named.USER : name;
        }
        return message.message() instanceof AiMessage
                ? Named.ASSISTANT
                : message.message().type().name().toLowerCase(Locale.ROOT);
    }

    /** Returns the largest number of lines of a message that are indented. */
    static long furtherLines(LoggedMessage message) {
        return Fence.lineBreaks(own(message));
    }

    /**
     * Returns the text of a message without texts that were recalled or retrieved for it, and without gaps in their
     * place.
     */
    private static String own(LoggedMessage message) {
        String recorded = message.textForModels();
        String text = recorded == null ? MessageText.of(message.message()) : recorded;
        String blanked = IndexedText.of(message);
        if (blanked.equals(text)) {
            return text;
        }
        StringBuilder own = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            if (blanked.charAt(i) == text.charAt(i)) {
                own.append(text.charAt(i));
            }
        }
        return own.toString().strip();
    }
}
