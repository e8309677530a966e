package io.github.keepsake4j.recall.words;

/**
 * A term and its place in the text from which it was taken.
 *
 * @param term the term as it is stored and searched
 * @param start the index of its first UTF-16 code unit in the text
 * @param end the index after its last UTF-16 code unit in the text
 * @param kind the kind of term
 */
public record Token(String term, int start, int end, Kind kind) {

    /** The kinds of terms. Terms of two kinds are never equal, except that a word of one text may be a stop word of another. */
    public enum Kind {
        /** The stem of a word. */
        WORD,

        /** The stem of a word that is frequent in its language and has little meaning. It has no parts. */
        STOP_WORD,

        /** Four consecutive letters of a word. */
        PART,

        /** An ideograph, or two adjacent characters of a script without spaces between words. */
        CHARACTERS,

        /** The first two or three letters of a word that is not a stop word; see {@link Words#beginnings}. */
        BEGINNING
    }
}
