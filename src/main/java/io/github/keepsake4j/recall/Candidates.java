package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.Map;

/**
 * The messages in which words occur, best first by BM25. They are what the index says, and are to be checked against the log.
 *
 * @param statistics the statistics of the scope, including what is not indexed yet
 * @param best the messages
 * @param keys the memories of the best, by their numbers
 * @param lagging whether something may be missing that was said just now
 */
record Candidates(Matches statistics, List<Candidate> best, Map<Long, MemoryKey> keys, boolean lagging) {

    /**
     * A message.
     *
     * @param posting where it is; its count is that of one of the words
     * @param score the sum of what the words count
     */
    record Candidate(Posting posting, double score) {}
}
