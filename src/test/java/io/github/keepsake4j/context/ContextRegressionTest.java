package io.github.keepsake4j.context;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Branches;
import io.github.keepsake4j.testing.RandomBranch;
import io.github.keepsake4j.testing.RandomBranch.Part;
import io.github.keepsake4j.testing.Scene;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Cases that failed once and were found by {@link StrategyPropertiesTest}. As in production, no more is read than a
 * strategy requires.
 */
class ContextRegressionTest {

    private static final JtokkitTokenCountEstimator ESTIMATOR = JtokkitTokenCountEstimator.forModel("gpt-4o");
    private static final String LONG = "a long result ".repeat(20);

    @Test
    void of_two_answers_before_calls_only_the_second_was_hidden() {
        assertThat(shown(SlidingWindow.withMaxMessages(9), user("1"), ai("2"), ai("3"), calls("a"), result("a")))
                .containsExactly(user("1"), calls("a"), result("a"));
    }

    @Test
    void a_blank_text_beside_an_image_was_sent() {
        ImageContent image = ImageContent.from("https://example.org/a.png");

        assertThat(shown(SlidingWindow.withMaxMessages(9), UserMessage.from(image, TextContent.from(" "))))
                .containsExactly(UserMessage.from(image));
    }

    @Test
    void a_step_had_no_effect_where_no_more_was_read_than_the_window() {
        ContextStrategy window = SlidingWindow.withMaxMessages(20).step(10);
        List<ChatMessage> messages = new ArrayList<>();
        List<ChatMessage> starts = new ArrayList<>();
        for (int turn = 0; turn < 100; turn++) {
            messages.add(user("q" + turn));
            messages.add(ai("a" + turn));
            starts.add(shown(window, messages.toArray(ChatMessage[]::new)).get(0));
        }
        assertThat(starts.stream().distinct().count()).isLessThan(30);
    }

    @Test
    void a_window_of_turns_lost_the_middle_of_a_long_turn() {
        List<ChatMessage> messages = new ArrayList<>(List.of(user("0"), ai("0"), user("go")));
        for (int round = 0; round < 20; round++) {
            messages.addAll(List.of(calls("c" + round), result("c" + round)));
        }

        assertThat(SlidingWindow.withMaxTurns(1).bounds("id").turns())
                .as("one more, or the newest turn's user message alone would end the reading")
                .isEqualTo(2);
        assertThat(shown(SlidingWindow.withMaxTurns(1), messages.toArray(ChatMessage[]::new)))
                .hasSize(41);
    }

    @Test
    void a_cleared_result_was_whole_again_when_older_ones_were_not_read_any_more() {
        ContextStrategy strategy = ClearToolResults.keepNewest(0).atLeast(150).and(SlidingWindow.withMaxMessages(12));
        List<ChatMessage> messages = new ArrayList<>();
        for (String id : List.of("a", "b", "c")) {
            messages.addAll(List.of(user("1"), calls(id), tool(id), ai("2")));
        }
        Set<String> cleared = new HashSet<>();
        for (int more = 0; more < 12; more++) {
            for (LoggedMessage message :
                    View.bounded(strategy).of(part(messages)).shown()) {
                if (message.message() instanceof ToolExecutionResultMessage result) {
                    boolean marker = result.text().equals(ClearToolResults.MARKER);
                    assertThat(!marker && cleared.contains(result.id()))
                            .as("%s whole after %s more", result.id(), more)
                            .isFalse();
                    cleared.addAll(marker ? List.of(result.id()) : List.of());
                }
            }
            messages.add(more % 2 == 0 ? user("u" + more) : ai("a" + more));
        }
        assertThat(cleared).isNotEmpty();
    }

    @Test
    void an_open_turn_lost_its_last_round_where_one_limit_let_it_be_pinned_and_another_did_not() {
        RandomBranch branch =
                RandomBranch.of(List.of(new Scene(Scene.Kind.TOOLS, 8348648267863616175L)), Promises.COUNTER::count);
        Promise promise = Promise.window(Promise.Unit.MESSAGES, 13, 3)
                .and(Promise.tokens(245, 0, Promises.ESTIMATOR))
                .and(Promise.pinnedFirst(8));

        assertThat(Rules.ofGrowth(promise, Promises.ESTIMATOR, branch.growth(), View.whole(promise.strategy()), true))
                .isEmpty();
        assertThat(branch.growth().stream()
                        .filter(part -> part.messages().size() > 5)
                        .findFirst()
                        .map(part -> View.whole(promise.strategy()).of(part).shown())
                        .orElseThrow())
                .extracting(LoggedMessage::id)
                .containsExactly("m15", "m19", "m20");
    }

    @Test
    void a_pinned_answer_came_back_when_the_calls_behind_it_were_not_read_any_more() {
        RandomBranch branch = RandomBranch.of(
                List.of(
                        new Scene(Scene.Kind.INTERLEAVED, -4214450441934452025L),
                        new Scene(Scene.Kind.PLAIN, 674050932350537552L),
                        new Scene(Scene.Kind.TOOLS, -5558540302560040991L)),
                Promises.COUNTER::count);
        Promise promise = Promise.window(Promise.Unit.MESSAGES, 9, 2).and(Promise.pinnedFirst(5));

        assertThat(Rules.ofGrowth(
                        promise, Promises.ESTIMATOR, branch.growth(), View.bounded(promise.strategy()), false))
                .isEmpty();
    }

    @Test
    void a_pinned_result_was_whole_again_when_newer_ones_were_not_read_any_more() {
        ContextStrategy strategy =
                Pinned.firstMessages(4).and(ClearToolResults.keepNewest(2)).and(SlidingWindow.withMaxMessages(20));
        List<ChatMessage> messages = new ArrayList<>();
        for (String id : List.of("a", "b", "c", "d")) {
            messages.addAll(List.of(user("1" + id), calls(id), tool(id), ai("2")));
        }
        for (int more = 0; more < 40; more++) {
            assertThat(shown(strategy, messages.toArray(ChatMessage[]::new)))
                    .as("%s more", more)
                    .contains(ToolExecutionResultMessage.from("a", "tool", ClearToolResults.MARKER));
            messages.add(more % 2 == 0 ? user("u" + more) : ai("a" + more));
        }
    }

    @Test
    void a_pinned_result_counted_for_the_minimum_as_if_nothing_were_unread_behind_it() {
        RandomBranch branch = RandomBranch.of(
                List.of(
                        new Scene(Scene.Kind.TOOLS, 5232016487899531966L),
                        new Scene(Scene.Kind.TOOLS, 5122985216481854110L),
                        new Scene(Scene.Kind.TOOLS, 1307887070491590146L)),
                Promises.COUNTER::count);
        Promise promise = Promise.tokens(365, 0, Promises.ESTIMATOR)
                .and(Promise.cleared(2, 78))
                .and(Promise.pinnedFirst(4));

        assertThat(Rules.ofGrowth(
                        promise, Promises.ESTIMATOR, branch.growth(), View.bounded(promise.strategy()), false))
                .isEmpty();
    }

    @Test
    void a_long_first_turn_lost_its_newest_rounds_when_its_beginning_was_pinned() {
        List<ChatMessage> messages = new ArrayList<>(List.of(user("task")));
        for (int round = 0; round < 20; round++) {
            messages.addAll(List.of(calls("c" + round), result("c" + round)));
        }

        assertThat(shown(
                        Pinned.firstMessages(1).and(SlidingWindow.withMaxMessages(5)),
                        messages.toArray(ChatMessage[]::new)))
                .containsExactly(user("task"), calls("c18"), result("c18"), calls("c19"), result("c19"));
    }

    @Test
    void a_pinned_turn_that_was_closed_over_the_limit_vanished_until_the_next_one() {
        ContextStrategy strategy = Pinned.firstMessages(1).and(SlidingWindow.withMaxMessages(3));
        List<ChatMessage> turn =
                List.of(user("task"), calls("a", "b", "c"), result("a"), result("b"), result("c"), ai(" "));

        assertThat(View.whole(strategy).of(part(turn)).shown())
                .extracting(LoggedMessage::message)
                .containsExactly(user("task"));
    }

    @Test
    void a_turn_that_is_over_the_limit_is_shown_while_it_goes_on() {
        ContextStrategy window = SlidingWindow.withMaxMessages(3);
        ChatMessage[] closed = {
            user("1"), calls("a", "b", "c"), result("a"), result("b"), result("c"), ai(" "), calls("d"), result("d")
        };

        assertThat(View.whole(window).of(part(List.of(closed).subList(0, 6))).shown())
                .isEmpty();
        assertThat(View.whole(window).of(part(List.of(closed))).shown())
                .extracting(LoggedMessage::message)
                .containsExactly(user("1"), calls("d"), result("d"));
    }

    @Test
    void a_closed_turn_was_an_overflow_where_nothing_of_it_was_read() {
        List<ChatMessage> log = List.of(user("1"), ai("2"), SystemMessage.from("a"), SystemMessage.from("b"));
        View view = View.bounded(SlidingWindow.withMaxMessages(1)).of(part(log));

        assertThat(view.overflow()).isFalse();
        assertThat(view.shown()).hasSize(1);
    }

    @Test
    void a_result_was_shortened_once_a_later_turn_was_pinned() {
        ContextStrategy strategy = Pinned.messages(message -> message.message().equals(user("keep")))
                .and(TokenLimit.withMaxTokens(40, new WordCounter()));
        ToolExecutionResultMessage result = ToolExecutionResultMessage.from("a", "tool", words(9));

        assertThat(shown(strategy, user(words(15)), calls("a"), result)).contains(result);
        assertThat(shown(strategy, user(words(15)), calls("a"), result, ai("done"), user("keep")))
                .contains(result, user("keep"));
    }

    @Test
    void a_result_did_not_fit_beside_the_pinned_beginning_of_its_own_turn() {
        ContextStrategy strategy = Pinned.firstMessages(3).and(TokenLimit.withMaxTokens(400, new WordCounter()));
        List<ChatMessage> turn = List.of(
                user(words(50)),
                AiMessage.from(words(46), List.of(call("a", "tool", "{}"))),
                ToolExecutionResultMessage.from("a", "tool", words(100)),
                AiMessage.from(words(106), List.of(call("b", "tool", "{}"))),
                ToolExecutionResultMessage.from("b", "tool", words(300)));
        View view = View.bounded(strategy).of(part(turn));

        assertThat(view.overflow()).isFalse();
        assertThat(view.shown()).hasSize(5);
    }

    @Test
    void the_last_complete_round_was_missing_while_large_calls_waited() {
        RandomBranch branch = RandomBranch.of(
                List.of(new Scene(Scene.Kind.TOOLS, -1101214478420895167L)), RandomBranch.mixed(Promises.COUNTER));
        ContextStrategy strategy = TokenLimit.withMaxTokens(203, Promises.ESTIMATOR);

        assertThat(branch.growth())
                .allSatisfy(part -> assertThat(View.bounded(strategy).of(part).shown())
                        .isEqualTo(View.whole(strategy).of(part).shown()));
    }

    @Test
    void a_result_was_shortened_before_a_later_pin_said_what_it_leaves() {
        Promise promise = Promise.pinnedFirst(2)
                .and(Promise.tokens(328, 0, Promises.ESTIMATOR))
                .and(Promise.pinned(message -> true));
        RandomBranch branch =
                RandomBranch.of(List.of(new Scene(Scene.Kind.TOOLS, -6230739155129408165L)), Promises.COUNTER::count);
        for (Part part : branch.growth()) {
            List<LoggedMessage> shown = View.whole(promise.strategy()).of(part).shown();
            for (int order = 0; order < 20; order++) {
                ContextStrategy otherwise = promise.otherwise(new Random(order));
                assertThat(View.whole(otherwise).of(part).shown()).isEqualTo(shown);
            }
        }
    }

    private static String words(int count) {
        return "word ".repeat(count);
    }

    private static ToolExecutionResultMessage tool(String id) {
        return ToolExecutionResultMessage.from(id, "tool", LONG);
    }

    private static List<ChatMessage> shown(ContextStrategy strategy, ChatMessage... messages) {
        return View.bounded(strategy).of(part(List.of(messages))).shown().stream()
                .map(LoggedMessage::message)
                .toList();
    }

    private static Part part(List<ChatMessage> messages) {
        List<LoggedMessage> log = Branches.linear(ESTIMATOR, messages.toArray(ChatMessage[]::new));
        LoggedMessage system = null;
        LoggedMessage user = null;
        for (LoggedMessage logged : log) {
            system = logged.message() instanceof SystemMessage ? logged : system;
            user = logged.message() instanceof UserMessage ? logged : user;
        }
        return new Part(system, user, log);
    }
}
