package io.github.keepsake4j.chat.views;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;
import java.util.concurrent.atomic.AtomicInteger;

/** An estimator that counts its calls. */
public final class CountingEstimator implements TokenCountEstimator {

    private final TokenCountEstimator estimator;
    private final AtomicInteger calls = new AtomicInteger();

    public CountingEstimator(TokenCountEstimator estimator) {
        this.estimator = estimator;
    }

    public int calls() {
        return calls.get();
    }

    @Override
    public int estimateTokenCountInText(String text) {
        calls.incrementAndGet();
        return estimator.estimateTokenCountInText(text);
    }

    @Override
    public int estimateTokenCountInMessage(ChatMessage message) {
        calls.incrementAndGet();
        return estimator.estimateTokenCountInMessage(message);
    }

    @Override
    public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
        calls.incrementAndGet();
        return estimator.estimateTokenCountInMessages(messages);
    }
}
