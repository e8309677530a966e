package io.github.keepsake4j.codec;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import java.util.Map;

/** The attributes of messages of any kind. Pure functions. */
public final class MessageAttributes {

    private MessageAttributes() {}

    /**
     * Returns a message's attributes.
     *
     * @param message the message
     * @return the attributes; empty for a message of a kind that has none
     */
    public static Map<String, Object> of(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return user.attributes();
        }
        if (message instanceof AiMessage ai) {
            return ai.attributes();
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return result.attributes();
        }
        return message instanceof CustomMessage custom ? custom.attributes() : Map.of();
    }

    /**
     * Returns a copy of a message that has other attributes.
     *
     * @param message the message
     * @param attributes all attributes of the copy
     * @return the copy, or the message itself if it is of a kind that has none
     */
    public static ChatMessage with(ChatMessage message, Map<String, Object> attributes) {
        if (message instanceof UserMessage user) {
            return user.toBuilder().attributes(attributes).build();
        }
        if (message instanceof AiMessage ai) {
            return ai.toBuilder().attributes(attributes).build();
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return result.toBuilder().attributes(attributes).build();
        }
        return message instanceof CustomMessage ? CustomMessage.from(attributes) : message;
    }
}
