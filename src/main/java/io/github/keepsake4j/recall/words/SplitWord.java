package io.github.keepsake4j.recall.words;

import io.github.keepsake4j.recall.words.Words.Token.Kind;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;

/**
 * The terms of one word of an alphabet.
 *
 * @param hashes the hashes that distinguish most terms
 * @param terms its stems, then its parts, then its beginnings
 */
record SplitWord(TermHashes hashes, List<SplitWord.Term> terms) {

    private static final int PART = 4;

    /** A character that cannot be in a word, so a part never equals a word. */
    private static final String PART_MARK = "_";

    private static final String BEGINNING_MARK = "^";

    /**
     * A term and its place in the word.
     *
     * @param text the term as it is stored
     * @param start the index of its first code unit
     * @param end the index after its last code unit
     * @param kind {@code WORD}, {@code PART} or {@code BEGINNING}
     */
    record Term(String text, int start, int end, Kind kind) {}

    /**
     * Splits a word.
     *
     * @param word the word in NFKC and lower case
     * @param stemmers the stemmers of the languages
     * @param stopWordOf returns the languages whose stop word a word is, a bit for each
     * @param mapping the function that is applied to each term
     */
    static SplitWord of(
            String word,
            List<UnaryOperator<String>> stemmers,
            ToIntFunction<String> stopWordOf,
            UnaryOperator<String> mapping) {
        String base = word.substring(0, baseLength(word));
        FoldedWord folded = FoldedWord.of(base);
        List<Term> terms = new ArrayList<>();
        if (folded.size() > 0) {
            for (String stem : stems(base, folded, stemmers)) {
                terms.add(new Term(mapping.apply(stem), 0, base.length(), Kind.WORD));
            }
            for (int i = 0; i + PART <= folded.size(); i++) {
                terms.add(term(PART_MARK, base, folded, i, i + PART, Kind.PART, mapping));
            }
            for (int size = 2; size <= Math.min(3, folded.size()); size++) {
                terms.add(term(BEGINNING_MARK, base, folded, 0, size, Kind.BEGINNING, mapping));
            }
        }
        return new SplitWord(new TermHashes(stopWordOf.applyAsInt(withoutFormat(word)), terms), List.copyOf(terms));
    }

    private static Term term(
            String mark, String base, FoldedWord folded, int from, int to, Kind kind, UnaryOperator<String> mapping) {
        int last = folded.source(to - 1);
        return new Term(
                mapping.apply(mark + folded.text(from, to)),
                kind == Kind.BEGINNING ? 0 : folded.source(from),
                last + Character.charCount(base.codePointAt(last)),
                kind);
    }

    private static Set<String> stems(String base, FoldedWord folded, List<UnaryOperator<String>> stemmers) {
        if (stemmers.isEmpty() || folded.size() > Words.MAX_WORD) {
            return Set.of(folded.text(0, Math.min(folded.size(), Words.MAX_WORD)));
        }
        Set<String> stems = new LinkedHashSet<>();
        String word = withoutFormat(base);
        for (UnaryOperator<String> stemmer : stemmers) {
            String stem = FoldedWord.fold(stemmer.apply(word));
            stems.add(stem.isEmpty() ? folded.text() : stem);
        }
        return stems;
    }

    /** Returns the length of a word up to an apostrophe. */
    private static int baseLength(String word) {
        int apostrophe = word.indexOf(Script.APOSTROPHE);
        int typographic = word.indexOf(Script.TYPOGRAPHIC_APOSTROPHE);
        int at = apostrophe < 0 ? typographic : apostrophe;
        return at < 0 ? word.length() : at;
    }

    /** Removes soft hyphens and the like, and makes all apostrophes the same. */
    private static String withoutFormat(String word) {
        if (FoldedWord.isPlain(word)) {
            return word;
        }
        StringBuilder without = new StringBuilder(word.length());
        word.codePoints()
                .filter(c -> Character.getType(c) != Character.FORMAT)
                .map(c -> c == Script.TYPOGRAPHIC_APOSTROPHE ? Script.APOSTROPHE : c)
                .forEach(without::appendCodePoint);
        return without.toString();
    }
}
