package io.github.keepsake4j.workflow;

import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.workflow.files.FileRebuilder;
import org.jspecify.annotations.Nullable;

/**
 * The settings that all memories of one factory share.
 *
 * @param conversations the log of conversations, or null
 * @param nodes the log of the nodes' memories, or null
 * @param estimator the estimator that defines the tokens of limits
 * @param counts the sizes of messages by this estimator
 * @param files converts references to contents
 */
record WorkflowSettings(
        @Nullable MessageLog conversations,
        @Nullable MessageLog nodes,
        TokenCountEstimator estimator,
        TokenCounts counts,
        FileRebuilder files) {

    /** The maximum number of messages from which a history is read. */
    private static final int MOST_MESSAGES = 500;

    WorkflowSettings counting(TokenCountEstimator other, TokenCounts itsCounts) {
        return new WorkflowSettings(conversations, nodes, other, itsCounts, files);
    }

    PromptHistory history(MemoryKey key) {
        return new PromptHistory(key, estimator, counts, files);
    }

    /**
     * Returns the query for a history. It reads up to twice the tokens, because stored counts may come from another
     * counter.
     */
    static ReadQuery query(@Nullable Integer messageLimit, int maxTokenLimit) {
        int most = messageLimit == null || messageLimit <= 0 ? MOST_MESSAGES : Math.min(messageLimit, MOST_MESSAGES);
        return ReadQuery.newest(most).upToTokens(Math.max(1, 2L * maxTokenLimit));
    }
}
