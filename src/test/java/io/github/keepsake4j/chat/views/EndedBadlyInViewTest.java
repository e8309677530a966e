package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.history;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.testing.CountedLog;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.RandomBranch;
import io.github.keepsake4j.testing.RandomBranch.Part;
import io.github.keepsake4j.testing.RandomOutcomes;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** What a memory shows of turns that ended badly, read from a log as far back as the strategy looks. */
class EndedBadlyInViewTest {

    private static final ConversationKey KEY = ConversationKey.of("default", "x");

    /** Marks the newest message that equals this one. */
    private static void ends(MessageLog log, ChatMessage message, Outcome outcome) {
        log.flush(KEY);
        List<LoggedMessage> all = log.history(KEY, HistoryQuery.newest(100)).messages();
        for (int i = all.size() - 1; i >= 0; i--) {
            if (all.get(i).message().equals(message)) {
                Logs.setOutcome(log, KEY, all.get(i).id(), outcome, null);
                return;
            }
        }
        throw new AssertionError("not there");
    }

    @ParameterizedTest
    @Homes
    void six_failed_questions_do_not_push_the_exchange_out_of_a_window_of_four(MessageLog log) throws Exception {
        Keepsake keepsake = Keepsakes.on(log, SlidingWindow.withMaxMessages(4));
        KeepsakeChatMemory memory = keepsake.chatMemory("x");
        memory.add(user("hello"), ai("hi"));
        for (int i = 0; i < 6; i++) {
            memory.add(user("again"));
            ends(log, user("again"), Outcome.failed("java.io.IOException"));
            assertThat(memory.messages()).containsExactly(user("hello"), ai("hi"));
        }
        memory.add(user("again"));

        assertThat(memory.messages()).containsExactly(user("hello"), ai("hi"), user("again"));
        assertThat(keepsake.chatMemory("x").messages()).containsExactly(user("hello"), ai("hi"), user("again"));
        memory.add(ai("at last"));
        assertThat(memory.messages()).containsExactly(user("hello"), ai("hi"), user("again"), ai("at last"));
        assertThat(history(keepsake.conversation("x"))).hasSize(10);
        Explanation explanation = keepsake.conversation("x").explain();
        assertThat(explanation.omitted())
                .hasSize(6)
                .allMatch(line ->
                        line.reason() == Reason.FAILED && line.outcome().equals(Outcome.failed("java.io.IOException")));
        assertThat(explanation.toString()).contains("FAILED  ended FAILED: java.io.IOException");
    }

    @ParameterizedTest
    @Homes
    void tool_rounds_that_were_completed_stay_when_their_turn_fails(MessageLog log) throws Exception {
        Keepsake keepsake = Keepsake.builder().messageLog(log).build();
        KeepsakeChatMemory memory = keepsake.chatMemory("x");
        memory.add(user("transfer 100"), calls("t"), result("t"));
        assertThat(memory.messages()).containsExactly(user("transfer 100"), calls("t"), result("t"));
        ends(log, user("transfer 100"), Outcome.failed("java.lang.RuntimeException"));

        memory.add(user("transfer 100"));

        assertThat(memory.messages())
                .containsExactly(user("transfer 100"), calls("t"), result("t"), user("transfer 100"));
        memory.add(calls("u"));
        ends(log, user("transfer 100"), Outcome.failed("java.lang.Error"));
        memory.add(user("and now?"));
        assertThat(keepsake.chatMemory("x").messages())
                .containsExactly(user("transfer 100"), calls("t"), result("t"), user("and now?"));
    }

    @ParameterizedTest
    @Homes
    void rejected_answers_are_hidden_and_incomplete_ones_are_shown(MessageLog log) throws Exception {
        Keepsake keepsake = Keepsake.builder().messageLog(log).build();
        KeepsakeChatMemory memory = keepsake.chatMemory("x");
        memory.add(user("a"), ai("bad"));
        ends(log, ai("bad"), Outcome.rejected("com.example.Guard"));
        memory.add(user("b"), ai("p0 p1"));
        ends(log, ai("p0 p1"), Outcome.incomplete("cancelled"));
        memory.add(user("c"));

        assertThat(keepsake.chatMemory("x").messages()).containsExactly(user("a"), user("b"), ai("p0 p1"), user("c"));
        assertThat(keepsake.conversation("x").history(HistoryQuery.oldest(9)).messages())
                .extracting(LoggedMessage::outcome)
                .containsExactly(
                        null, Outcome.rejected("com.example.Guard"), null, Outcome.incomplete("cancelled"), null);
    }

    @ParameterizedTest
    @Homes
    void a_list_that_is_set_after_a_failure_is_what_is_shown(MessageLog log) throws Exception {
        Keepsake keepsake = Keepsake.builder().messageLog(log).build();
        KeepsakeChatMemory memory = keepsake.chatMemory("x");
        memory.add(user("hello"), ai("hi"), user("failed"));
        ends(log, user("failed"), Outcome.failed("x"));
        List<ChatMessage> list = new ArrayList<>(memory.messages());
        assertThat(list).containsExactly(user("hello"), ai("hi"));
        list.add(user("next"));

        memory.set(list);

        assertThat(memory.messages()).isEqualTo(list);
        assertThat(keepsake.chatMemory("x").messages()).isEqualTo(list);
        memory.add(ai("answer"));
        list.add(ai("answer"));
        assertThat(keepsake.chatMemory("x").messages()).isEqualTo(list);
        assertThat(history(keepsake.conversation("x"))).hasSize(5);
        List<ChatMessage> rest = memory.messages().subList(2, 4);
        memory.set(rest);
        assertThat(keepsake.chatMemory("x").messages()).isEqualTo(rest);
        assertThat(history(keepsake.conversation("x"))).hasSize(5);
    }

    @Test
    void a_memory_with_failed_questions_is_read_once_once_it_is_known_how_many_there_are() {
        MessageLog log = new InMemoryMessageLog();
        CountedLog counted = new CountedLog();
        Keepsake keepsake = Keepsakes.on(counted.around(log), SlidingWindow.withMaxMessages(4));
        KeepsakeChatMemory memory = keepsake.chatMemory("x");
        for (int i = 0; i < 20; i++) {
            memory.add(user("q" + i), ai("a" + i));
        }
        for (int i = 0; i < 3; i++) {
            memory.add(user("failed " + i));
            ends(log, user("failed " + i), Outcome.failed(null));
        }
        List<ChatMessage> shown = memory.messages();
        assertThat(shown).containsExactly(user("q18"), ai("a18"), user("q19"), ai("a19"));
        counted.reset();

        assertThat(keepsake.chatMemory("x").messages()).isEqualTo(shown);

        assertThat(counted.calls).isEqualTo(1);
        // Four that are shown, three that failed, and one that is mostly needed to read a turn from its beginning.
        assertThat(counted.messagesRead).isEqualTo(8);
    }

    @Test
    void a_summarizer_gets_neither_failed_questions_nor_rejected_answers_and_the_summary_covers_them() {
        List<List<ChatMessage>> told = new ArrayList<>();
        MessageLog log = new InMemoryMessageLog();
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .strategy(Summarization.triggerMessages(6).keepMessages(2))
                .summarizer((previous, messages) -> {
                    told.add(List.copyOf(messages));
                    return "S";
                })
                .executor(Runnable::run)
                .build();
        KeepsakeChatMemory memory = keepsake.chatMemory("x");
        memory.add(user("failed"));
        ends(log, user("failed"), Outcome.failed("x"));
        memory.add(user("transfer"), calls("t"), result("t"), calls("u"));
        ends(log, user("transfer"), Outcome.failed("x"));
        memory.add(user("q"), ai("bad"));
        ends(log, ai("bad"), Outcome.rejected("x"));
        memory.add(ai("good"), user("q2"), ai("a2"));
        keepsake.conversation("x").summarizeNow();

        assertThat(told).containsExactly(List.of(user("transfer"), calls("t"), result("t"), user("q"), ai("good")));
        List<Summary> summaries = keepsake.conversation("x").summaries();
        assertThat(summaries).hasSize(1);
        assertThat(summaries.get(0).replacedMessages()).isEqualTo(8);
        List<ChatMessage> shown = keepsake.chatMemory("x").messages();
        assertThat(shown.subList(1, 3)).containsExactly(user("q2"), ai("a2"));
        assertThat(history(keepsake.conversation("x"))).hasSize(10);
    }

    @Test
    void random_branches_are_shown_as_if_what_ended_badly_did_not_exist() {
        long first = Counts.seed();
        int hidden = 0;
        int rare = 0;
        for (int run = 0; run < Counts.of(60, 20_000); run++) {
            long seed = first + run;
            Random random = new Random(seed);
            List<LoggedMessage> ended = ended(random);
            List<LoggedMessage> rest = RandomOutcomes.shown(ended);
            if (!RandomOutcomes.areSameTurns(ended, rest)) {
                continue;
            }
            hidden += ended.size() - rest.size();
            ContextStrategy strategy = strategy(random);
            MessageLog some = log(ended);
            MessageLog others = log(rest);

            List<ChatMessage> shown = shown(some, strategy);

            List<ChatMessage> expected = shown(others, strategy);
            ContextStrategy whole = context -> strategy.select(strategy.mark(context));
            String as = "-Dkeepsake.seed=" + seed + " " + new Part(null, null, ended);
            assertThat(shown(others, whole)).as(as).isEqualTo(expected);
            assertThat(shown(some, whole)).as(as).isEqualTo(expected);
            // What a result belongs to is not known before its calls are read, unless it carries its question's id.
            boolean results = ended.stream()
                    .anyMatch(message -> message.message() instanceof ToolExecutionResultMessage
                            && message.question() == null
                            && rest.stream().noneMatch(kept -> kept.id().equals(message.id())));
            if (results) {
                rare += shown.equals(expected) ? 0 : 1;
            } else {
                assertThat(shown).as(as).isEqualTo(expected);
            }
        }
        assertThat(rare).isLessThan(2 + Counts.of(60, 20_000) / 1_000);
        assertThat(hidden).isPositive();
    }

    @Tag("landing")
    @Test
    void a_view_does_not_depend_on_how_much_was_read_before() {
        long first = Counts.seed();
        for (int run = 0; run < Counts.of(100, 20_000); run++) {
            Random random = new Random(first + run);
            List<LoggedMessage> ended = ended(random);
            int most = 4 + random.nextInt(12);
            ContextStrategy window = SlidingWindow.withMaxMessages(most).step(1 + random.nextInt(most / 2));
            ContextStrategy strategy = random.nextBoolean() ? window : window.and(strategy(random));
            MessageLog log = new InMemoryMessageLog();
            Keepsake used = Keepsakes.on(log, strategy);
            for (LoggedMessage message : ended) {
                append(log, List.of(message));
                String as = "-Dkeepsake.seed=" + (first + run) + " " + message + " of " + new Part(null, null, ended);
                List<ChatMessage> shown = shown(log, strategy);
                for (int again = 0; again < 2; again++) {
                    assertThat(used.conversation("x").messages()).as(as).isEqualTo(shown);
                }
            }
        }
    }

    /** Returns a random branch some of whose turns ended badly. */
    private static List<LoggedMessage> ended(Random random) {
        TokenCounter counter = TokenCounter.of(new WordCounter());
        List<LoggedMessage> branch =
                RandomBranch.random(random, 1 + random.nextInt(12), counter::count).messages().stream()
                        .filter(message -> !(message.message() instanceof UnknownMessage))
                        .toList();
        return RandomOutcomes.on(branch, random, true);
    }

    private static ContextStrategy strategy(Random random) {
        ContextStrategy messages = SlidingWindow.withMaxMessages(2 + random.nextInt(12));
        ContextStrategy turns = SlidingWindow.withMaxTurns(1 + random.nextInt(5));
        ContextStrategy tokens = TokenLimit.withMaxTokens(40 + random.nextInt(300), new WordCounter());
        return switch (random.nextInt(5)) {
            case 0 -> messages;
            case 1 -> turns;
            case 2 -> tokens;
            case 3 -> messages.and(tokens);
            default -> turns.and(tokens);
        };
    }

    private static MessageLog log(List<LoggedMessage> branch) {
        MessageLog log = new InMemoryMessageLog();
        append(log, branch);
        return log;
    }

    private static void append(MessageLog log, List<LoggedMessage> messages) {
        List<NewMessage> batch = new ArrayList<>();
        for (LoggedMessage message : messages) {
            batch.add(new NewMessage(message.id(), message.message(), message.tokens(), message.tokenCounter(), null)
                    .withOutcome(message.outcome())
                    .ofTurn(message.question()));
        }
        if (!batch.isEmpty()) {
            log.append(KEY, Append.underHead(batch.toArray(NewMessage[]::new)));
        }
    }

    private static List<ChatMessage> shown(MessageLog log, ContextStrategy strategy) {
        return Keepsakes.on(log, strategy).conversation("x").messages();
    }

    @ParameterizedTest
    @Homes
    void usage_of_conversations_and_nodes_is_summed_for_a_tenant(MessageLog log) throws Exception {
        try (MessageLog nodes = new InMemoryMessageLog()) {
            NodeKey node = NodeKey.of("default", "app", "x", "writer");
            Usage usage = new Usage(3, 2, 1);
            NewMessage answer = NewMessage.of(ai("a"), 1, "c").withUsage(usage);
            log.append(KEY, Append.underHead(answer));
            LocalDate today = LocalDate.now(ZoneOffset.UTC);
            LocalDate from = today.minusDays(1);
            LocalDate to = today.plusDays(2);

            Keepsake one = Keepsake.builder().messageLog(log).build();
            assertThat(one.tenant("default").usage(from, to))
                    .extracting(DailyUsage::usage)
                    .containsExactly(usage);
            assertThat(Reads.usage(log, "other", from, to)).isEmpty();
            nodes.append(node, Append.underHead(answer));
            Keepsake both = Keepsake.builder().messageLog(log).nodeLog(nodes).build();
            assertThat(both.tenant("default").usage(from, to))
                    .extracting(DailyUsage::key)
                    .containsExactlyInAnyOrder(KEY, node);
        }
    }
}
