package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.Recalled.Excerpt;

/** Cuts parts out of texts. Pure functions. */
final class TextCuts {

    /** The number of code units in which the end of a cut word is looked for. */
    static final int MAX_CUT = 32;

    private TextCuts() {}

    /**
     * Returns a part of a text without the words that its ends would cut.
     *
     * @param text the text
     * @param start the index of the first code unit
     * @param end the index after the last code unit
     * @param from the index of a code unit that stays, or the length of the text
     * @param to the index after the last code unit that stays, or 0
     * @return the part; it ends in a word or between two characters if there is no blank nearby
     */
    static Excerpt ofWholeWords(String text, int start, int end, int from, int to) {
        int first = start;
        int last = end;
        for (int i = start; first > 0 && i < Math.min(start + MAX_CUT, Math.min(from, end)); i++) {
            if (Character.isWhitespace(text.charAt(i))) {
                first = i + 1;
                break;
            }
        }
        for (int i = end - 1; last < text.length() && i >= Math.max(end - MAX_CUT, Math.max(to, first + 1)); i--) {
            if (Character.isWhitespace(text.charAt(i))) {
                last = i;
                break;
            }
        }
        return new Excerpt(
                isInsideOfAPair(text, first) ? first + 1 : first, isInsideOfAPair(text, last) ? last - 1 : last);
    }

    static boolean isInsideOfAPair(String text, int at) {
        return at > 0 && at < text.length() && Character.isSurrogatePair(text.charAt(at - 1), text.charAt(at));
    }
}
