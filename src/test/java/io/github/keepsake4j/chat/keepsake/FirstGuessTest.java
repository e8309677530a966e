package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.tokens.TokenCounter;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The short forms that users type first do what the long ones do. */
class FirstGuessTest {

    @TempDir
    Path directory;

    @Test
    void the_limits_of_the_builder_hold_together_and_with_the_strategy() {
        TokenCounter counter = TokenCounter.forModel("gpt-4o-mini");
        int ofThree = counter.estimateTokenCountInMessages(
                List.of(user("question 20"), ai("answer 20"), user("question 20")));
        assertThat(shown(Keepsake.builder())).isBetween(33, 50);
        assertThat(shown(Keepsake.builder().maxMessages(20))).isEqualTo(20);
        assertThat(shown(Keepsake.builder().maxMessages(20).maxTokens(ofThree, counter)))
                .isEqualTo(2);
        assertThat(shown(Keepsake.builder().maxTokens(100_000, counter))).isEqualTo(120);
        assertThat(shown(Keepsake.builder().maxMessages(20).strategy(SlidingWindow.withMaxTurns(3))))
                .isEqualTo(6);
        assertThat(shown(Keepsake.builder()
                        .strategy(SlidingWindow.withMaxTurns(30))
                        .maxMessages(20)))
                .isEqualTo(20);
    }

    @Test
    void the_default_and_what_is_asked_to_move_in_steps_begin_with_the_same_message_for_many_turns() {
        TokenCounter counter = TokenCounter.forModel("gpt-4o-mini");
        int ofFifty = 50 * counter.estimateTokenCountInMessage(user("question 20"));

        assertThat(moves(Keepsake.builder().maxMessages(50)))
                .as("an exact limit")
                .isGreaterThan(30);
        assertThat(moves(Keepsake.builder())).as("the default").isLessThan(8);
        assertThat(moves(Keepsake.builder().maxMessages(50).steps()))
                .as("messages")
                .isLessThan(8);
        assertThat(moves(Keepsake.builder().maxTokens(ofFifty, counter).steps()))
                .as("tokens")
                .isLessThan(8);
        assertThat(moves(Keepsake.builder()
                        .strategy(SlidingWindow.withMaxTurns(25))
                        .maxTokens(ofFifty, counter)
                        .steps()))
                .as("turns of the strategy, and tokens")
                .isLessThan(12);
    }

    @Test
    void an_exact_limit_beside_one_in_steps_is_logged_once() {
        Keepsake.Builder mixed = Keepsake.builder()
                .maxMessages(20)
                .strategy(SlidingWindow.withMaxTurns(30).step(5));

        assertThat(logged(() -> shown(mixed)))
                .containsOnlyOnce("WARN")
                .contains("[maxMessages=20]", "[maxTurns=30 in steps of 5]", "steps()");
        assertThat(logged(() -> shown(mixed.steps()))).isEmpty();
        assertThat(logged(() -> shown(Keepsake.builder().maxMessages(20).strategy(SlidingWindow.withMaxTurns(30)))))
                .isEmpty();
        assertThat(logged(() -> shown(Keepsake.builder()))).isEmpty();
    }

    /** Returns how many messages are shown after 60 turns. */
    private static int shown(Keepsake.Builder builder) {
        return views(builder).get(59).size();
    }

    /** Returns how often the first message that is shown is another one than in the turn before, in 60 turns. */
    private static long moves(Keepsake.Builder builder) {
        return views(builder).stream().map(view -> view.get(0)).distinct().count() - 1;
    }

    private static List<List<ChatMessage>> views(Keepsake.Builder builder) {
        KeepsakeChatMemory memory =
                builder.messageLog(MessageLogs.inMemory()).build().chatMemory("c");
        List<List<ChatMessage>> views = new ArrayList<>();
        for (int turn = 1; turn <= 60; turn++) {
            memory.add(user("question " + turn));
            memory.add(ai("answer " + turn));
            views.add(memory.messages());
        }
        return views;
    }

    private static String logged(Runnable work) {
        PrintStream before = System.err;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            work.run();
        } finally {
            System.setErr(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void a_summarizer_alone_summarizes_what_leaves_the_view() {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(MessageLogs.inMemory())
                .maxMessages(20)
                .summarizer((previous, messages) -> "They asked.")
                .build();
        for (int turn = 1; turn <= 60; turn++) {
            keepsake.chatMemory("c").add(user("question " + turn));
            keepsake.chatMemory("c").add(ai("answer " + turn));
        }
        assertThat(keepsake.conversation("c").summarizeNow()).isPositive();
        assertThat(keepsake.conversation("c").messages().get(0))
                .isInstanceOfSatisfying(UserMessage.class, shown -> assertThat(shown.singleText())
                        .contains("They asked."));
    }

    @Test
    void a_log_is_opened_in_each_home_that_needs_no_server() {
        Map<String, MessageLog> logs = Map.of(
                "sqlite", MessageLogs.sqlite(directory.resolve("chat.db")),
                "file", MessageLogs.files(directory.resolve("chats")),
                "memory", MessageLogs.inMemory());
        logs.forEach((name, log) -> {
            Keepsake.builder().messageLog(log).build().chatMemory("c").add(user("Hello."));
            assertThat(log.backend()).isEqualTo(name);
            log.close();
        });
    }
}
