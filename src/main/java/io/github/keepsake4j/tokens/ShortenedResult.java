package io.github.keepsake4j.tokens;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.text.TextShortener;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A tool result with only the beginning and the end of its text, and a mark with the number of characters that are cut.
 * Other contents, such as images, stay as long as they fit. The text is cut first.
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
        if (!(given instanceof ToolExecutionResultMessage result)) {
            return false;
        }
        Set<Integer> media = new HashSet<>();
        List<String> texts = new ArrayList<>();
        int at = 0;
        for (Content content : result.contents()) {
            if (content instanceof TextContent text) {
                texts.add(text.text());
                continue;
            }
            while (at < whole.contents().size() && !whole.contents().get(at).equals(content)) {
                at++;
            }
            media.add(at++);
        }
        String text = texts.isEmpty() ? "" : texts.get(0);
        String all = text(whole, media);
        return with(whole, media, text).equals(given) && (text.equals(all) || TextShortener.isShortened(text, all));
    }

    /**
     * Returns a result with some of its contents that are not text, and the given number of characters of its text.
     *
     * @param media the places of the contents that stay
     */
    static ToolExecutionResultMessage of(ToolExecutionResultMessage whole, Set<Integer> media, int chars) {
        return with(whole, media, TextShortener.ofChars(text(whole, media), chars));
    }

    /**
     * Returns which contents other than text stay: from the first one on, each that fits together with only the mark.
     *
     * @param fits returns whether a shortened result fits
     * @return the places of these contents
     */
    static Set<Integer> media(ToolExecutionResultMessage whole, Predicate<ToolExecutionResultMessage> fits) {
        Set<Integer> media = new HashSet<>();
        for (int i = 0; i < whole.contents().size(); i++) {
            if (!(whole.contents().get(i) instanceof TextContent)) {
                media.add(i);
                if (!fits.test(of(whole, media, 0))) {
                    media.remove(i);
                }
            }
        }
        return Set.copyOf(media);
    }

    /**
     * Returns the number of characters of a result that may be shown.
     *
     * @param media the places of the contents that stay
     * @param fits returns whether a shortened result fits
     * @param share the approximate part of the text that fits
     * @return the number of characters; 0 if not even the mark alone fits
     */
    static int mostChars(
            ToolExecutionResultMessage whole,
            Set<Integer> media,
            Predicate<ToolExecutionResultMessage> fits,
            double share) {
        int length = text(whole, media).length();
        int fitting = 0;
        int over = (int) Math.max(1, Math.min(length, Math.round(length * share)));
        while (fits.test(of(whole, media, over))) {
            fitting = over;
            if (over >= length) {
                return length;
            }
            over = (int) Math.min(length, 2L * over);
        }
        while (over - fitting > 1 + over / PRECISION) {
            int middle = (fitting + over) >>> 1;
            if (fits.test(of(whole, media, middle))) {
                fitting = middle;
            } else {
                over = middle;
            }
        }
        return fitting;
    }

    /** Replaces all contents except those that stay by a text. */
    private static ToolExecutionResultMessage with(ToolExecutionResultMessage whole, Set<Integer> media, String text) {
        List<Content> contents = new ArrayList<>();
        boolean placed = text.isEmpty() && !media.isEmpty();
        for (int i = 0; i < whole.contents().size(); i++) {
            if (media.contains(i)) {
                contents.add(whole.contents().get(i));
            } else if (!placed) {
                contents.add(TextContent.from(text));
                placed = true;
            }
        }
        return whole.toBuilder().contents(contents).build();
    }

    /** Returns the text of a result. Other contents that do not stay are named. */
    private static String text(ToolExecutionResultMessage result, Set<Integer> media) {
        return IntStream.range(0, result.contents().size())
                .filter(i -> !media.contains(i))
                .mapToObj(i -> text(result.contents().get(i)))
                .collect(Collectors.joining("\n"));
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
