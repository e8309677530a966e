package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.Map;

/**
 * The messages in which words occur, best first by BM25. They come from the index, so a caller must check them against
 * the log.
 *
 * @param statistics the statistics of the scope, including messages that are not indexed yet
 * @param best the messages
 * @param keys the memories of the best, by their numbers
 * @param lagging whether the newest messages may be missing
 */
record Candidates(Matches statistics, List<Candidate> best, Map<Long, MemoryKey> keys, boolean lagging) {

    /**
     * A message.
     *
     * @param posting the place of the message, with the count of one of the words
     * @param score the sum of the words' scores
     */
    record Candidate(Posting posting, double score) {}
}
