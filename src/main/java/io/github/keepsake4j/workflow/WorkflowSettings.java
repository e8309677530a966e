package io.github.keepsake4j.workflow;

import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import org.jspecify.annotations.Nullable;

/**
 * What all memories of one factory share.
 *
 * @param conversations where conversations are kept, or null
 * @param nodes where memories of nodes are kept, or null
 * @param estimator what limits are meant in
 * @param counts sizes by it
 * @param files makes contents of references
 */
record WorkflowSettings(
        @Nullable MessageLog conversations,
        @Nullable MessageLog nodes,
        TokenCountEstimator estimator,
        TokenCounts counts,
        Files files) {

    /** The most messages that a history is read from. */
    static final int MOST_MESSAGES = 500;

    WorkflowSettings counting(TokenCountEstimator other, TokenCounts itsCounts) {
        return new WorkflowSettings(conversations, nodes, other, itsCounts, files);
    }

    PromptHistory history(MemoryKey key) {
        return new PromptHistory(key, estimator, counts, files);
    }

    static int messageLimit(@Nullable Integer limit) {
        return limit == null || limit <= 0 ? MOST_MESSAGES : Math.min(limit, MOST_MESSAGES);
    }

    /** Stored counts may be another counter's, and up to twice ours. */
    static long reach(int maxTokenLimit) {
        return Math.max(1, 2L * maxTokenLimit);
    }
}
