package io.github.keepsake4j.text;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/** Returns the text of messages. Stored hashes depend on it, so it must not change. */
public final class MessageText {

    private MessageText() {}

    /**
     * Returns the whole text of a message, as it is stored.
     *
     * @param message any message
     * @return its texts, one after the other on lines of their own; empty if it has none
     */
    public static String of(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return of(user.contents());
        }
        if (message instanceof AiMessage ai) {
            return Objects.requireNonNullElse(ai.text(), "");
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return Objects.requireNonNullElse(result.text(), "");
        }
        return message instanceof SystemMessage system ? system.text() : "";
    }

    /**
     * Returns the texts among some contents.
     *
     * @param contents any contents
     * @return the texts, one after the other on lines of their own; empty if there are none
     */
    public static String of(List<Content> contents) {
        return contents.stream()
                .filter(TextContent.class::isInstance)
                .map(content -> ((TextContent) content).text())
                .collect(Collectors.joining("\n"));
    }
}
