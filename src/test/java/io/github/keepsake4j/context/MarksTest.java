package io.github.keepsake4j.context;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Branches;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Steps, pins, cleared results, and limits that depend on the memory, by example. */
class MarksTest {

    private static final JtokkitTokenCountEstimator ESTIMATOR = JtokkitTokenCountEstimator.forModel("gpt-4o");
    private static final String LONG = "a long result ".repeat(20);

    @Test
    void a_window_with_a_step_starts_at_the_same_message_for_many_turns() {
        ContextStrategy window = SlidingWindow.withMaxMessages(20).step(10);
        List<ChatMessage> messages = new ArrayList<>();
        List<String> starts = new ArrayList<>();
        for (int turn = 0; turn < 100; turn++) {
            messages.add(user("q" + turn));
            messages.add(ai("a" + turn));
            List<LoggedMessage> shown = select(window, messages).shown();
            assertThat(shown).hasSizeLessThanOrEqualTo(20);
            assertThat(shown).hasSizeGreaterThanOrEqualTo(Math.min(messages.size(), 9));
            starts.add(shown.get(0).id());
        }
        assertThat(starts.stream().distinct().count()).isBetween(18L, 25L);
    }

    @Test
    void a_token_limit_with_a_step_cuts_a_long_tool_loop_in_steps_too() {
        ContextStrategy limit = TokenLimit.withMaxTokens(400, ESTIMATOR).step(200);
        List<ChatMessage> messages = new ArrayList<>(List.of(user("go")));
        List<String> starts = new ArrayList<>();
        for (int round = 0; round < 100; round++) {
            messages.add(calls("c" + round));
            messages.add(result("c" + round));
            List<LoggedMessage> shown = select(limit, messages).shown();
            assertThat(ESTIMATOR.estimateTokenCountInMessages(
                            shown.stream().map(LoggedMessage::message).toList()))
                    .isLessThanOrEqualTo(400);
            assertThat(shown.get(0).message()).isEqualTo(user("go"));
            starts.add(shown.get(1).id());
        }
        assertThat(starts.stream().distinct().count()).isLessThan(25);
    }

    @Test
    void a_step_is_at_most_half_the_limit() {
        assertThrown(
                InvalidInputException.class,
                () -> SlidingWindow.withMaxMessages(20).step(11),
                "step");
        assertThrown(
                InvalidInputException.class,
                () -> TokenLimit.withMaxTokens(100, ESTIMATOR).step(0),
                "step");
    }

    @Test
    void all_limits_of_a_strategy_move_by_a_share_and_keep_their_own_step() {
        ContextStrategy both = SlidingWindow.withMaxTurns(7)
                .step(1)
                .and(SlidingWindow.withDynamicMaxMessages(id -> 30))
                .and(TokenLimit.withMaxTokens(400, ESTIMATOR));
        assertThat(both.steps(0.25).parts().stream().map(Object::toString))
                .containsExactly(
                        "maxTurns=7 in steps of 1",
                        "maxMessages by memory id in steps",
                        "maxTokens=400 in steps of 100");
        ContextStrategy stepping = both.steps(0.25);
        assertThat(stepping.steps(0.5)).isSameAs(stepping);
        ContextStrategy unlimited = context -> context;
        assertThat(unlimited.steps(0.5)).isSameAs(unlimited);
        for (double wrong : new double[] {0, -0.1, 0.51, 16, Double.NaN}) {
            assertThrown(InvalidInputException.class, () -> both.steps(wrong), "at most 0.5 of maxTurns", "" + wrong);
        }
    }

    @Test
    void the_standard_window_shows_33_to_50_messages_and_starts_at_the_same_one_for_many_turns() {
        List<ChatMessage> messages = new ArrayList<>();
        List<Integer> sizes = new ArrayList<>();
        List<String> starts = new ArrayList<>();
        for (int turn = 0; turn < 200; turn++) {
            messages.add(user("q" + turn));
            messages.add(ai("a" + turn));
            List<LoggedMessage> shown =
                    select(SlidingWindow.standard(), messages).shown();
            starts.add(shown.get(0).id());
            sizes.add(shown.size());
        }
        List<Integer> full = sizes.subList(25, sizes.size());
        assertThat(full).allMatch(size -> size >= 33 && size <= 50).contains(34, 48);
        assertThat(starts.stream().distinct().count()).isBetween(20L, 25L);
        assertThat(SlidingWindow.standard()).hasToString("maxMessages=50 in steps of 16");
    }

    @Test
    void limits_may_depend_on_the_memory() {
        Function<Object, Integer> byId = id -> id.equals("vip") ? 4 : 2;
        ContextStrategy window = SlidingWindow.withDynamicMaxMessages(byId).step(1);
        List<LoggedMessage> log = Branches.linear(ESTIMATOR, user("1"), ai("2"), user("3"), ai("4"));

        assertThat(window.select(Context.of("vip", null, null, List.of(), log, null))
                        .messages())
                .hasSize(4);
        assertThat(window.select(Context.of("other", null, null, List.of(), log, null))
                        .messages())
                .hasSize(2);
        assertThat(window.bounds("vip").messages()).isEqualTo(4);
        ContextStrategy broken = TokenLimit.withDynamicMaxTokens(id -> 0, ESTIMATOR);
        assertThrown(InvalidInputException.class, () -> broken.bounds("vip"), "maxTokens", "vip");
    }

    @Test
    void a_context_size_keeps_room_for_the_answer() {
        assertThat(TokenLimit.withContextSize(1000, 200, ESTIMATOR).bounds("id").tokens())
                .isEqualTo(800);
        assertThrown(
                InvalidInputException.class, () -> TokenLimit.withContextSize(1000, 1000, ESTIMATOR), "answerTokens");
    }

    @Test
    void the_first_messages_stay_when_the_window_moves_on() {
        ContextStrategy strategy = Pinned.firstMessages(2).and(SlidingWindow.withMaxMessages(5));
        List<ChatMessage> messages = List.of(
                SystemMessage.from("s"), user("task"), ai("yes"), user("2"), ai("2"), user("3"), ai("3"), user("4"));
        List<LoggedMessage> log = Branches.linear(ESTIMATOR, messages.toArray(ChatMessage[]::new));

        // The system message is the first of the two.
        Context context = strategy.select(
                Context.of("id", log.get(0), null, log.subList(0, 2), log.subList(3, log.size()), null));
        assertThat(context.messages())
                .containsExactly(SystemMessage.from("s"), user("task"), user("3"), ai("3"), user("4"));
        assertThat(SlidingWindow.withMaxMessages(5)
                        .and(Pinned.firstMessages(2))
                        .select(Context.of("id", log.get(0), null, log.subList(0, 2), log, null))
                        .messages())
                .as("in either order, and however much was read")
                .isEqualTo(context.messages());
    }

    @Test
    void pinned_turns_take_at_most_half_of_the_room() {
        ContextStrategy strategy = Pinned.messages(
                        message -> message.message().toString().contains("pin"))
                .and(SlidingWindow.withMaxMessages(4));

        assertThat(select(strategy, List.of(user("pin 1"), ai("1"), user("pin 2"), ai("2"), user("3"), ai("3")))
                        .messages())
                .containsExactly(user("pin 1"), ai("1"), user("3"), ai("3"));
    }

    @Test
    void pinned_rounds_of_a_long_loop_stay_and_what_follows_them_goes() {
        ContextStrategy strategy = Pinned.firstMessages(3).and(SlidingWindow.withMaxMessages(8));
        List<LoggedMessage> log = Branches.linear(
                ESTIMATOR,
                user("task"),
                calls("a"),
                result("a"),
                calls("b"),
                result("b"),
                calls("c"),
                result("c"),
                calls("d"),
                result("d"));

        assertThat(strategy.select(Context.of("id", null, null, log.subList(0, 3), log, null))
                        .messages())
                .containsExactly(
                        user("task"), calls("a"), result("a"), calls("c"), result("c"), calls("d"), result("d"));
    }

    @Test
    void old_tool_results_are_replaced_by_a_marker_and_the_log_keeps_them() {
        ContextStrategy strategy = ClearToolResults.keepNewest(1).except("exempt");
        List<ChatMessage> messages = new ArrayList<>(List.of(
                user("1"),
                calls("a", "b"),
                tool("a", "tool", LONG),
                tool("b", "exempt", LONG),
                ai("2"),
                user("3"),
                calls("c"),
                tool("c", "tool", "short"),
                calls("d"),
                tool("d", "tool", LONG),
                ai("4")));

        Context context = select(strategy, messages);
        messages.set(2, tool("a", "tool", ClearToolResults.MARKER));
        assertThat(context.messages()).isEqualTo(messages);
        assertThat(context.shown().get(2).id()).isEqualTo("m3");
    }

    @Test
    void results_are_cleared_only_when_it_is_worth_it_and_then_stay_cleared() {
        ContextStrategy strategy = ClearToolResults.keepNewest(1).atLeast(300);
        List<ChatMessage> messages = new ArrayList<>();
        long cleared = 0;
        int changes = 0;
        for (int round = 0; round < 60; round++) {
            messages.addAll(List.of(user("q"), calls("c" + round), tool("c" + round, "tool", LONG), ai("a")));
            Context context = select(strategy, messages);
            long now = context.replaced().size();
            assertThat(now).isGreaterThanOrEqualTo(cleared);
            changes += now == cleared ? 0 : 1;
            cleared = now;
        }
        assertThat(cleared).isGreaterThan(50);
        assertThat(changes).isBetween(5, 25);
    }

    @Test
    void a_user_message_that_a_retry_doubled_is_shown_once() {
        assertThat(select(SlidingWindow.withMaxMessages(9), List.of(user("q"), user("q"), ai("a")))
                        .messages())
                .containsExactly(user("q"), ai("a"));
        Context context =
                select(SlidingWindow.withMaxMessages(9), List.of(user("q"), calls("dead"), user("q"), calls("b")));
        assertThat(context.messages()).containsExactly(user("q"));
        assertThat(context.omitted())
                .extracting(Omission::reason)
                .containsExactly(Reason.REPEATED_USER_MESSAGE, Reason.UNANSWERED_CALL, Reason.UNANSWERED_CALL);
        assertThat(select(SlidingWindow.withMaxTurns(2), List.of(user("1"), ai("1"), user("q"), user("q")))
                        .messages())
                .as("a doubled message is one turn")
                .containsExactly(user("1"), ai("1"), user("q"));
        assertThat(select(SlidingWindow.withMaxMessages(9), List.of(user("q"), ai("a"), user("q")))
                        .messages())
                .as("asked again after an answer")
                .containsExactly(user("q"), ai("a"), user("q"));
    }

    @Test
    void messages_without_text_are_not_shown() {
        Context context = select(
                SlidingWindow.withMaxMessages(9),
                List.of(
                        user("1"),
                        AiMessage.from(""),
                        user(" "),
                        ai("2"),
                        AiMessage.builder().thinking("…").build()));

        assertThat(context.messages()).containsExactly(user("1"), ai("2"));
        assertThat(context.omitted()).extracting(Omission::reason).containsOnly(Reason.EMPTY_TEXT);
    }

    @Test
    void dead_calls_do_not_make_an_open_turn_overflow() {
        Context context = select(SlidingWindow.withMaxMessages(2), List.of(user("1"), calls("a", "b"), result("a")));

        assertThat(context.overflow()).isFalse();
        assertThat(context.messages()).containsExactly(user("1"));
    }

    @Test
    void a_strategy_of_ones_own_combines() {
        ContextStrategy noGossip = context ->
                context.keepTurns(turn -> !turn.user().message().toString().contains("gossip"));

        assertThat(select(
                                noGossip.and(SlidingWindow.withMaxMessages(4)),
                                List.of(user("1"), ai("1"), user("gossip"), ai("2"), user("3")))
                        .messages())
                .containsExactly(user("3"));
        assertThat(select(noGossip, List.of(user("1"), ai("1"), user("gossip"), ai("2"), user("3")))
                        .messages())
                .containsExactly(user("1"), ai("1"), user("3"));
    }

    private static ToolExecutionResultMessage tool(String id, String name, String text) {
        return ToolExecutionResultMessage.from(id, name, text);
    }

    private static Context select(ContextStrategy strategy, List<ChatMessage> messages) {
        return strategy.select(
                Context.of(null, null, Branches.linear(ESTIMATOR, messages.toArray(ChatMessage[]::new))));
    }
}
