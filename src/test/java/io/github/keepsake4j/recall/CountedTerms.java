package io.github.keepsake4j.recall;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Statistics that are counted in memory. */
record CountedTerms(long messages, double averageLength, Map<String, Long> frequencies) implements Statistics {

    static CountedTerms of(List<Utterance> utterances) {
        Map<String, Long> frequencies = new HashMap<>();
        for (Utterance utterance : utterances) {
            utterance.terms().keySet().forEach(term -> frequencies.merge(term, 1L, Long::sum));
        }
        double average =
                utterances.stream().mapToInt(Utterance::length).average().orElse(0);
        return new CountedTerms(utterances.size(), average, frequencies);
    }

    @Override
    public long frequency(String term) {
        return frequencies.getOrDefault(term, 0L);
    }
}
