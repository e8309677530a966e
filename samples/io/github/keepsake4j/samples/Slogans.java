package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Scripted models that plan, write and judge slogans, so that a sample's output is always the same. They know only what
 * the messages of a request contain.
 */
final class Slogans {

    static final String GOOD = "Good.";

    /** The critic's pieces of advice, given one at a time, and the words that the writer adds for each. */
    private enum Advice {
        NAME("Name the shop.", "Ada's honey"),
        PLACE("Say where it is.", "from the hill"),
        SEASON("Say when it is best.", "best in June");

        private final String text;
        private final String words;

        Advice(String text, String words) {
            this.text = text;
            this.words = words;
        }
    }

    private Slogans() {}

    static ChatModel model(Function<List<ChatMessage>, String> script) {
        return new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                return ChatResponse.builder()
                        .aiMessage(AiMessage.from(script.apply(request.messages())))
                        .build();
            }
        };
    }

    static String plan(List<ChatMessage> messages) {
        long before = messages.stream().filter(AiMessage.class::isInstance).count();
        return "Task " + (before + 1) + ": " + text(messages.get(messages.size() - 1));
    }

    /** Follows all advice in the messages, not only the latest. */
    static String write(List<ChatMessage> messages) {
        String heard = messages.stream()
                .filter(UserMessage.class::isInstance)
                .map(Slogans::text)
                .collect(Collectors.joining("\n"));
        String slogan = "Sweet days";
        for (Advice advice : Advice.values()) {
            slogan += heard.contains(advice.text) ? ", " + advice.words : "";
        }
        return heard.contains("in capitals") ? slogan.toUpperCase(Locale.ROOT) : slogan;
    }

    /** Never gives the same advice twice. */
    static String judge(List<ChatMessage> messages) {
        String given = messages.stream()
                .filter(AiMessage.class::isInstance)
                .map(Slogans::text)
                .collect(Collectors.joining("\n"));
        for (Advice advice : Advice.values()) {
            if (!given.contains(advice.text)) {
                return advice.text;
            }
        }
        return GOOD;
    }

    static String text(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return user.singleText();
        }
        return message instanceof AiMessage ai ? Objects.requireNonNullElse(ai.text(), "") : "";
    }
}
