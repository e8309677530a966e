package io.github.keepsake4j.recall.words;

import java.util.List;

/** The hash codes of the terms of one word. With them, most terms need not be compared. */
final class TermHashes {

    private final int stopWordOf;

    /** Of its stems, then of its parts, then of its beginnings. */
    private final int[] hashes;

    private final int stems;
    private final int beginnings;

    /**
     * Creates them.
     *
     * @param stopWordOf a bit for each language of which this is a stop word, by its number from 0 to 31
     * @param terms the word's stems, then its parts, then its beginnings
     */
    TermHashes(int stopWordOf, List<SplitWord.Term> terms) {
        this.stopWordOf = stopWordOf;
        hashes = terms.stream().mapToInt(term -> term.text().hashCode()).toArray();
        stems = count(terms, Words.Token.Kind.WORD);
        beginnings = count(terms, Words.Token.Kind.BEGINNING);
    }

    private static int count(List<SplitWord.Term> terms, Words.Token.Kind kind) {
        return (int) terms.stream().filter(term -> term.kind() == kind).count();
    }

    /** Returns whether this is a stop word of a language by its number. */
    boolean isStopWordOf(int language) {
        return ((stopWordOf >>> language) & 1) == 1;
    }

    /** Returns the hash code of a term's text. */
    int hash(int term) {
        return hashes[term];
    }

    /** Returns the first of the beginnings, or of the other terms. */
    int first(boolean ofBeginnings) {
        return ofBeginnings ? hashes.length - beginnings : 0;
    }

    /** Returns the index after the last of the beginnings, or of the other terms. A stop word has only its stems. */
    int end(boolean ofBeginnings, boolean stop) {
        if (ofBeginnings) {
            return stop ? first(true) : hashes.length;
        }
        return stop ? stems : hashes.length - beginnings;
    }
}
