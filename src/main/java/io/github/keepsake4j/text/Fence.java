package io.github.keepsake4j.text;

import java.text.Normalizer;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Puts two marks around a text for a model. The marks show where the text ends. By the marks, the text is found again
 * after a framework added it to a message, or a tool returned it. No text can close a fence from inside: if the text
 * contains a mark of any fence, or something that looks like one, the bracket of that mark is replaced.
 *
 * <p>A text looks like a mark if it is an opening bracket and the name of a fence. Only letters, digits and opening
 * brackets are compared, in compatibility decomposition and in any case. Blanks, dashes, slashes, accents and invisible
 * characters may be missing, added or exchanged. Letters of other scripts are other letters.
 */
public enum Fence {
    /** Around messages that were recalled. */
    RECALLED("recalled-messages"),

    /** Around long-term memories. */
    MEMORIES("made-memories");

    /** The names of the fences, reduced to the characters that are compared. */
    private static final List<String> NAMES =
            Arrays.stream(values()).map(fence -> fence.name.replace("-", "")).toList();

    /** All characters whose decomposition has an opening bracket. */
    static final String BRACKETS = "<\u226E\uFE64\uFF1C";

    /**
     * The characters that are not compared: all but letters, digits and opening brackets, and the invisible letters
     * (fillers of Korean syllables).
     */
    private static final Pattern NOT_COUNTING = Pattern.compile("[^\\p{L}\\p{N}<]|[\\u115F\\u1160]");

    /** A character that looks like an angle bracket. */
    private static final char HARMLESS = '\u2039';

    /** The characters that some program treats as the end of a line. */
    private static final Pattern LINE_BREAK = Pattern.compile("\\R|[\\x1C-\\x1E]");

    private static final String INDENT = "  ";

    /** How an entry begins: with a date, behind which the time or the source follows. */
    private static final Pattern ENTRY = Pattern.compile("\\[\\+?\\d{4,10}-\\d{2}-\\d{2}[ ,]");

    private final String name;

    Fence(String name) {
        this.name = name;
    }

    /**
     * Puts a text between the marks, each on a line of its own.
     *
     * @param text any text; its marks are made harmless
     * @return the fenced text
     */
    public String around(String text) {
        return open() + "\n" + harmless(text) + "\n" + close();
    }

    /**
     * Returns a text without marks of a fence, and without text that looks like one. Characters are replaced and not
     * removed, so that no new mark can result.
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

    /**
     * Returns whether the name of a fence follows, ignoring characters that are not compared. Stops at the next
     * bracket, so each character is read once.
     */
    private static boolean isNameBehind(String text, int begin) {
        String read = "";
        for (int i = begin; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            String longer = read + counting(text.codePointAt(i));
            if (NAMES.stream().anyMatch(longer::startsWith)) {
                return true;
            }
            if (NAMES.stream().noneMatch(name -> name.startsWith(longer))) {
                return false;
            }
            read = longer;
        }
        return false;
    }

    /** Returns the part of a character that is compared. */
    private static String counting(int codePoint) {
        String one = Character.toString(codePoint);
        String plain = codePoint < 0x80 ? one : Normalizer.normalize(one, Normalizer.Form.NFKD);
        return NOT_COUNTING
                .matcher(plain.toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT))
                .replaceAll("");
    }

    /**
     * Returns a text whose lines after the first are indented, so that none of them looks like a line of this library.
     *
     * @param text any text
     * @return the text with a line feed and two spaces in place of each line break
     */
    public static String indented(String text) {
        return LINE_BREAK.matcher(text).replaceAll("\n" + INDENT);
    }

    /**
     * Replaces fenced texts and their marks by spaces, so that the rest keeps its place. If an opening mark is not
     * closed, everything behind it is replaced too.
     *
     * @param text a text that no person typed, such as a tool's result
     * @return a text of the same length
     */
    public String blank(String text) {
        return blank(text, false);
    }

    /**
     * Replaces fenced texts and their marks by spaces, so that the rest keeps its place. A mark counts only before or
     * behind lines as this library writes them: each begins with a date in brackets, or continues the line before it.
     * So a mark that a person types hides nothing.
     *
     * @param text a text that a person may have typed
     * @return a text of the same length
     */
    public String blankWritten(String text) {
        return blank(text, true);
    }

    private String blank(String text, boolean written) {
        int begin = text.indexOf(open());
        if (begin < 0) {
            return text;
        }
        StringBuilder blanked = new StringBuilder(text);
        while (begin >= 0) {
            int inside = begin + open().length();
            int end = written ? endOfEntries(text, inside) : text.indexOf(close(), inside);
            boolean closed = end > inside && text.startsWith(close(), end);
            // If the first mark before some entries is not closed, no later one among them is. Each line is read once.
            int after = closed ? end + close().length() : written ? end : text.length();
            if (closed || !written) {
                blanked.replace(begin, after, " ".repeat(after - begin));
            }
            begin = text.indexOf(open(), after);
        }
        return blanked.toString();
    }

    /** Returns the place of the first line that is not part of an entry, or the given place if there is no entry. */
    private static int endOfEntries(String text, int start) {
        int first = start + 1;
        int line = text.startsWith("\n", start) ? first : start;
        while (line >= first && (isEntry(text, line) || (line > first && text.startsWith(INDENT, line)))) {
            int end = text.indexOf('\n', line);
            if (end < 0) {
                return text.length();
            }
            line = end + 1;
        }
        return line == first ? start : line;
    }

    private static boolean isEntry(String text, int line) {
        return ENTRY.matcher(text).region(line, text.length()).lookingAt();
    }

    private String open() {
        return "<" + name + ">";
    }

    private String close() {
        return "</" + name + ">";
    }
}
