package io.github.keepsake4j.message;

import dev.langchain4j.data.message.ChatMessage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A whole request as a model received it. Immutable.
 *
 * @param messages all messages of the request, in order
 * @param modelName the name of the model that the request asked for, or null if it named none
 * @param tools the names of the tools that the model could call, in order
 */
public record KeptRequest(List<ChatMessage> messages, @Nullable String modelName, List<String> tools) {

    /** Copies the lists. */
    public KeptRequest {
        messages = List.copyOf(messages);
        tools = List.copyOf(tools);
    }

    /** Returns the sizes and the model. The messages' text is left out, so that the result may be logged. */
    @Override
    public String toString() {
        return "KeptRequest[messages=" + messages.size() + ", modelName=" + modelName + ", tools=" + tools + "]";
    }
}
