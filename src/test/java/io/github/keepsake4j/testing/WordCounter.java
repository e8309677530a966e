package io.github.keepsake4j.testing;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;

/** Counts words, so that a test's sizes can be read off its texts. A list costs {@value #PER_LIST} on top. */
public final class WordCounter implements TokenCountEstimator {

    /** What a list of messages costs beside them. */
    public static final int PER_LIST = 3;

    /** What a content that is no text costs. */
    public static final int PER_MEDIUM = 50;

    @Override
    public int estimateTokenCountInText(String text) {
        return text == null || text.isBlank() ? 0 : text.strip().split("\\s+").length;
    }

    @Override
    public int estimateTokenCountInMessage(ChatMessage message) {
        if (message instanceof SystemMessage system) {
            return estimateTokenCountInText(system.text());
        }
        if (message instanceof UserMessage user) {
            return user.contents().stream()
                    .mapToInt(content ->
                            content instanceof TextContent text ? estimateTokenCountInText(text.text()) : PER_MEDIUM)
                    .sum();
        }
        if (message instanceof AiMessage ai) {
            int calls = ai.toolExecutionRequests().stream()
                    .mapToInt(call -> 1 + estimateTokenCountInText(call.arguments()))
                    .sum();
            return estimateTokenCountInText(ai.text()) + calls;
        }
        return message instanceof ToolExecutionResultMessage result ? estimateTokenCountInText(result.text()) : 1;
    }

    @Override
    public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
        int tokens = PER_LIST;
        for (ChatMessage message : messages) {
            tokens += estimateTokenCountInMessage(message);
        }
        return tokens;
    }

    /** A text of some words, 1 or more, the first of which is given. */
    public static String words(String first, int count) {
        return first + " x".repeat(count - 1);
    }
}
