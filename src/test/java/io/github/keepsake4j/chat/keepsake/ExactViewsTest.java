package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.component.MemoryComponent;
import io.github.keepsake4j.component.MemoryInput;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.testing.WordCounter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * A limit that a caller names, and the limits of the component, do not move in steps: what each call of a model sees is
 * in a golden file, which was written before there was a default that does. A line has the positions of the messages.
 */
class ExactViewsTest {

    private static final int TURNS = 45;

    @Test
    void named_limits_and_the_component_show_what_they_always_showed() throws IOException {
        List<String> views = new ArrayList<>();
        views.addAll(views("maxMessages(20)", builder -> builder.maxMessages(20)));
        views.addAll(views("maxMessages(50)", builder -> builder.maxMessages(50)));
        views.addAll(views("maxTokens(150)", builder -> builder.maxTokens(150, new WordCounter())));
        views.addAll(views("both", builder -> builder.maxMessages(20).maxTokens(150, new WordCounter())));
        views.addAll(component());

        assertThat(views).containsExactlyElementsOf(golden());
    }

    private static List<String> views(String name, UnaryOperator<Keepsake.Builder> limits) {
        KeepsakeChatMemory memory = limits.apply(Keepsake.builder().messageLog(new InMemoryMessageLog()))
                .build()
                .chatMemory("chat");
        List<ChatMessage> chat = chat();
        List<String> views = new ArrayList<>();
        for (int i = 0; i < chat.size(); i++) {
            if (isCalled(chat, i)) {
                views.add(line(name, chat, memory.messages()));
            }
            memory.add(chat.get(i));
        }
        return views;
    }

    private static List<String> component() {
        List<String> views = new ArrayList<>();
        try (MemoryComponent component = MemoryComponent.builder()
                .backend(MemoryInput.DEFAULT_BACKEND, InMemoryMessageLog::new)
                .build()) {
            List<ChatMessage> chat = chat();
            for (int i = 0; i < chat.size(); i++) {
                if (isCalled(chat, i)) {
                    views.add(line(
                            "component",
                            chat,
                            component.run(MemoryInput.get("chat")).messages()));
                }
                component.run(MemoryInput.add("chat", chat.get(i)));
            }
        }
        return views;
    }

    /** Returns whether a model is called before this message. */
    private static boolean isCalled(List<ChatMessage> chat, int i) {
        return chat.get(i) instanceof AiMessage;
    }

    /** Returns the positions of the shown messages; those that follow each other as the first and the last. */
    private static String line(String name, List<ChatMessage> chat, List<ChatMessage> shown) {
        StringBuilder line = new StringBuilder(name).append(':');
        for (int i = 0; i < shown.size(); i++) {
            int first = chat.indexOf(shown.get(i));
            int last = first;
            while (i + 1 < shown.size() && chat.indexOf(shown.get(i + 1)) == last + 1) {
                last++;
                i++;
            }
            line.append(' ').append(first).append(last == first ? "" : "-" + last);
        }
        return line.toString();
    }

    /** A system message, and turns of 4 to 13 words, each third one with one to three calls of a tool. */
    private static List<ChatMessage> chat() {
        List<ChatMessage> chat = new ArrayList<>(List.of(SystemMessage.from("Be brief.")));
        for (int turn = 0; turn < TURNS; turn++) {
            chat.add(user("question " + turn + " word".repeat(turn % 7)));
            for (int round = 0; turn % 3 == 2 && round < 1 + turn % 4 % 3; round++) {
                chat.add(calls("c" + turn + "-" + round));
                chat.add(result("c" + turn + "-" + round));
            }
            chat.add(ai("answer " + turn + " word".repeat(turn % 5)));
        }
        return chat;
    }

    private static List<String> golden() throws IOException {
        try (InputStream in = ExactViewsTest.class.getResourceAsStream("exact-views.txt")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        }
    }
}
