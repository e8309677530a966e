package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.Recalled.Excerpt;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.SomeTokens;
import io.github.keepsake4j.recall.words.Words.Token;
import java.time.Instant;
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

    /** Returns a message with all of its terms, as ranking sees it. */
    static Utterance said(long sequence, String speaker, Instant time, String text, Words words) {
        ChatMessage message = speaker.equals(Named.ASSISTANT)
                ? AiMessage.from(text)
                : speaker.equals(Named.USER) ? UserMessage.from(text) : UserMessage.from(speaker, text);
        LoggedMessage logged = new LoggedMessage(Long.toString(sequence), null, sequence, message, 1, "test", time);
        return Utterance.of(logged, text, List.of(new Excerpt(0, text.length())), all(text, words), false);
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
