package io.github.keepsake4j.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Promise.Unit;
import io.github.keepsake4j.context.Rules.Rule;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.RandomBranch;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Checks that each rule finds the bug for which it was written. Otherwise {@link StrategyPropertiesTest} would prove
 * nothing.
 */
@Tag("landing")
class PlantedBugsTest {

    private static final int BRANCHES = 300;
    private static final Promise WINDOW = Promise.window(Unit.MESSAGES, 8, 0);

    @Test
    void a_limit_that_forgets_the_system_message_is_found() {
        isFound(Rule.LIMITS_HOLD, WINDOW, branch -> {
            View view = View.whole(SlidingWindow.withMaxMessages(9)).of(branch);
            return branch.system() == null ? View.whole(WINDOW.strategy()).of(branch) : view;
        });
    }

    @Test
    void a_limit_on_what_a_part_of_the_list_weighs_is_found() {
        isFound(
                Rule.LIMITS_HOLD,
                Promise.tokens(200, 0, Promises.ESTIMATOR),
                View.whole(TokenLimit.withMaxTokens(213, Promises.ESTIMATOR)));
    }

    @Test
    void an_overflow_of_a_turn_that_fits_is_found() {
        isFound(Rule.OVERFLOW_IS_REAL, WINDOW, branch -> {
            View view = View.whole(WINDOW.strategy()).of(branch);
            return new View(view.shown(), view.omitted(), branch.messages().size() > 4);
        });
    }

    @Test
    void a_newest_turn_that_left_although_it_fits_is_found() {
        isFound(Rule.OVERFLOW_IS_REAL, WINDOW, View.whole(SlidingWindow.withMaxMessages(3)));
    }

    @Test
    void a_forgotten_system_message_is_found() {
        isFound(Rule.SYSTEM_FIRST, WINDOW, changed(shown -> without(shown, 0, SystemMessage.class)));
    }

    @Test
    void a_lost_result_is_found() {
        isFound(
                Rule.ROUNDS_STAY_WHOLE,
                WINDOW,
                changed(shown -> without(shown, shown.size() - 1, ToolExecutionResultMessage.class)));
        isFound(
                Rule.PROVIDERS_TAKE_IT,
                WINDOW,
                changed(shown -> without(shown, shown.size() - 1, ToolExecutionResultMessage.class)));
    }

    @Test
    void results_in_another_order_are_found() {
        isFound(Rule.ORDER_OF_THE_LOG, WINDOW, changed(shown -> {
            int last = shown.size() - 1;
            boolean two = last > 0
                    && shown.get(last).message() instanceof ToolExecutionResultMessage
                    && shown.get(last - 1).message() instanceof ToolExecutionResultMessage;
            if (two) {
                Collections.swap(shown, last, last - 1);
            }
            return shown;
        }));
    }

    @Test
    void a_turn_that_loses_its_answer_is_found() {
        isFound(Rule.OLDEST_TURNS_GO, WINDOW, changed(shown -> {
            for (int i = 1; i < shown.size(); i++) {
                if (shown.get(i).message() instanceof UserMessage
                        && !(shown.get(i - 1).message() instanceof ToolExecutionResultMessage)
                        && !(shown.get(i - 1).message() instanceof SystemMessage)) {
                    shown.remove(i - 1);
                    return shown;
                }
            }
            return shown;
        }));
    }

    @Test
    void a_newer_turn_that_goes_before_an_older_one_is_found() {
        isFound(Rule.OLDEST_TURNS_GO, WINDOW, View.whole(context -> {
            List<ContextTurn> turns = WINDOW.strategy().select(context).turns();
            int middle = turns.size() - 2;
            return WINDOW.strategy()
                    .select(context)
                    .keepTurns(turn ->
                            middle < 0 || turn.user() != turns.get(middle).user());
        }));
    }

    @Test
    void a_window_that_lets_go_too_much_is_found() {
        isFound(Rule.NO_MORE_THAN_NEEDED, WINDOW, View.whole(SlidingWindow.withMaxMessages(5)));
    }

    @Test
    void a_dropped_newest_question_is_found() {
        isFound(Rule.NEWEST_USER_STAYS, WINDOW, View.whole(context -> {
            List<ContextTurn> turns = context.turns();
            return WINDOW.strategy()
                    .select(context)
                    .keepTurns(
                            turn -> turn.user() != turns.get(turns.size() - 1).user());
        }));
    }

    @Test
    void an_invented_message_is_found() {
        isFound(Rule.NOTHING_INVENTED, WINDOW, changed(shown -> {
            shown.replaceAll(message -> message.message() instanceof UserMessage
                    ? with(message, UserMessage.from("Please go on"))
                    : message);
            return shown;
        }));
    }

    @Test
    void a_new_result_that_is_cleared_is_found() {
        isFound(Rule.OLD_RESULTS_ARE_CLEARED, Promise.cleared(2, 0), View.whole(ClearToolResults.keepNewest(1)));
    }

    @Test
    void an_old_result_that_is_whole_is_found() {
        isFound(Rule.OLD_RESULTS_ARE_CLEARED, Promise.cleared(1, 0), View.whole(ClearToolResults.keepNewest(2)));
    }

    @Test
    void a_result_that_takes_more_than_its_share_is_found() {
        isFound(
                Rule.RESULTS_HAVE_THEIR_SHARE,
                Promise.tokens(120, 0, Promises.ESTIMATOR),
                View.whole(TokenLimit.withMaxTokens(120, Promises.ESTIMATOR).maxToolResultTokens(50)));
    }

    @Test
    void a_result_that_is_shortened_in_another_way_the_next_time_is_found() {
        isFound(Rule.SHORTENED_THE_SAME, Promise.tokens(200, 0, Promises.ESTIMATOR), branch -> View.whole(
                        TokenLimit.withMaxTokens(200, Promises.ESTIMATOR)
                                .maxToolResultTokens(30 + branch.messages().size() % 2 * 10))
                .of(branch));
    }

    @Test
    void a_message_that_is_never_reported_is_found() {
        isFound(Rule.REASONS_ARE_TRUE, WINDOW, branch -> {
            View view = View.whole(WINDOW.strategy()).of(branch);
            return new View(view.shown(), List.of(), view.overflow());
        });
    }

    @Test
    void a_strategy_that_remembers_is_found() {
        Random random = new Random(1);
        isFound(Rule.SAME_AGAIN, WINDOW, branch -> View.whole(
                        random.nextBoolean() ? WINDOW.strategy() : SlidingWindow.withMaxMessages(7))
                .of(branch));
    }

    @Test
    void an_older_message_that_comes_back_is_found() {
        isFound(Rule.NEVER_BACK, Promise.window(Unit.MESSAGES, 8, 4), branch -> View.whole(
                        SlidingWindow.withMaxMessages(branch.messages().size() % 2 == 0 ? 8 : 7))
                .of(branch));
    }

    @Test
    void a_result_that_becomes_whole_again_is_found() {
        isFound(Rule.CLEARED_FOR_GOOD, Promise.cleared(0, 100_000), branch -> View.whole(
                        branch.messages().size() % 8 < 4
                                ? ClearToolResults.keepNewest(0)
                                : ClearToolResults.keepNewest(Integer.MAX_VALUE))
                .of(branch));
    }

    @Test
    void a_message_that_slips_in_is_found() {
        // All but the second turn, which is shown when there are ten messages.
        isFound(
                Rule.PREFIX_STAYS,
                Promise.window(Unit.MESSAGES, 1_000, 0),
                branch -> View.whole(
                                (ContextStrategy) context -> branch.messages().size() >= 10
                                                || context.turns().size() < 3
                                        ? context
                                        : context.keepTurns(turn -> turn.user()
                                                != context.turns().get(1).user()))
                        .of(branch),
                false);
    }

    @Test
    void a_window_that_moves_by_one_message_in_spite_of_its_step_is_found() {
        isFound(
                Rule.MOVES_RARELY,
                Promise.window(Unit.MESSAGES, 40, 20),
                View.whole(SlidingWindow.withMaxMessages(40)),
                true);
    }

    private static View.Viewer changed(UnaryOperator<List<LoggedMessage>> change) {
        return branch -> {
            View view = View.whole(WINDOW.strategy()).of(branch);
            return new View(change.apply(new ArrayList<>(view.shown())), view.omitted(), view.overflow());
        };
    }

    private static List<LoggedMessage> without(List<LoggedMessage> shown, int at, Class<?> type) {
        if (at >= 0 && at < shown.size() && type.isInstance(shown.get(at).message())) {
            shown.remove(at);
        }
        return shown;
    }

    private static LoggedMessage with(LoggedMessage logged, UserMessage message) {
        return new LoggedMessage(
                logged.id(),
                logged.parentId(),
                logged.sequence(),
                message,
                logged.tokens(),
                logged.tokenCounter(),
                logged.createdAt());
    }

    private static void isFound(Rule rule, Promise promise, View.Viewer bug) {
        isFound(rule, promise, bug, true);
    }

    private static void isFound(Rule rule, Promise promise, View.Viewer bug, boolean wholeRead) {
        Random random = new Random(1);
        boolean found = false;
        for (int i = 0; i < BRANCHES && !found; i++) {
            RandomBranch branch = RandomBranch.random(random, 20, Promises.COUNTER::count);
            found = Rules.ofGrowth(promise, Promises.ESTIMATOR, branch.growth(), bug, wholeRead).stream()
                    .anyMatch(broken -> broken.rule() == rule);
        }
        assertThat(found).as(rule.name()).isTrue();
    }
}
