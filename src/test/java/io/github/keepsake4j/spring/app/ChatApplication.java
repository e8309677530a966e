package io.github.keepsake4j.spring.app;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.rag.content.retriever.ContentRetriever;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/** An application as users write it. As a process of its own it chats until it is killed. */
@SpringBootApplication
public class ChatApplication {

    /** Chats with alice, and says each answer. The last argument is a number of questions, after which the model hangs. */
    public static void main(String[] args) throws Exception {
        Assistant assistant = SpringApplication.run(ChatApplication.class, args).getBean(Assistant.class);
        int questions = Integer.parseInt(args[args.length - 1]);
        for (int i = 0; i < questions; i++) {
            System.out.println(assistant.chat("alice", "question " + i));
        }
        assistant.chat("alice", "this one hangs");
    }

    @Bean
    ChatModel chatModel() {
        return new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                ChatResponse answer =
                        ChatResponse.builder().aiMessage(Answers.to(request)).build();
                if (answer.aiMessage().text() != null
                        && answer.aiMessage().text().endsWith("this one hangs")) {
                    System.out.println("hangs");
                    hang();
                }
                return answer;
            }
        };
    }

    private static void hang() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Streams word by word. A question that says "cut" breaks off in the middle. */
    @Bean
    StreamingChatModel streamingChatModel() {
        return new StreamingChatModel() {
            @Override
            public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
                new Thread(() -> play(request, handler)).start();
            }
        };
    }

    private static void play(ChatRequest request, StreamingChatResponseHandler handler) {
        AtomicBoolean cancelled = new AtomicBoolean();
        var answer = Answers.to(request);
        for (String word : answer.text().split("(?<= )")) {
            handler.onPartialResponse(new PartialResponse(word), new PartialResponseContext(new Handle(cancelled)));
            if (cancelled.get()) {
                return;
            }
            if (word.startsWith("cut")) {
                handler.onError(new IllegalStateException("the connection is cut"));
                return;
            }
        }
        handler.onCompleteResponse(ChatResponse.builder().aiMessage(answer).build());
    }

    private record Handle(AtomicBoolean cancelled) implements StreamingHandle {

        @Override
        public void cancel() {
            cancelled.set(true);
        }

        @Override
        public boolean isCancelled() {
            return cancelled.get();
        }
    }

    @Bean
    ContentRetriever contentRetriever() {
        return query -> query.text().contains("menu") ? List.of(Content.from("soup of the day")) : List.of();
    }

    @Component
    static class Clock {

        @Tool
        String clock() {
            return "noon";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Profile("three-providers")
    static class ThreeProviders {

        @Bean
        @Primary
        ChatMemoryProvider one() {
            return id -> MessageWindowChatMemory.builder().id(id).maxMessages(5).build();
        }

        @Bean
        ChatMemoryProvider two() {
            return one();
        }

        @Bean
        ChatMemoryProvider three() {
            return one();
        }
    }
}
