package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.Candidates.Candidate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Adds up what words count in messages. A search adds up to tens of thousands of numbers, which in a map of objects took longer
 * than to read them. Not thread-safe.
 */
final class Scores {

    private static final Comparator<Candidate> BEST_FIRST = Comparator.comparingDouble(Candidate::score)
            .reversed()
            .thenComparing(candidate -> candidate.posting().sequence(), Comparator.reverseOrder())
            .thenComparing(candidate -> candidate.posting().memory());

    /** A table with open addressing, at most half full. */
    private final @Nullable Posting[] postings;

    private final double[] sums;

    /**
     * Creates an empty table.
     *
     * @param most the largest number of messages
     */
    Scores(int most) {
        int size = Math.max(16, Integer.highestOneBit(Math.max(1, most)) * 4);
        postings = new @Nullable Posting[size];
        sums = new double[size];
    }

    /** Adds what a word counts in a message. */
    void add(Posting posting, double weight) {
        long hash = (posting.memory() * 0x9E3779B97F4A7C15L + posting.sequence()) * 0x9E3779B97F4A7C15L;
        int mask = postings.length - 1;
        int at = (int) (hash >>> 32) & mask;
        while (true) {
            Posting there = postings[at];
            if (there == null) {
                postings[at] = posting;
                break;
            }
            if (there.sequence() == posting.sequence() && there.memory() == posting.memory()) {
                break;
            }
            at = (at + 1) & mask;
        }
        sums[at] += weight;
    }

    /** Returns the messages with the largest sums, best first; of equal ones those with the higher sequence. */
    List<Candidate> best(int most) {
        PriorityQueue<Candidate> best = new PriorityQueue<>(BEST_FIRST.reversed());
        for (int i = 0; i < postings.length; i++) {
            Posting posting = postings[i];
            if (posting == null) {
                continue;
            }
            Candidate worst = best.peek();
            if (best.size() < most || (worst != null && sums[i] >= worst.score())) {
                best.add(new Candidate(posting, sums[i]));
                if (best.size() > most) {
                    best.poll();
                }
            }
        }
        List<Candidate> sorted = new ArrayList<>(best);
        Collections.sort(sorted, BEST_FIRST);
        return sorted;
    }
}
