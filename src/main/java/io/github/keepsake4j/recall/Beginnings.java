package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.Question.Unit;
import io.github.keepsake4j.recall.Recalled.Excerpt;
import io.github.keepsake4j.recall.words.Words;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The beginnings of a question's words. A long text is searched for them in one pass, which takes a hundredth of the
 * time for splitting it. They are compared without upper case and without the diacritics of Latin letters, and at any
 * place of a word unless they are short.
 */
final class Beginnings {

    /** The largest number of words that are searched for: one bit for each. */
    private static final int MAX_WORDS = Long.SIZE;

    /** The number of code units of a text in which words are counted as near each other. */
    private static final int WINDOW = 256;

    /** The number of code units that are added on each side of a window, so that it cuts no word. */
    private static final int MARGIN = TextCuts.MAX_CUT;

    /** The largest and the smallest number of characters of a beginning, and how many a flexion may change. */
    private static final int LONGEST = 16;

    private static final int SHORTEST = 4;
    private static final int ENDING = 3;

    /**
     * The first character of a script that writes no spaces between words. Short words of others are looked for as
     * words, with an ending that is shorter than they are.
     */
    private static final char FIRST_WITHOUT_SPACES = '\u0E00';

    /** The letters of the blocks Latin-1, Latin Extended-A and Latin Extended-B without diacritics, in lower case. */
    private static final char[] LATIN = new char[0x250];

    static {
        for (char c = 0; c < LATIN.length; c++) {
            LATIN[c] = Character.toLowerCase(Normalizer.normalize(String.valueOf(c), Normalizer.Form.NFKD)
                    .charAt(0));
        }
    }

    private final List<String> beginnings = new ArrayList<>();
    private final List<Double> weights = new ArrayList<>();

    /** For the low byte of a character the beginnings that may begin with it. */
    private final long[] byFirst = new long[256];

    /** The same for the second character, so that few places are looked at closely. */
    private final long[] bySecond = new long[256];

    private Beginnings() {}

    /** Returns the beginnings of a question's rarest words. */
    static Beginnings of(Question question, Matches statistics) {
        Map<String, Double> words = new TreeMap<>();
        for (Unit unit : question.units()) {
            String beginning = beginning(unit.written());
            if (!beginning.isEmpty()) {
                words.merge(beginning, unit.idf(statistics), Math::max);
            }
        }
        Beginnings result = new Beginnings();
        words.entrySet().stream()
                .sorted(Map.Entry.<String, Double>comparingByValue(Comparator.reverseOrder()))
                .limit(MAX_WORDS)
                .forEach(word -> result.add(word.getKey(), word.getValue()));
        return result;
    }

    private void add(String beginning, double weight) {
        long word = 1L << beginnings.size();
        byFirst[beginning.charAt(0) & 0xFF] |= word;
        if (beginning.length() > 1) {
            bySecond[beginning.charAt(1) & 0xFF] |= word;
        } else {
            Arrays.setAll(bySecond, i -> bySecond[i] | word);
        }
        beginnings.add(beginning);
        weights.add(weight);
    }

    private static String beginning(String word) {
        StringBuilder folded = new StringBuilder();
        for (int i = 0; i < word.length(); i++) {
            if (!isIgnored(word.charAt(i))) {
                folded.append(fold(word.charAt(i)));
            }
        }
        int kept = Math.max(SHORTEST, Math.min(LONGEST, folded.length() - ENDING));
        return folded.substring(0, Math.min(folded.length(), kept));
    }

    private static char fold(char c) {
        if (c < LATIN.length) {
            return LATIN[c];
        }
        // The full-width forms of ASCII.
        return c > 0xFF00 && c < 0xFF5F ? LATIN[c - 0xFEE0] : Character.toLowerCase(c);
    }

    /** Returns whether a character is a diacritic or invisible inside of a word. */
    private static boolean isIgnored(char c) {
        return (c >= 0x300 && c < 0x370) || c == 0xAD || (c >= 0x200B && c < 0x200E);
    }

    /**
     * Returns the parts of a text that have the most and rarest of these words. No word is left out for another part
     * that has the same ones.
     *
     * @param text the text; only the part that is indexed is searched
     * @param most the largest number of code units in all parts together; one window may have more
     * @return the parts, in order and without overlap; the beginning of the text if no word is found
     */
    List<Excerpt> parts(String text, int most) {
        int length = Math.min(text.length(), Words.MAX_LENGTH);
        long[] found = new long[(length + WINDOW - 1) / WINDOW];
        char folded = length == 0 ? ' ' : fold(text.charAt(0));
        for (int i = 0; i < length; i++) {
            long candidates = byFirst[folded & 0xFF];
            char next = i + 1 < text.length() ? text.charAt(i + 1) : ' ';
            folded = fold(next);
            candidates &= isIgnored(next) ? candidates : bySecond[folded & 0xFF];
            for (; candidates != 0; candidates &= candidates - 1) {
                int word = Long.numberOfTrailingZeros(candidates);
                if (isAt(text, i, beginnings.get(word))) {
                    found[i / WINDOW] |= 1L << word;
                }
            }
        }
        BitSet chosen = choose(found, Math.max(1, most / (WINDOW + 2 * MARGIN)));
        List<Excerpt> parts = new ArrayList<>();
        for (int first = chosen.nextSetBit(0); first >= 0; ) {
            int last = chosen.nextClearBit(first);
            int start = Math.max(0, first * WINDOW - MARGIN);
            int end = Math.min(length, last * WINDOW + MARGIN);
            parts.add(TextCuts.ofWholeWords(text, start, end, end, start));
            first = chosen.nextSetBit(last);
        }
        return parts;
    }

    private static boolean isAt(String text, int place, String beginning) {
        int at = place;
        for (int i = 0; i < beginning.length(); i++, at++) {
            while (i > 0 && at < text.length() && isIgnored(text.charAt(at))) {
                at++;
            }
            if (at >= text.length() || fold(text.charAt(at)) != beginning.charAt(i)) {
                return false;
            }
        }
        return beginning.length() >= SHORTEST
                || beginning.charAt(0) >= FIRST_WITHOUT_SPACES
                || (!isLetter(text, place - 1) && lettersAt(text, at, beginning.length()) < beginning.length());
    }

    private static int lettersAt(String text, int place, int most) {
        int letters = 0;
        while (letters < most && isLetter(text, place + letters)) {
            letters++;
        }
        return letters;
    }

    private static boolean isLetter(String text, int at) {
        return at >= 0 && at < text.length() && Character.isLetterOrDigit(text.charAt(at));
    }

    /** Chooses windows: each time the one with the most weight of words that no chosen one has. */
    private BitSet choose(long[] found, int number) {
        BitSet chosen = new BitSet();
        long seen = 0;
        while (chosen.cardinality() < Math.min(number, found.length)) {
            int best = chosen.nextClearBit(0);
            double most = -1;
            for (int i = best; i < found.length; i = chosen.nextClearBit(i + 1)) {
                double weight = weight(found[i] & ~seen);
                if (weight > most) {
                    most = weight;
                    best = i;
                }
            }
            // When all words were seen, each may be seen once more.
            boolean all = most == 0 && seen != 0;
            seen = all ? 0 : seen | found[best];
            if (!all) {
                chosen.set(best);
            }
        }
        return chosen;
    }

    private double weight(long words) {
        double weight = 0;
        for (long left = words; left != 0; left &= left - 1) {
            weight += weights.get(Long.numberOfTrailingZeros(left));
        }
        return weight;
    }
}
