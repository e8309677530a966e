package com.example.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.util.stream.Collectors;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
class ChatApplication {

    public static void main(String[] args) {
        SpringApplication.run(ChatApplication.class, args);
    }

    @Bean
    CommandLineRunner chat(Assistant assistant) {
        return args -> System.out.println(assistant.chat("alice", args.length == 0 ? "Hello" : String.join(" ", args)));
    }

    /** A model without a network, to try the memory. It says what it was shown; put your own here. */
    @Bean
    ChatModel chatModel() {
        return new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                String said = request.messages().stream()
                        .filter(UserMessage.class::isInstance)
                        .map(message -> ((UserMessage) message).singleText())
                        .collect(Collectors.joining(" | "));
                return ChatResponse.builder()
                        .aiMessage(AiMessage.from("You said: " + said))
                        .build();
            }
        };
    }
}
