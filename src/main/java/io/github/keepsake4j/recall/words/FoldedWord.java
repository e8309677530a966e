package io.github.keepsake4j.recall.words;

import java.text.Normalizer;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * A word without the diacritics of alphabets and without soft hyphens and the like. Each code point knows its original
 * place.
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record FoldedWord(int[] codePoints, int[] sources) {

    /**
     * Folds a word.
     *
     * @param word a word in NFKC and lower case
     * @return its code points
     */
    static FoldedWord of(String word) {
        int[] codePoints = new int[word.length()];
        int[] sources = new int[word.length()];
        int size = 0;
        for (int i = 0; i < word.length(); ) {
            int c = word.codePointAt(i);
            // Most letters are in ASCII, and these need no array.
            int[] several = c < 0x80 ? null : fold(c);
            for (int part = 0; part < (several == null ? 1 : several.length); part++) {
                if (size == codePoints.length) {
                    codePoints = Arrays.copyOf(codePoints, size * 2);
                    sources = Arrays.copyOf(sources, size * 2);
                }
                codePoints[size] = several == null ? c : several[part];
                sources[size++] = i;
            }
            i += Character.charCount(c);
        }
        return new FoldedWord(Arrays.copyOf(codePoints, size), Arrays.copyOf(sources, size));
    }

    /** Returns whether folding changes nothing, because all characters are in ASCII. */
    static boolean isPlain(String word) {
        return word.chars().allMatch(c -> c < 0x80);
    }

    static String fold(String word) {
        return isPlain(word) ? word : of(word).text();
    }

    private static int[] fold(int c) {
        if (Character.getType(c) == Character.FORMAT) {
            return new int[0];
        }
        // Hangul would fall apart; the marks of Indic scripts are vowels.
        return isHangul(c)
                ? new int[] {c}
                : Normalizer.normalize(Character.toString(c), Normalizer.Form.NFD)
                        .codePoints()
                        .filter(part -> part < 0x300 || part > 0x36F)
                        .flatMap(FoldedWord::plain)
                        .toArray();
    }

    /** Replaces letters that Unicode does not decompose. */
    private static IntStream plain(int c) {
        return switch (c) {
            case 'ß' -> IntStream.of('s', 's');
            case 'æ' -> IntStream.of('a', 'e');
            case 'œ' -> IntStream.of('o', 'e');
            case 'ø' -> IntStream.of('o');
            case 'ł' -> IntStream.of('l');
            case 'đ', 'ð' -> IntStream.of('d');
            case 'þ' -> IntStream.of('t', 'h');
            case 'ı' -> IntStream.of('i');
            case 'ς' -> IntStream.of('σ');
            default -> IntStream.of(c);
        };
    }

    private static boolean isHangul(int c) {
        return c >= 0xAC00 && c <= 0xD7A3;
    }

    int size() {
        return codePoints.length;
    }

    /** Returns the index of the character of the word that a code point comes from. */
    int source(int index) {
        return sources[index];
    }

    String text() {
        return new String(codePoints, 0, codePoints.length);
    }

    String text(int from, int to) {
        return new String(codePoints, from, to - from);
    }
}
