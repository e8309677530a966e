package io.github.keepsake4j.recall;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Counts in memory how often terms occur. */
final class CountedTerms {

    private CountedTerms() {}

    static Matches of(List<Utterance> utterances) {
        Map<String, Long> frequencies = new HashMap<>();
        for (Utterance utterance : utterances) {
            utterance.terms().keySet().forEach(term -> frequencies.merge(term, 1L, Long::sum));
        }
        long length = utterances.stream().mapToLong(Utterance::length).sum();
        return new Matches(utterances.size(), length, frequencies, Map.of());
    }
}
