package io.github.keepsake4j.summary;

import dev.langchain4j.model.TokenCountEstimator;
import java.util.Locale;

/** Shortens a text by cutting out its middle, with a mark that says how much is missing. */
final class TextShortener {

    private static final int MARK_TOKENS = 12;

    private TextShortener() {}

    /** Returns at most the given number of characters of the text, from both ends. */
    static String ofChars(String text, int maxChars) {
        if (text.length() <= maxChars) {
            return text;
        }
        int head = edge(text, maxChars - maxChars / 2);
        int tail = edge(text, text.length() - maxChars / 2);
        return text.substring(0, head)
                + String.format(Locale.ROOT, " [… %d characters cut …] ", tail - head)
                + text.substring(tail);
    }

    /** Returns at most the given number of tokens of the text, from both ends, but at least a few characters. */
    static String ofTokens(String text, int maxTokens, TokenCountEstimator estimator) {
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
