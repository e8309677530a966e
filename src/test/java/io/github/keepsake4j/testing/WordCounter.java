package io.github.keepsake4j.testing;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;

/** Counts words, so that a test's sizes can be read from its texts. A list costs {@value #PER_LIST} in addition. */
public final class WordCounter implements TokenCountEstimator {

    /** The cost of a list of messages in addition to its messages. */
    public static final int PER_LIST = 3;

    /** The cost of a content that is not text. */
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

    /** Returns a text of the given number of words, 1 or more, that begins with the given word. */
    public static String words(String first, int count) {
        return first + " x".repeat(count - 1);
    }
}
