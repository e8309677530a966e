package io.github.keepsake4j.recall;

/**
 * The ranking function BM25.
 *
 * @param k1 how soon further occurrences of a term add little
 * @param b how much a long text is discounted, 0 to 1
 */
record Bm25(double k1, double b) {

    /** The usual parameters. */
    static final Bm25 STANDARD = new Bm25(1.2, 0.75);

    /**
     * Returns how much a term tells that occurs in some of the messages.
     *
     * @param frequency the number of messages in which it occurs
     * @param messages the number of messages, not less than the frequency
     * @return more than 0; the rarer the term, the more
     */
    static double idf(long frequency, long messages) {
        return Math.log1p((Math.max(0, messages - frequency) + 0.5) / (frequency + 0.5));
    }

    /**
     * Returns what the occurrences of a term count in a text.
     *
     * @param occurrences how often the term occurs, 0 or more
     * @param length the text's length
     * @param averageLength the average length of all texts, or 0 if it is not known
     * @return 0 to {@code k1 + 1}, which is to be multiplied by the term's idf
     */
    double weight(double occurrences, double length, double averageLength) {
        double relative = averageLength > 0 ? length / averageLength : 1;
        return occurrences == 0 ? 0 : occurrences * (k1 + 1) / (occurrences + k1 * (1 - b + b * relative));
    }
}
