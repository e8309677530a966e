package io.github.keepsake4j.tokens;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A tool result of which only the beginning and the end are shown, with a mark that says how many characters are cut.
 *
 * @param message the shortened result
 * @param tokens the number of tokens of the shortened result
 */
public record ShortenedResult(ToolExecutionResultMessage message, long tokens) {

    /** The search for the longest fitting text ends when it is known up to this fraction of its length. */
    private static final int PRECISION = 64;

    /**
     * Returns whether a message is a shortened form of a tool result, however short it is.
     *
     * @param given the message that may be a shortened form
     * @param whole the whole result
     * @return whether it is
     */
    public static boolean isOf(ChatMessage given, ToolExecutionResultMessage whole) {
        if (!(given instanceof ToolExecutionResultMessage result) || !result.hasSingleText()) {
            return false;
        }
        String text = text(whole);
        return with(whole, result.text()).equals(given)
                && (result.text().equals(text) || TextShortener.isShortened(result.text(), text));
    }

    /** Returns a result with the given number of characters of its text. */
    static ToolExecutionResultMessage of(ToolExecutionResultMessage whole, int chars) {
        return with(whole, TextShortener.ofChars(text(whole), chars));
    }

    /**
     * Returns how many characters of a result may be shown.
     *
     * @param fits returns whether a shortened result fits
     * @param guess about how many characters fit
     * @return the number of characters; 0 if not even the mark alone fits
     */
    static int mostChars(ToolExecutionResultMessage whole, Predicate<ToolExecutionResultMessage> fits, long guess) {
        int length = text(whole).length();
        int fitting = 0;
        int over = (int) Math.max(1, Math.min(length, guess));
        while (fits.test(of(whole, over))) {
            fitting = over;
            if (over == length) {
                return length;
            }
            over = (int) Math.min(length, 2L * over);
        }
        while (over - fitting > 1 + over / PRECISION) {
            int middle = (fitting + over) >>> 1;
            if (fits.test(of(whole, middle))) {
                fitting = middle;
            } else {
                over = middle;
            }
        }
        return fitting;
    }

    private static ToolExecutionResultMessage with(ToolExecutionResultMessage whole, String text) {
        return whole.toBuilder().contents(List.of(TextContent.from(text))).build();
    }

    /** Returns the text of a result. A content that is not text is named. */
    private static String text(ToolExecutionResultMessage result) {
        return result.contents().stream().map(ShortenedResult::text).collect(Collectors.joining("\n"));
    }

    private static String text(Content content) {
        return content instanceof TextContent text
                ? text.text()
                : "[" + content.type().name().toLowerCase(Locale.ROOT) + " left out]";
    }

    /** Leaves out the result, so that the result may be logged. */
    @Override
    public String toString() {
        return "ShortenedResult[tokens=" + tokens + "]";
    }
}
