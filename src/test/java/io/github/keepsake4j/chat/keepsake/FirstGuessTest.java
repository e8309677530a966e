package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.tokens.TokenCounter;
import java.nio.file.Path;
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
        assertThat(shown(Keepsake.builder())).isEqualTo(50);
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

    private static int shown(Keepsake.Builder builder) {
        KeepsakeChatMemory memory =
                builder.messageLog(MessageLogs.inMemory()).build().chatMemory("c");
        for (int turn = 1; turn <= 60; turn++) {
            memory.add(user("question " + turn));
            memory.add(ai("answer " + turn));
        }
        return memory.messages().size();
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
