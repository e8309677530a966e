package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.testing.WordCounter;

/** Counts four tokens per word, so that random results are long enough to be cleared, and a marker is not. */
final class FourPerWord implements TokenCountEstimator {

    private static final int PER_WORD = 4;

    private final WordCounter words = new WordCounter();

    @Override
    public int estimateTokenCountInText(String text) {
        return PER_WORD * words.estimateTokenCountInText(text);
    }

    @Override
    public int estimateTokenCountInMessage(ChatMessage message) {
        return PER_WORD * words.estimateTokenCountInMessage(message);
    }

    @Override
    public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
        return PER_WORD * words.estimateTokenCountInMessages(messages);
    }
}
