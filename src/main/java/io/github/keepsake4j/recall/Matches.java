package io.github.keepsake4j.recall;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The data of an index about some terms in a scope, at one moment.
 *
 * @param messages the number of indexed messages in the scope
 * @param totalLength the sum of their lengths, in terms
 * @param frequencies for each term the number of messages in which it occurs; terms that do not occur are absent
 * @param postings the postings that were read, by term, from the rarest term to the most frequent; see
 *     {@link MessageIndex#match}
 */
public record Matches(
        long messages, long totalLength, Map<String, Long> frequencies, Map<String, List<Posting>> postings) {

    /** The result without matches. */
    public static final Matches NONE = new Matches(0, 0, Map.of(), Map.of());

    /** Copies the components. */
    public Matches {
        frequencies = Map.copyOf(frequencies);
        Map<String, List<Posting>> copy = new LinkedHashMap<>();
        postings.forEach((term, list) -> copy.put(term, List.copyOf(list)));
        postings = Collections.unmodifiableMap(copy);
    }

    /**
     * Returns the average length of the scope's messages.
     *
     * @return the average in terms, or 0 if there are none
     */
    public double averageLength() {
        return messages == 0 ? 0 : (double) totalLength / messages;
    }

    /**
     * Returns the number of messages in which a term occurs.
     *
     * @param term the term
     * @return the number, 0 or more
     */
    public long frequency(String term) {
        return frequencies.getOrDefault(term, 0L);
    }

    double idf(String term) {
        return Bm25.idf(frequency(term), messages);
    }

    /**
     * A term of which postings are to be read.
     *
     * @param term the term
     * @param frequency the number of messages in which it occurs, 1 or more
     * @param most the largest number of postings to read, 1 or more; less than the frequency for at most one term
     */
    public record Share(String term, long frequency, int most) {

        /**
         * Returns the number of postings that are read of a memory: its part of {@code most}, rounded up.
         *
         * @param ofMemory the number of its messages in which the term occurs
         * @return the number of its newest postings
         */
        public int of(long ofMemory) {
            return frequency <= most
                    ? (int) ofMemory
                    : (int) Math.min(most, (ofMemory * most + frequency - 1) / frequency);
        }
    }

    /**
     * Chooses the postings to read: all postings of the rarest terms, and a part of the postings of the first term that
     * would exceed the limit.
     *
     * @param frequencies for each term the number of messages in which it occurs
     * @param maxPostings the limit, 1 or more
     * @return the terms to read, from the rarest to the most frequent; equally frequent terms are in the order of their
     * texts
     */
    public static List<Share> choose(Map<String, Long> frequencies, int maxPostings) {
        List<Map.Entry<String, Long>> rarestFirst = new ArrayList<>(frequencies.entrySet());
        rarestFirst.sort(Map.Entry.<String, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey()));
        List<Share> shares = new ArrayList<>();
        long left = maxPostings;
        for (Map.Entry<String, Long> entry : rarestFirst) {
            if (left <= 0) {
                break;
            }
            long frequency = entry.getValue();
            shares.add(new Share(entry.getKey(), frequency, (int) Math.min(frequency, left)));
            left -= frequency;
        }
        return shares;
    }
}
