package io.github.keepsake4j.recall;

import java.text.Normalizer;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Two marks around a text that a model is shown, so that it is known where the text ends, and what a framework adds to a
 * message or a tool returns is found again. No text can close a fence from inside: where a mark of any fence, or what looks
 * like one, occurs in the text, its bracket is replaced.
 *
 * <p>What looks like a mark is an opening bracket and the name of a fence. Only letters, digits and opening brackets count,
 * in compatibility decomposition and in any case. So blanks, dashes, slashes, accents and characters that are not seen may be
 * missing, added or exchanged. Letters of other scripts are other letters.
 */
public enum Fence {
    /** Around messages that were recalled. */
    RECALLED("recalled-messages"),

    /** Around memories that were made. */
    MEMORIES("made-memories");

    /** The names of the fences without what does not count. */
    private static final List<String> NAMES = Arrays.stream(values())
            .map(fence -> fence.name.replace("-", ""))
            .toList();

    /** All characters whose decomposition has an opening bracket. */
    static final String BRACKETS = "<\u226E\uFE64\uFF1C";

    /** What is neither a letter nor a digit nor an opening bracket, and the letters that are not seen: fillers of Korean syllables. */
    private static final Pattern NOT_COUNTING = Pattern.compile("[^\\p{L}\\p{N}<]|[\\u115F\\u1160]");

    /** Looks like an angle bracket and is none. */
    private static final char HARMLESS = '\u2039';

    /** What some program takes for the end of a line. */
    private static final Pattern LINE_BREAK = Pattern.compile("\\R|[\\x1C-\\x1E]");

    private static final String INDENTED = "\n  ";

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
     * Returns a text in which no mark of a fence, and nothing that looks like one, is left. Nothing is removed, so that no new
     * mark comes into being.
     *
     * @param text any text
     * @return a text of the same length
     */
    public static String harmless(String text) {
        StringBuilder changed = new StringBuilder(text);
        for (int i = 0; i < text.length(); i++) {
            if (BRACKETS.indexOf(text.charAt(i)) >= 0 && isNameBehind(text, i + 1)) {
                changed.setCharAt(i, HARMLESS);
            }
        }
        return changed.toString();
    }

    /** Returns whether the name of a fence is the next that counts. It ends at the next bracket, so each character is read once. */
    private static boolean isNameBehind(String text, int begin) {
        String read = "";
        for (int i = begin; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            read += counting(text.codePointAt(i));
            if (NAMES.stream().anyMatch(read::startsWith)) {
                return true;
            }
            if (NAMES.stream().noneMatch(startsWith(read))) {
                return false;
            }
        }
        return false;
    }

    private static Predicate<String> startsWith(String read) {
        return name -> name.startsWith(read);
    }

    /** Returns what counts of a character when marks are compared. */
    private static String counting(int codePoint) {
        String one = Character.toString(codePoint);
        String plain = codePoint < 0x80 ? one : Normalizer.normalize(one, Normalizer.Form.NFKD);
        return NOT_COUNTING.matcher(plain.toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT)).replaceAll("");
    }

    /**
     * Returns a text whose further lines are indented, so that none of them begins like a line that comes from us.
     *
     * @param text any text
     * @return the text with a line feed and two spaces in place of each line break
     */
    public static String indented(String text) {
        return LINE_BREAK.matcher(text).replaceAll(INDENTED);
    }

    /** Returns how many lines of a text {@link #indented} indents. */
    static long lineBreaks(String text) {
        return LINE_BREAK.matcher(text).results().count();
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
