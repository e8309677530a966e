package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.Recalled.Passage;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Recalled messages as text for a model. The text is between two marks, so that what a framework adds to a message, or a
 * tool's result, is not found and recalled again.
 */
final class RecalledText {

    private static final String BEGIN = "<recalled-messages>";
    private static final String END = "</recalled-messages>";

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm", Locale.ROOT);

    private RecalledText() {}

    /** Writes a passage. */
    static String of(Passage passage, ZoneId zone) {
        StringBuilder text = new StringBuilder(BEGIN).append('\n');
        for (LoggedMessage message : passage.messages()) {
            text.append('[')
                    .append(TIME.format(message.createdAt().atZone(zone)))
                    .append("] ")
                    .append(speaker(message))
                    .append(": ")
                    .append(withoutRecalled(IndexedText.written(message.message())))
                    .append('\n');
        }
        return text.append(END).toString();
    }

    /** Returns who said a message: a name, or the role. */
    static String speaker(LoggedMessage message) {
        if (message.message() instanceof UserMessage user) {
            String name = user.name();
            return name == null || name.isBlank() ? Named.USER : name;
        }
        return message.message() instanceof AiMessage
                ? Named.ASSISTANT
                : message.message().type().name().toLowerCase(Locale.ROOT);
    }

    /** Removes what was recalled for a message, and marks with which it could end the passage. */
    private static String withoutRecalled(String text) {
        String blanked = blank(text);
        if (blanked.equals(text)) {
            return text.replace(END, "");
        }
        StringBuilder without = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            if (blanked.charAt(i) == text.charAt(i)) {
                without.append(text.charAt(i));
            }
        }
        return without.toString().strip();
    }

    /**
     * Replaces recalled passages by spaces, so that all else stays at its place.
     *
     * @param text the text of a message
     * @return a text of the same length
     */
    static String blank(String text) {
        int begin = text.indexOf(BEGIN);
        if (begin < 0) {
            return text;
        }
        StringBuilder blanked = new StringBuilder(text);
        while (begin >= 0) {
            int end = text.indexOf(END, begin);
            int after = end < 0 ? text.length() : end + END.length();
            for (int i = begin; i < after; i++) {
                blanked.setCharAt(i, ' ');
            }
            begin = text.indexOf(BEGIN, after);
        }
        return blanked.toString();
    }
}
