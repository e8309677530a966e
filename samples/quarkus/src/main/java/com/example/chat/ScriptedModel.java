package com.example.chat;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Says which questions it was shown, so that the memory can be tried without a network. Calls a tool if the last question has
 * "use a tool", and fails if it has "fail".
 */
final class ScriptedModel {

    private ScriptedModel() {}

    /** Quarkus takes a model from a supplier. A bean of type ChatModel works only if one of its extensions makes it. */
    public static final class Supplier implements java.util.function.Supplier<ChatModel> {

        @Override
        public ChatModel get() {
            return new ChatModel() {
                @Override
                public ChatResponse doChat(ChatRequest request) {
                    return response(request);
                }
            };
        }
    }

    public static final class StreamingSupplier implements java.util.function.Supplier<StreamingChatModel> {

        @Override
        public StreamingChatModel get() {
            return new StreamingChatModel() {
                @Override
                public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
                    new Thread(() -> stream(request, handler), "model").start();
                }
            };
        }
    }

    private static void stream(ChatRequest request, StreamingChatResponseHandler handler) {
        try {
            ChatResponse response = response(request);
            String text = response.aiMessage().text();
            for (String word : text == null ? new String[0] : text.split("(?<= )")) {
                handler.onPartialResponse(word);
            }
            handler.onCompleteResponse(response);
        } catch (RuntimeException e) {
            handler.onError(e);
        }
    }

    private static ChatResponse response(ChatRequest request) {
        return ChatResponse.builder().aiMessage(answer(request)).build();
    }

    private static AiMessage answer(ChatRequest request) {
        List<ChatMessage> messages = request.messages();
        if (messages.get(messages.size() - 1) instanceof ToolExecutionResultMessage result) {
            return AiMessage.from("The tool says: " + result.text());
        }
        List<String> said = messages.stream()
                .filter(UserMessage.class::isInstance)
                .map(message -> ((UserMessage) message).singleText())
                .toList();
        String last = said.get(said.size() - 1);
        if (last.contains("fail")) {
            throw new IllegalStateException("The model was asked to fail.");
        }
        if (last.toLowerCase(Locale.ROOT).contains("use a tool")) {
            return AiMessage.from(ToolExecutionRequest.builder()
                    .id("call-" + messages.size())
                    .name("temperature")
                    .arguments("{\"city\": \"Paris\"}")
                    .build());
        }
        return AiMessage.from(said.stream().collect(Collectors.joining(" | ", "You said: ", "")));
    }
}
