package com.example.chat;

import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

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
    ApplicationRunner chat(Assistant assistant, Environment environment) {
        return args -> {
            String question = String.join(" ", args.getNonOptionArgs());
            System.out.println(
                    question.isEmpty()
                            ? "Open http://localhost:" + environment.getProperty("local.server.port") + " in a browser."
                            : assistant.chat("alice", question));
        };
    }
}
