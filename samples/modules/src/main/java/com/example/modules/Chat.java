package com.example.modules;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.V;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.log.MessageLog;
import java.nio.file.Path;
import java.util.stream.Collectors;

/** A chat whose every class is in a named module. The second run sees what the first one said. */
public final class Chat {

    interface Assistant {
        @dev.langchain4j.service.UserMessage("{{text}}")
        String chat(@MemoryId String user, @V("text") String text);
    }

    private Chat() {}

    public static void main(String[] arguments) {
        try (MessageLog log = MessageLogs.sqlite(Path.of(arguments[0]))) {
            Assistant assistant = AiServices.builder(Assistant.class)
                    .chatModel(new Repeating())
                    .chatMemoryProvider(
                            Keepsake.builder().messageLog(log).build().chatMemoryProvider())
                    .build();
            System.out.println(assistant.chat("alice", arguments[1]));
            System.out.println("The memory is in " + log.getClass().getModule());
        }
    }

    /** Answers with all that the user said, as far as the memory shows it. */
    private static final class Repeating implements ChatModel {

        @Override
        public ChatResponse doChat(ChatRequest request) {
            String said = request.messages().stream()
                    .filter(UserMessage.class::isInstance)
                    .map(Repeating::text)
                    .collect(Collectors.joining(" | "));
            return ChatResponse.builder()
                    .aiMessage(AiMessage.from("You said: " + said))
                    .build();
        }

        private static String text(ChatMessage message) {
            return ((UserMessage) message).singleText();
        }
    }
}
