package io.github.keepsake4j.recall;

import java.util.regex.Pattern;

/**
 * Two marks around a text that a model is shown, so that it is known where the text ends, and what a framework adds to a
 * message or a tool returns is found again. No text can close a fence from inside: where a mark of any fence, in any case and
 * with any spaces, occurs in the text, its bracket is replaced.
 */
public enum Fence {
    /** Around messages that were recalled. */
    RECALLED("recalled-messages"),

    /** Around memories that were made. */
    MEMORIES("made-memories");

    private static final Pattern MARK = Pattern.compile(
            "<(?=[\\s\\p{Z}\\p{Cf}/]*+(?:recalled-messages|made-memories))",
            Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);

    /** Looks like an angle bracket and is none. */
    private static final String HARMLESS = "\u2039";

    private final String name;

    Fence(String name) {
        this.name = name;
    }

    /**
     * Puts a text between the marks, each on a line of its own.
     *
     * @param text any text; marks in it are made harmless
     * @return the fenced text
     */
    public String around(String text) {
        return open() + "\n" + harmless(text) + "\n" + close();
    }

    /**
     * Returns a text in which no mark of a fence is left. Nothing is removed, so that no new mark comes into being.
     *
     * @param text any text
     * @return a text of the same length
     */
    public static String harmless(String text) {
        return MARK.matcher(text).replaceAll(HARMLESS);
    }

    /**
     * Replaces what is fenced, and the marks, by spaces, so that all else stays at its place. What is behind an opening mark
     * that is not closed is replaced too.
     *
     * @param text the text of a message
     * @return a text of the same length
     */
    public String blank(String text) {
        int begin = text.indexOf(open());
        if (begin < 0) {
            return text;
        }
        StringBuilder blanked = new StringBuilder(text);
        while (begin >= 0) {
            int end = text.indexOf(close(), begin);
            int after = end < 0 ? text.length() : end + close().length();
            for (int i = begin; i < after; i++) {
                blanked.setCharAt(i, ' ');
            }
            begin = text.indexOf(open(), after);
        }
        return blanked.toString();
    }

    private String open() {
        return "<" + name + ">";
    }

    private String close() {
        return "</" + name + ">";
    }
}
