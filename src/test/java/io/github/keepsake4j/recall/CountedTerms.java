package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.SomeTokens;
import io.github.keepsake4j.recall.words.Words.Token;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Counts in memory how often terms occur. */
final class CountedTerms {

    private CountedTerms() {}

    /** Splits a text and keeps all terms. */
    static SomeTokens all(String text, Words words) {
        List<Token> tokens = words.tokens(text);
        return new SomeTokens(tokens, tokens.size());
    }

    static Matches of(List<Utterance> utterances) {
        Map<String, Long> frequencies = new HashMap<>();
        for (Utterance utterance : utterances) {
            utterance.terms().keySet().forEach(term -> frequencies.merge(term, 1L, Long::sum));
        }
        long length = utterances.stream().mapToLong(Utterance::length).sum();
        return new Matches(utterances.size(), length, frequencies, Map.of());
    }
}
