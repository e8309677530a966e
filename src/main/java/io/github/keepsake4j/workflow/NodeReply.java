package io.github.keepsake4j.workflow;

import dev.langchain4j.model.chat.response.ChatResponse;
import org.jspecify.annotations.Nullable;

/**
 * The result of a node's run.
 *
 * @param response the model's response
 * @param memory the node's memory, or null if it has none; after a failed flush it holds the turn, and its
 *     {@link NodeTokenBufferMemory#flush()} tries again
 * @param failure why the turn could not be stored, or null if it was stored or there was nothing to store
 */
public record NodeReply(
        ChatResponse response, @Nullable NodeTokenBufferMemory memory, @Nullable RuntimeException failure) {

    /**
     * Returns the assistant's text.
     *
     * @return the text, or null if there is none
     */
    public @Nullable String text() {
        return response.aiMessage().text();
    }
}
