package io.github.keepsake4j.component;

import io.github.keepsake4j.component.MemoryInput.Strategy;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.tokens.TokenCounter;

/** The settings of an input for the messages of its output. */
record ComponentSettings(Strategy strategy, int maxMessages, int maxTokens) {

    /** The part of the tokens that stays out of a summary. */
    private static final int KEPT_PART = 4;

    static ComponentSettings of(MemoryInput input) {
        return new ComponentSettings(input.strategy(), input.maxMessages(), input.maxTokens());
    }

    boolean summarizes() {
        return strategy == Strategy.SUMMARIZATION;
    }

    /** Both limits apply with every strategy. So a window that ends at either of them is also a token limit. */
    ContextStrategy toStrategy(TokenCounter counter) {
        ContextStrategy limits =
                SlidingWindow.withMaxMessages(maxMessages).and(TokenLimit.withMaxTokens(maxTokens, counter));
        return summarizes()
                ? Summarization.triggerTokens(Math.max(2, maxTokens))
                        .keepTokens(Math.max(1, maxTokens / KEPT_PART))
                        .countedBy(counter)
                        .and(limits)
                : limits;
    }
}
