package io.github.keepsake4j.workflow;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.workflow.files.FileRebuilder;
import org.jspecify.annotations.Nullable;

/**
 * The settings that all memories of one factory share.
 *
 * @param conversations the log of conversations, or null
 * @param nodes the log of the nodes' memories, or null
 * @param counts counts in the tokens of limits
 * @param files converts references to contents
 */
record WorkflowSettings(
        @Nullable MessageLog conversations, @Nullable MessageLog nodes, TokenCounts counts, FileRebuilder files) {

    WorkflowSettings counting(TokenCounts other) {
        return new WorkflowSettings(conversations, nodes, other, files);
    }

    PromptHistory history(MemoryKey key) {
        return new PromptHistory(key, counts, counts.reading(key), files);
    }
}
