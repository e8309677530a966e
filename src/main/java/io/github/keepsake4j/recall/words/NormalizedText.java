package io.github.keepsake4j.recall.words;

import java.text.Normalizer;
import java.util.Arrays;

/** A text in NFKC and lower case that records the original place of each character. */
final class NormalizedText {

    /**
     * The limit of the stream-safe text format of Unicode. The following text is normalized separately, which bounds
     * the cost.
     */
    private static final int MAX_MARKS = 30;

    private static final int FIRST_COMBINING = 0x300;

    private final StringBuilder chars;
    private int[] starts;
    private int[] ends;

    private NormalizedText(int size) {
        chars = new StringBuilder(size);
        starts = new int[size];
        ends = new int[size];
    }

    /** Normalizes a text up to a limit, which is also about the largest length of the result. */
    static NormalizedText of(String text, int limit) {
        int length = Math.min(text.length(), limit);
        NormalizedText normalized = new NormalizedText(length);
        int at = 0;
        while (at < length && normalized.length() < limit) {
            int end = endOfCharacter(text, at, length);
            if (end == at + 1 && text.charAt(at) < 0x80) {
                normalized.add(Character.toLowerCase(text.charAt(at)), at, end);
            } else {
                normalized.addAll(Normalizer.normalize(text.substring(at, end), Normalizer.Form.NFKC), at, end);
            }
            at = end;
        }
        return normalized;
    }

    /** Finds the end of the marks that may be composed with a character. */
    private static int endOfCharacter(String text, int start, int length) {
        int at = start + Character.charCount(text.codePointAt(start));
        for (int marks = 0; marks < MAX_MARKS && at < length; marks++) {
            int next = text.codePointAt(at);
            if (next < FIRST_COMBINING || !continuesACharacter(next)) {
                break;
            }
            at += Character.charCount(next);
        }
        return Math.min(at, length);
    }

    private static boolean continuesACharacter(int c) {
        // Also half-width voiced sound marks, and the vowels and final consonants of Hangul that is not composed.
        return Script.isMark(c) || c == 0xFF9E || c == 0xFF9F || (c >= 0x1160 && c <= 0x11FF);
    }

    private void addAll(String normalized, int start, int end) {
        for (int i = 0; i < normalized.length(); ) {
            int c = normalized.codePointAt(i);
            for (char unit : Character.toChars(Character.toLowerCase(c))) {
                add(unit, start, end);
            }
            i += Character.charCount(c);
        }
    }

    private void add(char unit, int start, int end) {
        int at = chars.length();
        if (at == starts.length) {
            starts = Arrays.copyOf(starts, at * 2 + 8);
            ends = Arrays.copyOf(ends, at * 2 + 8);
        }
        chars.append(unit);
        starts[at] = start;
        ends[at] = end;
    }

    CharSequence chars() {
        return chars;
    }

    int length() {
        return chars.length();
    }

    int codePointAt(int index) {
        return chars.codePointAt(index);
    }

    String substring(int from, int to) {
        return chars.substring(from, to);
    }

    /** Returns where a character begins in the original. */
    int start(int index) {
        return starts[index];
    }

    /** Returns where a character ends in the original. */
    int end(int index) {
        return ends[index];
    }
}
