package io.github.keepsake4j.workflow;

import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.log.MessageLog;
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

    /** Returns how many tokens to read. Stored counts may come from another counter and may be up to twice as high. */
    static long reach(int maxTokenLimit) {
        return Math.max(1, 2L * maxTokenLimit);
    }
}
