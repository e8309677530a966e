package io.github.keepsake4j.memories;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message that memories are made from.
 *
 * @param id the message's id, or null if it has none
 * @param message the message
 * @param trust the trust in its text
 */
public record SourceMessage(@Nullable String id, ChatMessage message, Trust trust) {

    /** Checks the components. */
    public SourceMessage {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(trust, "trust");
    }

    /**
     * Returns a message without an id, trusted by its type.
     *
     * @param message the message
     * @return the source
     */
    public static SourceMessage of(ChatMessage message) {
        return of(null, message);
    }

    /**
     * Returns a message trusted by its type.
     *
     * @param id the message's id, or null if it has none
     * @param message the message
     * @return the source
     */
    public static SourceMessage of(@Nullable String id, ChatMessage message) {
        return new SourceMessage(id, message, trustOf(message));
    }

    /**
     * Returns a message of a log, trusted by its type. The sources of an answer are ignored.
     *
     * @param logged the message
     * @return the source
     */
    public static SourceMessage of(LoggedMessage logged) {
        return new SourceMessage(logged.id(), logged.message(), trustOf(logged.message()));
    }

    private static Trust trustOf(ChatMessage message) {
        if (message instanceof UserMessage) {
            return Trust.USER;
        }
        if (message instanceof AiMessage) {
            return Trust.ASSISTANT;
        }
        return message instanceof ToolExecutionResultMessage ? Trust.TOOL : Trust.RETRIEVED;
    }

    /** Returns a description without the message's text, so that it can be written to logs. */
    @Override
    public String toString() {
        return "SourceMessage[id=" + id + ", type=" + message.type() + ", trust=" + trust + "]";
    }
}
