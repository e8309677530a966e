package io.github.keepsake4j.context;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.testing.Branches;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Checks what the built-in strategies show, with examples and on random conversations. */
class StrategiesTest {

    private static final JtokkitTokenCountEstimator ESTIMATOR = JtokkitTokenCountEstimator.forModel("gpt-4o");
    private static final SystemMessage SYSTEM = SystemMessage.from("Be brief");

    @Test
    void whole_turns_leave() {
        List<LoggedMessage> log =
                log(user("1"), calls("a"), result("a"), ai("2"), user("3"), ai("4"), user("5"), ai("6"));

        assertThat(shown(SlidingWindow.withMaxMessages(7), log))
                .containsExactly(user("3"), ai("4"), user("5"), ai("6"));
        assertThat(shown(SlidingWindow.withMaxMessages(8), log)).hasSize(8);
        assertThat(shown(SlidingWindow.withMaxTurns(1), log)).containsExactly(user("5"), ai("6"));
        assertThat(select(SlidingWindow.withMaxTurns(2), log).omitted())
                .extracting(Omission::reason)
                .hasSize(4)
                .containsOnly(Reason.MESSAGE_LIMIT);
    }

    /** In either order: a limit that does not count what a strategy shows would not hold. */
    @Test
    void a_limit_counts_the_longer_message_that_a_strategy_shows_instead() {
        List<LoggedMessage> log = log(user("1"), ai("2"), user("3"), ai("4"));
        ContextStrategy longer = context -> context.replacing(
                Map.of(log.get(2).id(), user("word ".repeat(500)), log.get(3).id(), ai("word")));
        TokenLimit limit = TokenLimit.withMaxTokens(100, ESTIMATOR);

        assertThat(shown(limit, log)).hasSize(4);
        for (ContextStrategy both : List.of(limit.and(longer), longer.and(limit))) {
            assertThat(ESTIMATOR.estimateTokenCountInMessages(shown(both, log))).isLessThan(100);
        }
        assertThat(shown(TokenLimit.withMaxTokens(1_000, ESTIMATOR).and(longer), log))
                .contains(user("word ".repeat(500)), ai("word"))
                .hasSize(4);
        assertThatThrownBy(() -> limit.and(null))
                .isInstanceOf(InvalidInputException.class)
                .hasMessage("other: must not be null");
    }

    @Test
    void a_long_turn_loses_its_oldest_rounds() {
        List<LoggedMessage> log =
                log(user("1"), calls("a"), result("a"), calls("b"), result("b"), calls("c"), result("c"));

        assertThat(shown(SlidingWindow.withMaxMessages(4), log)).containsExactly(user("1"), calls("c"), result("c"));
    }

    @Test
    void an_open_turn_that_does_not_fit_is_an_overflow_and_a_closed_one_leaves() {
        Context open = select(SlidingWindow.withMaxMessages(2), log(user("1"), calls("a"), result("a")));
        assertThat(open.overflow()).isTrue();
        assertThat(open.messages()).isEmpty();

        Context closed = select(SlidingWindow.withMaxMessages(1), log(user("1"), ai("2")));
        assertThat(closed.overflow()).isFalse();
        assertThat(closed.messages()).isEmpty();
    }

    @Test
    void a_system_message_over_the_limit_is_an_overflow() {
        List<LoggedMessage> log = log(SystemMessage.from("word ".repeat(50)));

        assertThat(select(TokenLimit.withMaxTokens(20, ESTIMATOR), log).overflow())
                .isTrue();
    }

    @Test
    void results_stand_behind_their_calls_when_turns_interleave() {
        List<LoggedMessage> log =
                log(user("1"), calls("a"), user("2"), result("a"), ai("to 2"), calls("b"), result("b"));

        // The turn of the newest result goes on, and its request ends with that result.
        assertThat(shown(SlidingWindow.withMaxMessages(50), log))
                .containsExactly(user("1"), calls("a"), result("a"), user("2"), calls("b"), result("b"));
        // Not every provider accepts calls directly after another answer.
        assertThat(shown(
                        SlidingWindow.withMaxMessages(50),
                        log(
                                user("1"),
                                calls("a"),
                                user("2"),
                                result("a"),
                                ai("to 2"),
                                calls("b"),
                                ai("to 1"),
                                result("b"),
                                ai("more to 2"))))
                .containsExactly(
                        user("1"),
                        calls("a"),
                        result("a"),
                        user("2"),
                        calls("b"),
                        result("b"),
                        ai("to 1"),
                        ai("more to 2"));
    }

    @Test
    void what_a_provider_would_refuse_is_not_shown() {
        List<LoggedMessage> log = log(
                ai("greeting"),
                result("orphan"),
                user("1"),
                calls("dead", "half"),
                result("half"),
                new UnknownMessage(Map.of("type", "HOLOGRAM")),
                user("2"),
                calls("a"),
                result("a"),
                result("a"));

        Context context = select(SlidingWindow.withMaxMessages(50), log);
        assertThat(context.messages()).containsExactly(user("1"), user("2"), calls("a"), result("a"));
        assertThat(context.omitted())
                .extracting(Omission::reason)
                .containsExactlyInAnyOrder(
                        Reason.NO_USER_MESSAGE,
                        Reason.ORPHAN_RESULT,
                        Reason.UNANSWERED_CALL,
                        Reason.UNANSWERED_CALL,
                        Reason.UNKNOWN_TYPE,
                        Reason.ORPHAN_RESULT);
    }

    @Test
    void the_user_message_that_began_the_turn_is_shown_though_it_was_read_from_far_away() {
        List<ChatMessage> turn = new ArrayList<>(List.of(user("1"), calls("a"), result("a")));
        for (int round = 0; round < 40; round++) {
            turn.addAll(List.of(calls("b" + round), result("b" + round)));
        }
        List<LoggedMessage> log = log(turn.toArray(ChatMessage[]::new));
        SlidingWindow window = SlidingWindow.withMaxMessages(3);

        assertThat(window.shownFrom(window.mark(Context.of(null, log.get(0), log.subList(79, 83)))))
                .as("the question may have been answered before")
                .isZero();
        assertThat(window.select(Context.of(null, log.get(0), log.subList(3, 83)))
                        .messages())
                .containsExactly(user("1"), calls("b39"), result("b39"));
    }

    @Test
    void both_limits_of_a_combination_hold_in_either_order() {
        List<LoggedMessage> log = log(user("1"), ai("2"), user("3 ".repeat(40)), ai("4"), user("5"), ai("6"));
        ContextStrategy window = SlidingWindow.withMaxMessages(4);
        ContextStrategy tokens = TokenLimit.withMaxTokens(30, ESTIMATOR);

        List<ChatMessage> expected = List.of(user("1"), ai("2"), user("5"), ai("6"));
        assertThat(shown(window.and(tokens), log)).isEqualTo(expected);
        assertThat(shown(tokens.and(window), log)).isEqualTo(expected);
        assertThat(window.and(tokens).bounds("id")).isEqualTo(new ReadBounds(4, Integer.MAX_VALUE, 30, 0, false));
        assertThat(window.and(tokens).tokenCounter()).isPresent();
    }

    @Test
    void what_another_counter_counted_weighs_what_the_limits_own_counts() {
        LoggedMessage foreign = new LoggedMessage("1", null, 1, user("1"), 1000, "another", Instant.EPOCH);
        int own = ESTIMATOR.estimateTokenCountInMessages(List.of(user("1")));

        assertThat(select(TokenLimit.withMaxTokens(own, ESTIMATOR), List.of(foreign))
                        .messages())
                .hasSize(1);
        assertThat(select(TokenLimit.withMaxTokens(own - 1, ESTIMATOR), List.of(foreign))
                        .overflow())
                .isTrue();
    }

    @Test
    void limits_below_one_are_refused() {
        assertThatThrownBy(() -> SlidingWindow.withMaxMessages(0))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("maxMessages");
        assertThatThrownBy(() -> SlidingWindow.withMaxTurns(-1)).hasMessageContaining("maxTurns");
        assertThatThrownBy(() -> TokenLimit.withMaxTokens(0, ESTIMATOR)).hasMessageContaining("maxTokens");
    }

    /** A conversation grows by random messages; at each step every strategy's result is checked. */
    @Test
    void random_conversations_keep_the_rules() {
        long seed = Long.getLong("keepsake.seed", new Random().nextLong());
        Tell.line("StrategiesTest seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < Counts.of(40, 10_000); i++) {
            int limit = 1 + random.nextInt(12);
            int tokens = 20 + random.nextInt(120);
            for (ContextStrategy strategy : List.of(
                    SlidingWindow.withMaxMessages(limit),
                    SlidingWindow.withMaxTurns(limit),
                    TokenLimit.withMaxTokens(tokens, ESTIMATOR),
                    SlidingWindow.withMaxMessages(limit + 1).step((limit + 1) / 2),
                    TokenLimit.withMaxTokens(tokens, ESTIMATOR).step(tokens / 3),
                    SlidingWindow.withMaxMessages(limit).and(TokenLimit.withMaxTokens(tokens, ESTIMATOR)))) {
                grow(strategy, limit, tokens, new Random(random.nextLong()), "seed " + seed + ", try " + i);
            }
        }
    }

    private static void grow(ContextStrategy strategy, int limit, int tokens, Random random, String as) {
        List<ChatMessage> messages = new ArrayList<>();
        Set<String> gone = new HashSet<>();
        List<String> passed = List.of();
        for (int step = 0; step < 20; step++) {
            messages.add(randomMessage(random, messages.size()));
            if (messages.get(step) instanceof SystemMessage) {
                gone.clear();
            }
            List<LoggedMessage> log = log(messages.toArray(ChatMessage[]::new));
            Context context = select(strategy, log);
            List<ChatMessage> shown = context.messages();
            if (context.overflow()) {
                continue;
            }
            if (strategy.bounds("id").messages() == limit) {
                assertThat(shown).as(as).hasSizeLessThanOrEqualTo(limit);
            }
            if (strategy.tokenCounter().isPresent()) {
                assertThat(ESTIMATOR.estimateTokenCountInMessages(shown)).as(as).isLessThanOrEqualTo(tokens);
            }
            assertThat(shown.stream().filter(UserMessage.class::isInstance).count())
                    .as(as)
                    .isLessThanOrEqualTo(strategy.bounds("id").turns());
            assertValid(shown, as);
            assertThat(select(strategy, log)).as(as).isEqualTo(context);
            // While the system message stays the same, a message that a limit removed does not come back, unless a turn
            // is passed by that was not, or ends with another answer.
            List<String> passedNow = context.turns().stream()
                    .filter(turn -> turn.form() != ContextTurn.Form.WHOLE)
                    .map(turn -> turn.user().id()
                            + turn.form()
                            + turn.messages().size()
                            + turn.rounds().size())
                    .toList();
            if (!passedNow.equals(passed)) {
                gone.clear();
                passed = passedNow;
            }
            Set<String> ids = new HashSet<>();
            context.shown().forEach(message -> ids.add(message.id()));
            assertThat(ids)
                    .as(() -> as + ": " + strategy.bounds("id") + " of " + sizes(log) + " gone " + gone)
                    .noneMatch(gone::contains);
            context.omitted().stream()
                    .filter(omission ->
                            omission.reason() == Reason.MESSAGE_LIMIT || omission.reason() == Reason.TOKEN_LIMIT)
                    .forEach(omission -> gone.add(omission.message().id()));
        }
    }

    private static String sizes(List<LoggedMessage> log) {
        StringBuilder sizes = new StringBuilder();
        log.forEach(logged -> sizes.append(logged.id())
                .append(' ')
                .append(logged.message().type())
                .append(' ')
                .append(logged.tokens())
                .append("; "));
        return sizes.toString();
    }

    private static void assertValid(List<ChatMessage> shown, String as) {
        Set<String> waiting = new HashSet<>();
        boolean turn = false;
        for (int i = 0; i < shown.size(); i++) {
            ChatMessage message = shown.get(i);
            if (message instanceof SystemMessage) {
                assertThat(i).as(as).isZero();
            } else if (message instanceof ToolExecutionResultMessage result) {
                assertThat(waiting.remove(result.id())).as(as).isTrue();
            } else {
                assertThat(waiting).as(as).isEmpty();
                turn |= message instanceof UserMessage;
                assertThat(turn).as(as).isTrue();
                if (message instanceof AiMessage ai) {
                    ai.toolExecutionRequests().stream()
                            .map(ToolExecutionRequest::id)
                            .forEach(waiting::add);
                }
            }
        }
        assertThat(waiting).as(as).isEmpty();
    }

    private static ChatMessage randomMessage(Random random, int number) {
        return switch (random.nextInt(10)) {
            case 0 -> SystemMessage.from("system " + random.nextInt(3));
            case 1, 2, 3 -> user("word ".repeat(random.nextInt(20)) + number);
            case 4, 5 -> calls("c" + number, "d" + number);
            case 6, 7 -> result((random.nextBoolean() ? "c" : "d") + Math.max(0, number - 1 - random.nextInt(3)));
            default -> ai("word ".repeat(random.nextInt(10)) + number);
        };
    }

    private static List<ChatMessage> shown(ContextStrategy strategy, List<LoggedMessage> log) {
        return select(strategy, log).messages();
    }

    private static Context select(ContextStrategy strategy, List<LoggedMessage> log) {
        LoggedMessage system = null;
        LoggedMessage user = null;
        for (LoggedMessage logged : log) {
            system = logged.message() instanceof SystemMessage ? logged : system;
            user = logged.message() instanceof UserMessage ? logged : user;
        }
        return strategy.select(Context.of(system, user, log));
    }

    private static List<LoggedMessage> log(ChatMessage... messages) {
        return Branches.linear(ESTIMATOR, messages);
    }
}
