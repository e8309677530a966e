package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.tokens.TokenSizes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The number of tokens that a node leaves for the history: the model's context size, less the tokens that are reserved
 * for the answer and those that the node sends in addition to the history.
 *
 * @param contextTokens the model's context size in tokens, or null if it is not known
 * @param answerTokens the number of these tokens that are reserved for the answer, 0 or more
 */
record HistoryBudget(@Nullable Integer contextTokens, int answerTokens) {

    /** The number of tokens of the history if the model's context size is not known. */
    static final int UNKNOWN = 2000;

    /** Checks the components. */
    HistoryBudget {
        if (contextTokens != null) {
            InvalidInputException.checkAtLeast("contextTokens", 1, contextTokens);
        }
        InvalidInputException.checkAtLeast("answerTokens", 0, answerTokens);
    }

    /**
     * Returns the number of tokens that are left for the history.
     *
     * @param beside the messages that are sent in addition to the history: the system prompt and the query, as they are
     *     sent
     * @param counts counts their tokens
     * @return the number of tokens, 0 or more; {@value #UNKNOWN} if the context size is not known
     */
    int forHistory(List<? extends ChatMessage> beside, NodeTokenCounts counts) {
        if (contextTokens == null) {
            return UNKNOWN;
        }
        TokenSizes sizes = counts.once();
        long taken = beside.isEmpty()
                ? 0
                : sizes.perList(counts.counter())
                        + beside.stream()
                                .mapToLong(message -> sizes.of(counts.counter(), message))
                                .sum();
        return (int) Math.max(0, contextTokens - (long) answerTokens - taken);
    }
}
