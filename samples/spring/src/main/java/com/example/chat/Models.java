package com.example.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Models without a network, to try the memory; put your own here. They say what they were shown, and fail if the last
 * question has the word "fail".
 */
@Configuration(proxyBeanMethods = false)
class Models {

    private static final long MILLIS_PER_WORD = 20;

    @Bean
    ChatModel chatModel() {
        return new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                return response(answer(request));
            }
        };
    }

    @Bean
    StreamingChatModel streamingChatModel() {
        return new StreamingChatModel() {
            @Override
            public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
                new Thread(() -> stream(request, handler)).start();
            }
        };
    }

    private static void stream(ChatRequest request, StreamingChatResponseHandler handler) {
        Cancellation cancellation = new Cancellation(new AtomicBoolean());
        try {
            String answer = answer(request);
            for (String word : answer.split("(?<= )")) {
                handler.onPartialResponse(new PartialResponse(word), new PartialResponseContext(cancellation));
                if (cancellation.isCancelled()) {
                    return;
                }
                Thread.sleep(MILLIS_PER_WORD);
            }
            handler.onCompleteResponse(response(answer));
        } catch (InterruptedException | RuntimeException e) {
            handler.onError(e);
        }
    }

    private static String answer(ChatRequest request) {
        String said = request.messages().stream()
                .filter(UserMessage.class::isInstance)
                .map(message -> ((UserMessage) message).singleText())
                .collect(Collectors.joining(" | "));
        if (said.substring(said.lastIndexOf('|') + 1).contains("fail")) {
            throw new IllegalStateException("The model was asked to fail.");
        }
        return "You said: " + said;
    }

    private static ChatResponse response(String text) {
        return ChatResponse.builder().aiMessage(AiMessage.from(text)).build();
    }

    private record Cancellation(AtomicBoolean flag) implements StreamingHandle {

        @Override
        public void cancel() {
            flag.set(true);
        }

        @Override
        public boolean isCancelled() {
            return flag.get();
        }
    }
}
