package io.github.keepsake4j.recall;

/**
 * The ranking function BM25.
 *
 * @param k1 the saturation: the smaller it is, the less further occurrences of a term add
 * @param b the discount for long texts, 0 to 1
 */
record Bm25(double k1, double b) {

    /**
     * The largest length, relative to the average, that counts. A longer text would have nearly no score, whatever it
     * is about.
     */
    static final double MAX_RELATIVE = 4;

    /** The usual parameters. */
    static final Bm25 STANDARD = new Bm25(1.2, 0.75);

    /**
     * Returns the weight of a term (its idf) that occurs in some of the messages.
     *
     * @param frequency the number of messages in which it occurs
     * @param messages the number of messages, not less than the frequency
     * @return the weight, more than 0; rarer terms have larger weights
     */
    static double idf(long frequency, long messages) {
        return Math.log1p((Math.max(0, messages - frequency) + 0.5) / (frequency + 0.5));
    }

    /**
     * Returns the score of a term's occurrences in a text.
     *
     * @param occurrences how often the term occurs, 0 or more
     * @param length the text's length
     * @param averageLength the average length of all texts, or 0 if it is not known
     * @return 0 to {@code k1 + 1}; multiply it by the term's idf
     */
    double weight(double occurrences, double length, double averageLength) {
        double relative = averageLength > 0 ? Math.min(MAX_RELATIVE, length / averageLength) : 1;
        return occurrences == 0 ? 0 : occurrences * (k1 + 1) / (occurrences + k1 * (1 - b + b * relative));
    }
}
