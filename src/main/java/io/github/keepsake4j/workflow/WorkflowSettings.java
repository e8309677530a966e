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

    WorkflowSettings counting(TokenCountEstimator other, TokenCounts itsCounts) {
        return new WorkflowSettings(conversations, nodes, other, itsCounts, files);
    }

    PromptHistory history(MemoryKey key) {
        return new PromptHistory(key, estimator, counts, counts.reading(key), files);
    }
}
