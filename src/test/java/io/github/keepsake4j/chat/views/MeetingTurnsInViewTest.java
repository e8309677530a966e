package io.github.keepsake4j.chat.views;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.context.ClearToolResults;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Pinned;
import io.github.keepsake4j.context.ReadBounds;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.context.Turns;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.MeetingTurns;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.RandomBranch.Part;
import io.github.keepsake4j.testing.TrueReasons;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What a memory shows of turns that run at the same time, read as far back as the strategy looks. */
class MeetingTurnsInViewTest {

    private static final ConversationKey KEY = ConversationKey.of("default", "x");
    private static final TokenCounter COUNTER = TokenCounter.of(new WordCounter());

    /** The same strategy with the whole branch in sight. */
    private record Whole(ContextStrategy strategy) implements ContextStrategy {
        @Override
        public Context select(Context context) {
            return strategy.select(strategy.mark(context));
        }

        @Override
        public boolean summarizes() {
            return strategy.summarizes();
        }

        @Override
        public ReadBounds bounds(Object memoryId) {
            int all = Integer.MAX_VALUE;
            boolean toSummary = strategy.bounds(memoryId).toSummary();
            return toSummary ? new ReadBounds(all, all, Long.MAX_VALUE, 0, true) : ReadBounds.EVERYTHING;
        }
    }

    private static MessageLog log(List<LoggedMessage> branch) {
        MessageLog log = new InMemoryMessageLog();
        append(log, branch);
        return log;
    }

    private static void append(MessageLog log, List<LoggedMessage> branch) {
        log.append(
                KEY,
                Append.underHead(branch.stream()
                        .map(message -> new NewMessage(
                                        message.id(), message.message(), message.tokens(), message.tokenCounter(), null)
                                .withOutcome(message.outcome())
                                .ofTurn(message.question()))
                        .toArray(NewMessage[]::new)));
    }

    private static Conversation conversation(MessageLog log, ContextStrategy strategy) {
        Keepsake.Builder builder = Keepsake.builder().messageLog(log).strategy(strategy);
        return (strategy.summarizes()
                        ? builder.summarizer((previous, messages) -> "").executor(task -> {})
                        : builder)
                .build()
                .conversation("x");
    }

    private static List<ChatMessage> shown(MessageLog log, ContextStrategy strategy) {
        return conversation(log, strategy).messages();
    }

    private static ContextStrategy limit(Random random) {
        int most = 2 + random.nextInt(14);
        ContextStrategy messages = random.nextBoolean()
                ? SlidingWindow.withMaxMessages(most)
                : SlidingWindow.withMaxMessages(most).step(1 + random.nextInt(most / 2));
        ContextStrategy turns = SlidingWindow.withMaxTurns(1 + random.nextInt(6));
        ContextStrategy tokens = TokenLimit.withMaxTokens(40 + random.nextInt(300), new WordCounter());
        return switch (random.nextInt(6)) {
            case 0, 1 -> messages;
            case 2 -> turns;
            case 3 -> tokens;
            case 4 -> messages.and(tokens);
            default -> turns.and(tokens);
        };
    }

    private static ContextStrategy strategy(Random random) {
        ContextStrategy limit = limit(random);
        int salt = random.nextInt();
        return switch (random.nextInt(8)) {
            case 0 -> limit.and(ClearToolResults.keepNewest(random.nextInt(4)));
            case 1 ->
                limit.and(Pinned.messages(message -> message.message() instanceof UserMessage
                        && Math.floorMod(message.id().hashCode() ^ salt, 7) == 0));
            case 2 -> limit.and(Summarization.triggerMessages(1_000));
            default -> limit;
        };
    }

    private static ContextStrategy pinningFirst(Random random) {
        return limit(random).and(Pinned.firstMessages(1 + random.nextInt(6)));
    }

    /** A summary of a part of the branch, as one that was made while these turns ran. */
    private static void summarize(MessageLog log, List<LoggedMessage> branch, Random random) {
        Summary summary =
                new Summary(branch.get(random.nextInt(branch.size())).id(), "S", 1, "test", 1, 1, null, Instant.EPOCH);
        Logs.putSummary(log, KEY, summary, 1);
    }

    private static String as(long seed, List<LoggedMessage> branch, ContextStrategy strategy) {
        return "-Dkeepsake.seed=" + seed + " " + strategy + " " + new Part(null, null, branch);
    }

    @Test
    void a_view_from_a_bounded_read_is_the_one_from_a_read_of_the_whole_branch() {
        assertThat(differences(Kind.BOUND, MeetingTurnsInViewTest::strategy)).isZero();
    }

    @Test
    void so_it_is_if_the_oldest_messages_are_pinned() {
        assertThat(differences(Kind.PINNED, MeetingTurnsInViewTest::pinningFirst))
                .isZero();
    }

    /** Whether a question that no AI service asked still waits is known only if it was read. */
    @Test
    void so_it_is_nearly_always_if_questions_of_no_turn_wait_for_their_answers() {
        int runs = Counts.of(300, 100_000);
        assertThat(differences(Kind.WAITING, MeetingTurnsInViewTest::strategy)).isLessThan(3 + runs / 1_000);
    }

    private enum Kind {
        BOUND,
        /** Whether a pinned question has an answer, or more than it, among what was not read is not known. */
        PINNED,
        WAITING
    }

    /** Returns whether questions among the oldest messages end badly, or have answers behind which their turns go on. */
    private static boolean dependsOnRest(List<LoggedMessage> oldest, List<LoggedMessage> branch) {
        return oldest.stream()
                        .anyMatch(message -> message.outcome() != null
                                || message.message() instanceof CustomMessage
                                || goesOn(message, branch))
                || !Collections.disjoint(oldest, Turns.unanswered(branch));
    }

    private static boolean goesOn(LoggedMessage answer, List<LoggedMessage> branch) {
        String question = answer.question() == null ? answer.parentId() : answer.question();
        return isAnswer(answer)
                && branch.stream()
                        .anyMatch(message -> message.sequence() > answer.sequence()
                                && message.question() != null
                                && message.question().equals(question));
    }

    private static int differences(Kind kind, Function<Random, ContextStrategy> strategies) {
        boolean waits = kind == Kind.WAITING;
        long first = Counts.seed();
        int different = 0;
        int cut = 0;
        for (int run = 0; run < Counts.of(300, 100_000); run++) {
            Random random = new Random(first + run);
            List<LoggedMessage> branch = MeetingTurns.random(random, 2 + random.nextInt(20), waits, COUNTER::count);
            if (kind == Kind.PINNED && dependsOnRest(branch.subList(0, Math.min(8, branch.size())), branch)) {
                continue;
            }
            ContextStrategy strategy = strategies.apply(random);
            MessageLog log = log(branch);
            if (strategy.summarizes()) {
                summarize(log, branch, random);
            }
            List<ChatMessage> whole = shown(log, new Whole(strategy));
            List<ChatMessage> bounded = shown(log, strategy);
            if (!waits) {
                assertThat(bounded).as(as(first + run, branch, strategy)).isEqualTo(whole);
            }
            different += bounded.equals(whole) ? 0 : 1;
            cut += whole.size() < branch.size() ? 1 : 0;
        }
        assertThat(cut).isPositive();
        return different;
    }

    @Test
    void a_view_of_a_process_that_saw_the_turns_arrive_is_that_of_one_that_did_not() {
        long first = Counts.seed();
        for (int run = 0; run < Counts.of(30, 5_000); run++) {
            Random random = new Random(first + run);
            List<LoggedMessage> branch = MeetingTurns.random(random, 2 + random.nextInt(10), false, COUNTER::count);
            ContextStrategy strategy = limit(random);
            MessageLog log = new InMemoryMessageLog();
            Conversation known = conversation(log, strategy);
            for (LoggedMessage message : branch) {
                append(log, List.of(message));
                String as = as(first + run, branch, strategy) + " at " + message.id();
                List<ChatMessage> whole = shown(log, new Whole(strategy));
                assertThat(known.messages()).as(as).isEqualTo(whole);
                assertThat(shown(log, strategy)).as(as).isEqualTo(whole);
            }
        }
    }

    @Test
    void each_turn_is_shown_whole_with_one_answer_in_the_order_of_the_ends_and_each_reason_is_true() {
        long first = Counts.seed();
        for (int run = 0; run < Counts.of(200, 20_000); run++) {
            Random random = new Random(first + run);
            List<LoggedMessage> branch = MeetingTurns.random(random, 2 + random.nextInt(8), false, COUNTER::count);
            ContextStrategy everything = SlidingWindow.withMaxMessages(10_000);
            Conversation conversation = conversation(log(branch), everything);
            String as = as(first + run, branch, everything);

            List<ChatMessage> messages = conversation.messages();
            // No provider knows a custom message, which only some adapters send.
            List<ChatMessage> sent = messages.stream()
                    .filter(message -> !(message instanceof CustomMessage))
                    .toList();
            assertThat(ProviderRules.all(sent)).as(as).isEmpty();
            Map<String, LoggedMessage> byId = new HashMap<>();
            branch.forEach(message -> byId.put(message.id(), message));
            List<LoggedMessage> shown = conversation.explain().shown().stream()
                    .map(Explanation.Line::messageId)
                    .map(byId::get)
                    .toList();
            assertWhole(shown, as);
            assertOneAnswer(shown, as);
            assertInOrder(shown, branch, as);
            assertThat(TrueReasons.untrue(conversation)).as(as).isEmpty();
            assertThat(TrueReasons.unexplained(conversation)).as(as).isEmpty();
        }
    }

    /** Asserts that what a turn shows follows its question, and that nothing of another turn comes between. */
    private static void assertWhole(List<LoggedMessage> shown, String as) {
        String turn = null;
        for (LoggedMessage message : shown) {
            if (message.message() instanceof UserMessage) {
                turn = message.id();
            } else if (message.question() != null) {
                assertThat(message.question()).as("%s in %s", message.id(), as).isEqualTo(turn);
            }
        }
    }

    private static void assertOneAnswer(List<LoggedMessage> shown, String as) {
        Map<String, String> answers = new HashMap<>();
        Set<String> questions = shown.stream()
                .filter(message -> message.id().equals(message.question()))
                .map(LoggedMessage::id)
                .collect(Collectors.toSet());
        for (LoggedMessage message : shown) {
            // An answer by hand follows its question.
            boolean byHand = questions.contains(String.valueOf(message.parentId()));
            String question = message.question() == null && byHand ? message.parentId() : message.question();
            if (question != null && isAnswer(message)) {
                assertThat(answers.put(question, message.id()))
                        .as("the answer before %s in %s", message.id(), as)
                        .isNull();
            }
        }
    }

    /** Asserts the order of the turns that ended with the answer that is shown. */
    private static void assertInOrder(List<LoggedMessage> shown, List<LoggedMessage> branch, String as) {
        Map<String, LoggedMessage> last = new HashMap<>();
        branch.stream()
                .filter(message -> message.question() != null)
                .forEach(message -> last.put(message.question(), message));
        List<Long> ends = new ArrayList<>();
        for (LoggedMessage message : shown) {
            if (message.question() != null && isAnswer(message) && last.get(message.question()) == message) {
                ends.add(message.sequence());
            }
        }
        assertThat(ends).as(as).isSorted();
    }

    private static boolean isAnswer(LoggedMessage message) {
        Outcome outcome = message.outcome();
        return message.message() instanceof AiMessage ai
                && !ai.hasToolExecutionRequests()
                && (outcome == null || outcome.kind() != Outcome.Kind.REJECTED);
    }
}
