package io.github.keepsake4j.text;

import dev.langchain4j.model.TokenCountEstimator;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Shortens a text by cutting out its middle, with a mark that states the missing amount. Pure functions. */
public final class TextShortener {

    private static final Pattern MARK = Pattern.compile(" \\[… (\\d{1,10}) characters cut …] ");

    private static final int MARK_TOKENS = 12;

    private TextShortener() {}

    /**
     * Returns the beginning and the end of a text.
     *
     * @param text the text
     * @param maxChars the number of characters to keep, 0 or more; one more is kept rather than half a surrogate pair
     * @return the text itself if it is not longer, otherwise both ends with the mark between them
     */
    public static String ofChars(String text, int maxChars) {
        if (text.length() <= maxChars) {
            return text;
        }
        int head = edge(text, maxChars - maxChars / 2);
        int tail = edge(text, text.length() - maxChars / 2);
        return text.substring(0, head)
                + String.format(Locale.ROOT, " [… %d characters cut …] ", tail - head)
                + text.substring(tail);
    }

    /**
     * Returns whether a text is a shortened form of another one, however short it is.
     *
     * @param shortened the text that may be shortened
     * @param whole the whole text
     * @return whether the first text is the beginning and the end of the other one with the mark between them
     */
    public static boolean isShortened(String shortened, String whole) {
        Matcher mark = MARK.matcher(shortened);
        for (int from = 0; mark.find(from); from = mark.start() + 1) {
            int head = mark.start();
            int tail = shortened.length() - mark.end();
            if (head + tail + Long.parseLong(mark.group(1)) == whole.length()
                    && whole.regionMatches(0, shortened, 0, head)
                    && whole.regionMatches(whole.length() - tail, shortened, mark.end(), tail)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns at most the given number of tokens of a text, from both ends, but at least a few characters.
     *
     * @param text the text
     * @param maxTokens the maximum number of tokens
     * @param estimator counts the tokens
     * @return the text itself if it is not longer, otherwise both ends with the mark between them
     */
    public static String ofTokens(String text, int maxTokens, TokenCountEstimator estimator) {
        int tokens = estimator.estimateTokenCountInText(text);
        if (tokens <= maxTokens) {
            return text;
        }
        int target = Math.max(1, maxTokens - MARK_TOKENS);
        int chars = (int) ((double) text.length() * target / tokens);
        while (true) {
            String cut = ofChars(text, chars);
            if (chars <= MARK_TOKENS || estimator.estimateTokenCountInText(cut) <= maxTokens) {
                return cut;
            }
            // Tokens are not spread evenly over the text, so the first estimate may be too long.
            chars = chars / 10 * 9;
        }
    }

    /** Moves an index out of a surrogate pair. */
    private static int edge(String text, int at) {
        boolean inside = at > 0
                && at < text.length()
                && Character.isHighSurrogate(text.charAt(at - 1))
                && Character.isLowSurrogate(text.charAt(at));
        return inside ? at + 1 : at;
    }
}
