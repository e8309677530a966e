package com.example.league;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.V;
import java.util.List;

/** Answers at once, after two tool calls if the question asks for them. */
final class LangChain4jModel implements ChatModel {

    /** The AI service of all subjects on LangChain4j. */
    interface Assistant {
        @dev.langchain4j.service.UserMessage("{{question}}")
        String chat(@MemoryId String conversation, @V("question") String question);
    }

    /** The model's tool. */
    public static final class Hives {
        @Tool("Returns what is known about a hive")
        public String hive(@P("its name") String name) {
            return Texts.result(name);
        }
    }

    static Assistant assistant(ChatMemoryProvider memories) {
        return assistant(AiServices.builder(Assistant.class).chatMemoryProvider(memories));
    }

    /** Returns the AI service of a builder that has a memory. */
    static Assistant assistant(AiServices<Assistant> builder) {
        return builder.chatModel(new LangChain4jModel()).tools(new Hives()).build();
    }

    @Override
    public ChatResponse doChat(ChatRequest request) {
        List<ChatMessage> messages = request.messages();
        ChatMessage last = messages.get(messages.size() - 1);
        AiMessage answer = last instanceof UserMessage user && user.singleText().startsWith(Texts.WITH_TOOLS)
                ? AiMessage.from(call("1", "north"), call("2", "south"))
                : AiMessage.from(Texts.answer(question(messages)));
        ChatResponse.Builder response = ChatResponse.builder().aiMessage(answer);
        return question(messages).startsWith(Texts.WITH_USAGE)
                ? response.tokenUsage(new TokenUsage(900, 80))
                        .finishReason(FinishReason.STOP)
                        .build()
                : response.build();
    }

    private static ToolExecutionRequest call(String id, String hive) {
        return ToolExecutionRequest.builder()
                .id(id)
                .name("hive")
                .arguments("{\"name\": \"" + hive + "\"}")
                .build();
    }

    private static String question(List<ChatMessage> messages) {
        for (int i = messages.size() - 1; i >= 0; i--) {
            if (messages.get(i) instanceof UserMessage user) {
                return user.singleText();
            }
        }
        return "";
    }

    /** Returns the message of a conversation of plain turns. */
    static ChatMessage filled(int index) {
        return index % 2 == 0 ? UserMessage.from(Texts.filled(index)) : AiMessage.from(Texts.filled(index));
    }

    static String text(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return user.singleText();
        }
        if (message instanceof AiMessage ai) {
            return ai.text() == null ? "calls" : ai.text();
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return result.text();
        }
        return ((SystemMessage) message).text();
    }
}
