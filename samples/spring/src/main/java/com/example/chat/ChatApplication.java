package com.example.chat;

import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;

/** Answers the words on the command line and ends. Without any, it serves {@link ChatController}. */
@SpringBootApplication
class ChatApplication {

    public static void main(String[] args) {
        boolean asks = args.length > 0 && !args[0].startsWith("--");
        new SpringApplicationBuilder(ChatApplication.class)
                .web(asks ? WebApplicationType.NONE : WebApplicationType.SERVLET)
                .run(args);
    }

    @Bean
    ApplicationRunner chat(Assistant assistant) {
        return args -> {
            String question = String.join(" ", args.getNonOptionArgs());
            if (!question.isEmpty()) {
                System.out.println(assistant.chat("alice", question));
            }
        };
    }
}
