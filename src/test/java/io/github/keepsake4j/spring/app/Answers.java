package io.github.keepsake4j.spring.app;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import java.util.List;

/** What a model without a network answers: how many questions it was shown, and the last one. */
final class Answers {

    private Answers() {}

    static AiMessage to(ChatRequest request) {
        List<ChatMessage> messages = request.messages();
        ChatMessage last = messages.get(messages.size() - 1);
        if (last instanceof ToolExecutionResultMessage result) {
            return AiMessage.from("it is " + result.text());
        }
        String text = ((UserMessage) last).singleText();
        if (text.contains("time")) {
            return AiMessage.from(ToolExecutionRequest.builder()
                    .id("call-1")
                    .name("clock")
                    .arguments("{}")
                    .build());
        }
        if (text.contains("broken")) {
            throw new IllegalStateException("the model is down");
        }
        if (text.contains("hidden")) {
            return AiMessage.from("the secret");
        }
        long questions = messages.stream().filter(UserMessage.class::isInstance).count();
        return AiMessage.from("heard " + questions + ": " + text.replaceAll("\\s+", " "));
    }
}
