package io.github.keepsake4j.workflow;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.workflow.files.FileRebuilder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The settings that all memories of one factory share.
 *
 * @param conversations the log of conversations, or null
 * @param nodes the log of the nodes' memories, or null
 * @param counts counts in the tokens of limits
 * @param files converts references to contents
 * @param metrics counts turns that limits leave out
 * @param keepsRequests whether a request is stored with its answer if it differs from the stored messages
 */
record WorkflowSettings(
        @Nullable MessageLog conversations,
        @Nullable MessageLog nodes,
        NodeTokenCounts counts,
        FileRebuilder files,
        Metrics metrics,
        boolean keepsRequests) {

    WorkflowSettings counting(NodeTokenCounts other) {
        return new WorkflowSettings(conversations, nodes, other, files, metrics, keepsRequests);
    }

    /** Returns the histories of a memory that a log keeps. */
    PromptHistory history(MemoryKey key, MessageLog log) {
        return new PromptHistory(
                key,
                counts.counter(),
                counts.reading(key),
                files,
                turns -> tell(sink -> sink.turnsDropped(log.backend(), turns)));
    }

    /** Reports an event of the metrics. */
    void tell(Consumer<Metrics> event) {
        if (metrics != Metrics.NONE) {
            Metrics.tell(metrics, event);
        }
    }
}
