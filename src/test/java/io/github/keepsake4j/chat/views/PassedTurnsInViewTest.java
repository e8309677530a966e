package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;

/** A turn that is over and that alone exceeds a limit does not blank the view, and what it costs to pass by it. */
class PassedTurnsInViewTest {

    private static final JtokkitTokenCountEstimator ESTIMATOR = JtokkitTokenCountEstimator.forModel("gpt-4o");
    private static final int ROUNDS = 40;

    /** The numbers of messages that each read of the log returned. */
    private final List<Integer> reads = new ArrayList<>();

    @ParameterizedTest
    @Homes
    void a_large_question_under_a_summary_leaves_the_other_turns_in_view(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open()) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .strategy(Summarization.triggerTokens(400).countedBy(ESTIMATOR))
                    .summarizer((previous, messages) -> "S")
                    // No summary is made: it would write while the storage is removed, and show the turn.
                    .executor(task -> {})
                    .build();
            KeepsakeChatMemory memory = keepsake.chatMemory("x");
            for (int i = 0; i < 30; i++) {
                memory.add(user("q" + i), ai("a" + i));
            }
            memory.add(user("word ".repeat(996)), ai("done"));

            assertThat(keepsake.conversation("x").messages())
                    .hasSizeGreaterThanOrEqualTo(50)
                    .endsWith(user("q29"), ai("a29"));
            memory.add(user("next"));
            assertThat(memory.messages())
                    .hasSizeGreaterThanOrEqualTo(50)
                    .endsWith(user("q29"), ai("a29"), user("next"));
        }
    }

    @ParameterizedTest
    @Homes
    void passing_by_turns_costs_no_read_more_once_it_is_known(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = counting(storage.open())) {
            // Of the second memory, the whole branch is read to find what is shown.
            Map<String, Integer> memories = Map.of("long", 100, "short", 5);
            ContextStrategy window = SlidingWindow.withMaxMessages(50);
            Keepsake keepsake = Keepsakes.on(log, window);
            for (String id : memories.keySet()) {
                KeepsakeChatMemory memory = keepsake.chatMemory(id);
                for (int i = 0; i < memories.get(id); i++) {
                    memory.add(user("q" + i), ai("a" + i));
                }
                memory.add(loop(0));
                memory.add(loop(1));
                reads.clear();
                keepsake.conversation(id).messages();
                assertThat(reads).as("the first read, and one further read").hasSize(2);
                for (int i = 0; i < 10; i++) {
                    reads.clear();
                    List<ChatMessage> shown = keepsake.conversation(id).messages();
                    assertThat(shown)
                            .hasSize(Math.min(50, 2 * (memories.get(id) + i) + 4))
                            .contains(user("do 0"), ai("done 1"));
                    assertThat(reads).as("reads of " + id).hasSize(1);
                    memory.add(user("next " + i), ai("answer " + i));
                }
            }
        }
    }

    @ParameterizedTest
    @Homes
    void a_view_ends_behind_a_thousand_messages_that_are_passed_by(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = counting(storage.open())) {
            Keepsake keepsake = Keepsakes.on(log, SlidingWindow.withMaxMessages(50));
            KeepsakeChatMemory memory = keepsake.chatMemory("x");
            for (int i = 0; i < 30; i++) {
                memory.add(loop(i));
            }
            reads.clear();

            List<ChatMessage> shown = keepsake.conversation("x").messages();

            assertThat(shown).hasSize(24).endsWith(user("do 29"), ai("done 29"));
            assertThat(reads).allMatch(size -> size < 2_400);
            assertThat(keepsake.conversation("x").explain().omitted())
                    .extracting(Explanation.Line::reason)
                    .contains(Reason.TOO_FAR_BACK);
        }
    }

    private static ChatMessage[] loop(int number) {
        List<ChatMessage> messages = new ArrayList<>(List.of(user("do " + number)));
        for (int i = 0; i < ROUNDS; i++) {
            messages.add(calls(number + "-" + i));
            messages.add(result(number + "-" + i));
        }
        messages.add(ai("done " + number));
        return messages.toArray(ChatMessage[]::new);
    }

    private MessageLog counting(MessageLog inner) {
        return Watched.log(inner, call -> {
            Object result = call.proceed();
            if (result instanceof Tail tail) {
                reads.add(tail.messages().size());
            }
            return result;
        });
    }
}
