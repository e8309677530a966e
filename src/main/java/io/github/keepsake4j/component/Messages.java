package io.github.keepsake4j.component;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks the messages that are added. A message that would never be shown to a model is refused. Pure functions. */
final class Messages {

    private Messages() {}

    static void check(ChatMessage message) {
        if (message instanceof UserMessage user) {
            checkNotBlank("message.content", user.contents());
        } else if (message instanceof AiMessage ai) {
            checkCalls(ai.toolExecutionRequests());
            if (!ai.hasToolExecutionRequests()) {
                checkNotBlank("message.content", ai.text());
            }
        } else if (message instanceof ToolExecutionResultMessage result) {
            checkNotBlank("message.tool_call_id", result.id());
        } else if (!(message instanceof SystemMessage)) {
            throw new InvalidInputException("message.role", "must be user, assistant, system or tool");
        }
    }

    private static void checkNotBlank(String field, @Nullable String text) {
        if (text == null || text.isBlank()) {
            throw new InvalidInputException(field, "must not be blank");
        }
    }

    private static void checkNotBlank(String field, List<Content> contents) {
        if (contents.stream()
                .allMatch(content ->
                        content instanceof TextContent text && text.text().isBlank())) {
            throw new InvalidInputException(field, "must not be blank");
        }
    }

    private static void checkCalls(List<ToolExecutionRequest> calls) {
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < calls.size(); i++) {
            String field = "message.tool_calls[" + i + "]";
            checkNotBlank(field + ".id", calls.get(i).id());
            checkNotBlank(field + ".function.name", calls.get(i).name());
            if (!ids.add(calls.get(i).id())) {
                throw new InvalidInputException(field + ".id", "must differ from the ids of the other calls");
            }
        }
    }
}
