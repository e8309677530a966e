package io.github.keepsake4j.tokens;

import java.util.List;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Counts printable ASCII text as {@code o200k_base} does. It splits a text where that encoding's regular expression does
 * (words with the sign before them, up to three digits, signs, spaces), but without one, and keeps the counts of parts,
 * most of which are words that come again. Thread-safe: an entry of the table never changes, so a race only counts a
 * part again.
 */
final class AsciiCounter {

    /** The result for a text with other characters, which is not counted here. */
    static final int NOT_ASCII = -1;

    /** The number of parts that are kept, a power of two. */
    private static final int SLOTS = 1 << 14;

    /** The length of the longest part that is kept, in characters. */
    private static final int LONGEST = 32;

    private static final int MOST_DIGITS = 3;

    /** What belongs to a word behind its apostrophe. */
    private static final List<String> CONTRACTED = List.of("s", "t", "re", "ve", "m", "ll", "d");

    private enum Kind {
        UPPER,
        LOWER,
        DIGIT,
        SIGN,
        SPACE,
        BREAK
    }

    /** The kind of each character that is counted here, by its code. */
    private static final @Nullable Kind[] KINDS = kinds();

    private record Known(String part, int tokens) {}

    private final @Nullable Known[] table = new @Nullable Known[SLOTS];
    private final ToIntFunction<String> encoding;

    /**
     * Creates a counter.
     *
     * @param encoding counts the tokens of a part
     */
    AsciiCounter(ToIntFunction<String> encoding) {
        this.encoding = encoding;
    }

    private static @Nullable Kind[] kinds() {
        @Nullable Kind[] kinds = new @Nullable Kind[128];
        for (char c = ' '; c <= '~'; c++) {
            kinds[c] = Character.isUpperCase(c)
                    ? Kind.UPPER
                    : Character.isLowerCase(c) ? Kind.LOWER : Character.isDigit(c) ? Kind.DIGIT : Kind.SIGN;
        }
        kinds[' '] = Kind.SPACE;
        kinds['\t'] = Kind.SPACE;
        kinds['\n'] = Kind.BREAK;
        kinds['\r'] = Kind.BREAK;
        return kinds;
    }

    /** Returns the number of tokens, or {@link #NOT_ASCII}. */
    int count(String text) {
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c >= KINDS.length || KINDS[c] == null) {
                return NOT_ASCII;
            }
        }
        int tokens = 0;
        int end;
        for (int at = 0; at < text.length(); at = end) {
            end = end(text, at);
            tokens += tokens(text, at, end);
        }
        return tokens;
    }

    private static boolean is(Kind kind, String text, int at) {
        return at < text.length() && KINDS[text.charAt(at)] == kind;
    }

    private static boolean isLetter(String text, int at) {
        return is(Kind.UPPER, text, at) || is(Kind.LOWER, text, at);
    }

    /** Returns the end of a run of one kind. */
    private static int behind(Kind kind, String text, int at) {
        int end = at;
        while (is(kind, text, end)) {
            end++;
        }
        return end;
    }

    /** Returns the end of the part that begins at an index. */
    private static int end(String text, int at) {
        boolean mayLead = is(Kind.SIGN, text, at) || is(Kind.SPACE, text, at);
        int word = mayLead ? at + 1 : at;
        if (isLetter(text, word)) {
            return behindContraction(text, behind(Kind.LOWER, text, behind(Kind.UPPER, text, word)));
        }
        if (is(Kind.DIGIT, text, at)) {
            return Math.min(at + MOST_DIGITS, behind(Kind.DIGIT, text, at));
        }
        int sign = text.charAt(at) == ' ' ? at + 1 : at;
        return is(Kind.SIGN, text, sign) ? behindSigns(text, sign) : behindSpaces(text, at);
    }

    private static int behindContraction(String text, int at) {
        if (at >= text.length() || text.charAt(at) != '\'') {
            return at;
        }
        for (String rest : CONTRACTED) {
            if (text.regionMatches(true, at + 1, rest, 0, rest.length())) {
                return at + 1 + rest.length();
            }
        }
        return at;
    }

    /** Line breaks and slashes directly behind signs belong to their part. */
    private static int behindSigns(String text, int at) {
        int end = behind(Kind.SIGN, text, at);
        while (is(Kind.BREAK, text, end) || (end < text.length() && text.charAt(end) == '/')) {
            end++;
        }
        return end;
    }

    /** A part of spaces ends behind its last line break. Without one, the last space belongs to what follows. */
    private static int behindSpaces(String text, int at) {
        int end = at;
        int behindBreak = at;
        while (is(Kind.SPACE, text, end) || is(Kind.BREAK, text, end)) {
            end++;
            behindBreak = is(Kind.BREAK, text, end - 1) ? end : behindBreak;
        }
        if (behindBreak > at) {
            return behindBreak;
        }
        return end == text.length() || end == at + 1 ? end : end - 1;
    }

    private int tokens(String text, int begin, int end) {
        int length = end - begin;
        if (length > LONGEST) {
            return encoding.applyAsInt(text.substring(begin, end));
        }
        int hash = length;
        for (int at = begin; at < end; at++) {
            hash = 31 * hash + text.charAt(at);
        }
        int slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
        Known known = table[slot];
        if (known != null && known.part.length() == length && text.startsWith(known.part, begin)) {
            return known.tokens;
        }
        String part = text.substring(begin, end);
        Known counted = new Known(part, encoding.applyAsInt(part));
        table[slot] = counted;
        return counted.tokens;
    }
}
