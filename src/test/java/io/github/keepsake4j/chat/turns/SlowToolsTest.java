package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.history;
import static io.github.keepsake4j.chat.turns.EndingTurns.view;
import static io.github.keepsake4j.testing.Dialogue.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.agent.tool.CompensateFor;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.chat.turns.EndingTurns.Column;
import io.github.keepsake4j.chat.turns.EndingTurns.StreamScript;
import io.github.keepsake4j.chat.turns.EndingTurns.Streaming;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Script;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tool results that wait long for the others of their round. */
class SlowToolsTest {

    private static final AiMessage TWO = AiMessage.from(call("a", "fast", "{}"), call("b", "slow", "{}"));

    private final Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());

    /** A tool that does not return before the memory has what the first one returned. */
    class Tools {
        private final List<String> seen = new ArrayList<>();

        @Tool
        String fast() {
            return "fast result";
        }

        @Tool
        String slow() {
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> history(keepsake, "c").endsWith("R(a)"));
            seen.add(view(keepsake, "c"));
            return "slow result";
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH"})
    void a_result_is_written_while_another_tool_still_runs(Column column) {
        Tools tools = new Tools();
        Script model = new Script(TWO, "fine");
        Assistant assistant = column.builder(keepsake, Assistant.class)
                .chatModel(model)
                .tools(tools)
                .build();

        assertThat(assistant.chat("c", "one")).isEqualTo("fine");

        assertThat(tools.seen).as("shown when the round is whole").containsExactly("U(one)");
        assertThat(model.lastRequest()).isEqualTo("U(one), C(a b), R(a), R(b)");
        assertThat(history(keepsake, "c")).isEqualTo("U(one), C(a b), R(a), R(b), A(fine)");
        assertThat(view(keepsake, "c")).isEqualTo("U(one), C(a b), R(a), R(b), A(fine)");
    }

    @Test
    void a_stream_that_adds_results_one_by_one_does_not_hold_the_first_one_back() throws Exception {
        Tools tools = new Tools();
        StreamScript model = new StreamScript(sink -> sink.done(TWO), sink -> sink.done("fine"));
        Streaming assistant = keepsake.aiServices(Streaming.class)
                .streamingChatModel(model)
                .tools(tools)
                .build();

        EndingTurns.quiet(assistant.chat("c", "one")).start();
        model.await();

        assertThat(history(keepsake, "c")).isEqualTo("U(one), C(a b), R(a), R(b), A(fine)");
    }

    /** Tools of which the first pays and the second fails at once. */
    static class Payments {
        private final List<String> paid = new ArrayList<>();

        @Tool
        String fast() {
            paid.add("fast");
            return "paid";
        }

        @Tool
        String slow() {
            throw new IllegalStateException("no connection");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH"})
    void a_result_of_a_round_that_fails_is_in_the_history(Column column) {
        Payments payments = new Payments();
        Script model = new Script(TWO, "fine", "later");
        Assistant assistant = column.builder(keepsake, Assistant.class)
                .chatModel(model)
                .tools(payments)
                .toolExecutionErrorHandler((error, context) -> {
                    throw new IllegalArgumentException("given up");
                })
                .build();

        assertThatThrownBy(() -> assistant.chat("c", "one")).isInstanceOf(IllegalArgumentException.class);

        assertThat(payments.paid).containsExactly("fast");
        assertThat(history(keepsake, "c")).isEqualTo("U(one) [failed IllegalArgumentException], C(a b), R(a)");
        assertThat(view(keepsake, "c")).as("the round has no result for b").isEmpty();

        assistant.chat("c", "two");

        assertThat(model.lastRequest()).isEqualTo("U(two)");
        assertThat(keepsake.conversation("c").check()).isEmpty();
    }

    /** Tools of which the first is undone when the second fails. */
    class Bookings {
        @Tool
        String fast() {
            return "booked";
        }

        @CompensateFor("fast")
        void undo() {}

        @Tool
        String slow() {
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> history(keepsake, "c").endsWith("R(a)"));
            throw new IllegalStateException("no money");
        }
    }

    @Test
    void a_result_that_was_written_and_then_undone_is_shown_as_undone() {
        Script model = new Script(TWO, "sorry");
        Assistant assistant = keepsake.aiServices(Assistant.class)
                .chatModel(model)
                .tools(new Bookings())
                .compensateOnToolErrors(true)
                .build();

        assistant.chat("c", "one");

        assertThat(history(keepsake, "c")).isEqualTo("U(one), C(a b), R(a) [rejected replaced], R(a), R(b), A(sorry)");
        assertThat(model.lastRequest()).isEqualTo("U(one), C(a b), R(a), R(b)");
        assertThat(model.requests.get(1).messages().get(2).toString()).contains("rolled back");
    }
}
