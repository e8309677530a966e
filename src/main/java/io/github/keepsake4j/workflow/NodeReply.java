package io.github.keepsake4j.workflow;

import dev.langchain4j.model.chat.response.ChatResponse;
import org.jspecify.annotations.Nullable;

/**
 * What a run of a node gave.
 *
 * @param response the model's
 * @param memory the node's memory, or null if it has none; after a failed flush it holds the turn, and its
 *     {@link NodeTokenBufferMemory#flush()} tries again
 * @param failure why the turn could not be kept, or null if it was, or there was nothing to keep
 */
public record NodeReply(
        ChatResponse response, @Nullable NodeTokenBufferMemory memory, @Nullable RuntimeException failure) {

    /**
     * Returns what the assistant said.
     *
     * @return the text, or null if there is none
     */
    public @Nullable String text() {
        return response.aiMessage().text();
    }
}
