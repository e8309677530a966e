package com.example.league;

import java.util.List;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;

/** Answers as {@link LangChain4jModel} does. */
final class SpringModel implements ChatModel {

    /** The model's tool. */
    public static final class Hives {
        @Tool(description = "Returns what is known about a hive")
        public String hive(@ToolParam(description = "its name") String name) {
            return Texts.result(name);
        }
    }

    /** Returns a client with an advisor that keeps the memory. */
    static ChatClient client(Advisor memory) {
        return ChatClient.builder(new SpringModel())
                .defaultAdvisors(memory)
                .defaultTools(new Hives())
                .build();
    }

    static String ask(ChatClient client, String conversation, String question) {
        return client.prompt()
                .user(question)
                .advisors(each -> each.param(ChatMemory.CONVERSATION_ID, conversation))
                .call()
                .content();
    }

    @Override
    public ChatResponse call(Prompt prompt) {
        List<Message> messages = prompt.getInstructions();
        Message last = messages.get(messages.size() - 1);
        AssistantMessage answer = last instanceof UserMessage && last.getText().startsWith(Texts.WITH_TOOLS)
                ? AssistantMessage.builder()
                        .content("")
                        .toolCalls(List.of(call("1", "north"), call("2", "south")))
                        .build()
                : new AssistantMessage(Texts.answer(question(messages)));
        List<Generation> answers = List.of(new Generation(answer));
        return question(messages).startsWith(Texts.WITH_USAGE)
                ? new ChatResponse(
                        answers,
                        ChatResponseMetadata.builder()
                                .usage(new DefaultUsage(900, 80))
                                .build())
                : new ChatResponse(answers);
    }

    @Override
    public ChatOptions getOptions() {
        return ToolCallingChatOptions.builder().build();
    }

    private static AssistantMessage.ToolCall call(String id, String hive) {
        return new AssistantMessage.ToolCall(id, "function", "hive", "{\"name\": \"" + hive + "\"}");
    }

    private static String question(List<Message> messages) {
        for (int i = messages.size() - 1; i >= 0; i--) {
            if (messages.get(i) instanceof UserMessage user) {
                return user.getText();
            }
        }
        return "";
    }

    /** Returns the message of a conversation of plain turns. */
    static Message filled(int index) {
        return index % 2 == 0 ? new UserMessage(Texts.filled(index)) : new AssistantMessage(Texts.filled(index));
    }

    static String text(Message message) {
        if (message instanceof AssistantMessage ai && ai.hasToolCalls()) {
            return "calls";
        }
        return message instanceof ToolResponseMessage results
                ? results.getResponses().toString()
                : message.getText();
    }
}
