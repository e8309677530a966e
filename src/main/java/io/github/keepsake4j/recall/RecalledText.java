package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.Recalled.Excerpt;
import io.github.keepsake4j.recall.Recalled.Passage;
import io.github.keepsake4j.text.Fence;
import io.github.keepsake4j.text.MessageText;
import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Writes recalled messages as text for a model. The text is between two marks, so that it is not found and recalled
 * again after a framework added it to a message or a tool returned it.
 */
final class RecalledText {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm", Locale.ROOT);

    /**
     * Line breaks, other control characters and those that end a name. They would end the line of a name or change its
     * display.
     */
    private static final Pattern NO_NAME = Pattern.compile("[\\p{Cc}\\u2028\\u2029:\\[\\]]+");

    private static final Pattern INVISIBLE = Pattern.compile("\\p{Cf}");

    /** A word of a name that a model takes for another speaker. */
    private static final Pattern ROLE =
            Pattern.compile("(?iu)(?<!\\p{L})(?:assistant|ai|system|developer|tool|user|model)(?!\\p{L})");

    /** In place of text that an excerpt leaves out. */
    private static final String CUT = "[…]";

    private RecalledText() {}

    /** Writes a passage. */
    static String of(Passage passage, ZoneId zone) {
        StringBuilder text = new StringBuilder();
        for (LoggedMessage message : passage.messages()) {
            text.append(line(message, passage.excerptOf(message), zone)).append('\n');
        }
        return Fence.RECALLED.around(text.toString().stripTrailing());
    }

    /**
     * Writes a message. It begins with its time and speaker. Its further lines are indented, so that none of them looks
     * like a beginning.
     *
     * @param message the message
     * @param excerpt the part to write, or null for the whole
     * @param zone the zone of the time
     */
    static String line(LoggedMessage message, @Nullable Excerpt excerpt, ZoneId zone) {
        return '[' + TIME.format(message.createdAt().atZone(zone)) + "] " + speaker(message)
                + (excerpt == null ? ": " : ", excerpt: ") + Fence.harmless(Fence.indented(own(message, excerpt)));
    }

    /** Returns the speaker of a message: a name on one line that is not another speaker's, or the role. */
    static String speaker(LoggedMessage message) {
        if (message.message() instanceof UserMessage user) {
            String name = user.name() == null
                    ? ""
                    : NO_NAME.matcher(INVISIBLE.matcher(user.name()).replaceAll(""))
                            .replaceAll(" ")
                            .strip();
            boolean isRole = ROLE.matcher(Normalizer.normalize(name, Form.NFKC)).find();
            return name.isEmpty() ? Named.USER : isRole ? Named.USER + " " + name : name;
        }
        return message.message() instanceof AiMessage
                ? Named.ASSISTANT
                : message.message().type().name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the text of a message, or a part of it, without texts that were recalled or retrieved for it, and without
     * gaps in their place. A mark is in place of each end that was cut.
     */
    static String own(LoggedMessage message, @Nullable Excerpt excerpt) {
        String recorded = message.textForModels();
        String text = recorded == null ? MessageText.of(message.message()) : recorded;
        String blanked = IndexedText.of(message);
        int start = excerpt == null ? 0 : excerpt.start();
        int end = excerpt == null ? text.length() : excerpt.end();
        if (excerpt == null && blanked.equals(text)) {
            return text;
        }
        StringBuilder own = new StringBuilder();
        for (int i = start; i < end; i++) {
            if (blanked.charAt(i) == text.charAt(i)) {
                own.append(text.charAt(i));
            }
        }
        return (start == 0 ? "" : CUT + " ") + own.toString().strip() + (end == text.length() ? "" : " " + CUT);
    }
}
