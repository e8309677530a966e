package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How many tokens a node leaves to the history: what a model takes in, without what is kept free for the answer and
 * without what the node sends beside the history.
 *
 * @param contextTokens the model's context size in tokens, or null if it is not known
 * @param answerTokens how many of them are kept for the answer, 0 or more
 */
public record HistoryBudget(@Nullable Integer contextTokens, int answerTokens) {

    /** What the history may take where the model's context size is not known. */
    public static final int UNKNOWN = 2000;

    /** Checks the parts. */
    public HistoryBudget {
        if (contextTokens != null && contextTokens < 1) {
            throw new InvalidInputException("contextTokens", "must be 1 or more, is " + contextTokens);
        }
        if (answerTokens < 0) {
            throw new InvalidInputException("answerTokens", "must be 0 or more, is " + answerTokens);
        }
    }

    /**
     * The budget of a model whose context size is not known.
     *
     * @return a budget of {@value #UNKNOWN} tokens
     */
    public static HistoryBudget unknown() {
        return new HistoryBudget(null, 0);
    }

    /**
     * Says what is left for the history.
     *
     * @param beside what is sent beside the history: system prompt and query, as they are sent
     * @param estimator what counts them
     * @return tokens, 0 or more; {@value #UNKNOWN} if the context size is not known
     */
    public int forHistory(List<? extends ChatMessage> beside, TokenCountEstimator estimator) {
        if (contextTokens == null) {
            return UNKNOWN;
        }
        long taken = beside.isEmpty() ? 0 : estimator.estimateTokenCountInMessages(List.copyOf(beside));
        return (int) Math.max(0, contextTokens - (long) answerTokens - taken);
    }
}
