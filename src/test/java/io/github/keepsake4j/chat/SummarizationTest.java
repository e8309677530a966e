package io.github.keepsake4j.chat;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Pinned;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Summaries in a chat. The tests check how they are shown, on which branches, and that every message is soon either
 * shown or covered.
 */
class SummarizationTest {

    private static final JtokkitTokenCountEstimator ESTIMATOR = JtokkitTokenCountEstimator.forModel("gpt-4o");

    /** Small limits: a summary is due with the seventh message, and the newest two messages stay. */
    private static final Summarization SMALL = Summarization.triggerMessages(6).keepMessages(2);

    /** A summarizer whose summaries name the messages that they cover. */
    private static final class Notes implements Summarizer {
        private final List<List<ChatMessage>> asked = new ArrayList<>();
        private final AtomicLong tokensSent = new AtomicLong();

        @Override
        public synchronized String summarize(@Nullable String previous, List<ChatMessage> messages) {
            asked.add(List.copyOf(messages));
            tokensSent.addAndGet(ESTIMATOR.estimateTokenCountInMessages(messages)
                    + (previous == null ? 0 : ESTIMATOR.estimateTokenCountInText(previous)));
            return "S" + asked.size();
        }
    }

    private final Notes notes = new Notes();
    private @Nullable MessageLog log;

    @TempDir
    Path directory;

    @AfterEach
    void close() {
        if (log != null) {
            log.close();
        }
    }

    /** Takes turns of a question and an answer. */
    private static void turns(KeepsakeChatMemory memory, int first, int last) {
        turns(null, memory, first, last);
    }

    /** The same, and waits after each for the summary of a keepsake's memory. */
    private static void turns(@Nullable Keepsake keepsake, KeepsakeChatMemory memory, int first, int last) {
        for (int i = first; i <= last; i++) {
            memory.messages();
            memory.add(user("q" + i));
            memory.add(ai("a" + i));
            if (keepsake != null) {
                await(keepsake, "id");
            }
        }
    }

    @Test
    void a_question_whose_answer_is_covered_is_not_shown_without_it() {
        InMemoryMessageLog all = new InMemoryMessageLog();
        Keepsake keepsake = Keepsake.builder()
                .messageLog(all)
                .strategy(SMALL)
                .summarizer(notes)
                .build();
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        memory.add(user("q"), ai("a"));
        Conversation conversation = keepsake.conversation("id");
        String answer = conversation.branch(1).messages().get(0).id();
        Logs.putSummary(all, conversation.key(), new Summary(answer, "S", 1, "words", 2, 2, null, Instant.EPOCH), 1);

        assertThat(memory.messages()).hasSize(1).allMatch(Summarization::isSummary);
        memory.add(user("next"));
        assertThat(memory.messages().subList(1, 2)).containsExactly(user("next"));
    }

    @ParameterizedTest
    @CsvSource({"4, false", "30, false", "4, true", "30, true"})
    void a_turn_whose_tool_still_runs_continues_although_a_summary_covers_it(int others, boolean isPinned) {
        ContextStrategy pinned = Pinned.messages(message -> false);
        Keepsake keepsake = keepsake(isPinned ? SMALL.and(pinned) : SMALL, notes);
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        memory.add(user("mine"));
        memory.messages();
        memory.add(calls("a"));
        KeepsakeChatMemory other = keepsake.chatMemory("id");
        for (int i = 1; i <= others; i++) {
            other.messages();
            other.add(user("q" + i), ai("a" + i));
            await(keepsake, "id");
        }
        assertThat(keepsake.chatMemory("id").messages()).noneMatch(user("mine")::equals);

        memory.add(result("a"));

        assertThat(memory.messages()).endsWith(user("mine"), calls("a"), result("a"));
    }

    @Test
    void old_turns_become_a_summary_behind_the_system_message() {
        Keepsake keepsake = keepsake(SMALL, notes);
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        memory.add(SystemMessage.from("Be brief"));
        turns(memory, 1, 4);
        await(keepsake, "id");

        List<ChatMessage> shown = keepsake.chatMemory("id").messages();
        assertThat(shown).hasSize(4);
        assertThat(shown.get(0)).isEqualTo(SystemMessage.from("Be brief"));
        assertThat(((UserMessage) shown.get(1)).singleText()).isEqualTo(Summarization.MARKER + "S1");
        assertThat(shown.subList(2, 4)).containsExactly(user("q4"), ai("a4"));
        assertThat(notes.asked).hasSize(1);
        Summary summary = keepsake.conversation("id").summaries().get(0);
        assertThat(summary.replacedMessages()).isBetween(6L, 7L);
        assertThat(keepsake.conversation("id").explain().shown()).hasSize(4);
    }

    @Test
    void an_explanation_names_the_last_message_that_the_shown_summary_covers() {
        Keepsake keepsake = keepsake(SMALL, notes);
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        Conversation conversation = keepsake.conversation("id");
        memory.add(user("q0"), ai("a0"));
        assertThat(conversation.explain().summarizedUpTo()).isNull();
        assertThat(conversation.explain().toString()).doesNotContain("summary");
        String first = conversation.branch(10).messages().get(0).id();
        turns(memory, 1, 3);
        await(keepsake, "id");

        String covered = conversation.summaries().get(0).coversUpTo();
        assertThat(conversation.explain().summarizedUpTo()).isEqualTo(covered);
        assertThat(conversation.explain().toString()).contains("a summary covers all up to message " + covered);
        conversation.append(Parent.of(first), Ids.next(), ai("regenerated inside what it covers"));
        assertThat(conversation.explain().summarizedUpTo()).isNull();
    }

    @Test
    void a_strategy_with_summaries_needs_a_summarizer() {
        assertThrown(InvalidInputException.class, () -> Keepsakes.on(new InMemoryMessageLog(), SMALL), "summarizer");
        Keepsake without = keepsake(SlidingWindow.withMaxMessages(5), null);
        assertThrown(
                InvalidInputException.class, () -> without.conversation("id").summarizeNow(), "summarizer");
    }

    @Test
    void a_summary_is_due_when_another_limit_cuts_what_none_covers() {
        Keepsake keepsake = keepsake(
                Summarization.triggerMessages(1000).keepMessages(500).and(SlidingWindow.withMaxMessages(5)), notes);
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        for (int i = 1; i <= 20; i++) {
            memory.messages();
            memory.add(user("q" + i));
            memory.add(ai("a" + i));
            await(keepsake, "id");
            assertEverythingIsShownOrCovered(keepsake, "id");
            assertThat(keepsake.conversation("id").messages()).hasSizeLessThanOrEqualTo(5);
        }
        assertThat(notes.asked).hasSizeLessThanOrEqualTo(20);
    }

    @Test
    void a_conversation_from_before_is_summarized_from_its_beginning() {
        Keepsake before = keepsake(SlidingWindow.withMaxMessages(5), null);
        KeepsakeChatMemory old = before.chatMemory("id");
        List<ChatMessage> batch = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            batch.addAll(List.of(user("q" + i), ai("a" + i)));
        }
        old.add(batch);
        Keepsake keepsake = keepsakeOn(before, SMALL, notes);

        assertThat(keepsake.conversation("id").summarizeNow()).isBetween(4, 10);

        List<ChatMessage> asked = notes.asked.stream().flatMap(List::stream).toList();
        assertThat(asked).isEqualTo(batch.subList(0, asked.size()));
        assertEverythingIsShownOrCovered(keepsake, "id");
        assertThat(keepsake.conversation("id").summarizeNow()).isZero();
    }

    @Test
    void each_branch_shows_the_summary_that_holds_on_it() {
        Keepsake keepsake = keepsake(SMALL, notes);
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        turns(keepsake, memory, 1, 7);
        Conversation conversation = keepsake.conversation("id");
        List<LoggedMessage> all = conversation.history(HistoryQuery.oldest(100)).messages();
        List<Summary> summaries = conversation.summaries();
        assertThat(summaries).hasSize(2);
        String newest = all.get(all.size() - 1).id();
        String first = all.get(0).id();
        String beforeSecond = summaries.get(1).coversUpTo();
        assertThat(summaryShown(conversation)).isEqualTo("S2");

        conversation.append(Parent.of(newest), Ids.next(), user("after the covered range"));
        assertThat(summaryShown(conversation)).isEqualTo("S2");
        conversation.append(Parent.of(first), Ids.next(), ai("regenerated inside what the first covers"));
        assertThat(summaryShown(conversation)).isNull();
        assertThat(conversation.messages()).containsExactly(user("q1"), ai("regenerated inside what the first covers"));
        String inside = parentOf(all, beforeSecond);
        conversation.append(Parent.of(inside), Ids.next(), user("inside what the second covers"));
        assertThat(summaryShown(conversation)).isEqualTo("S1");
        conversation.switchTo(newest);
        assertThat(summaryShown(conversation)).isEqualTo("S2");
        await(keepsake, "id");
        assertThat(conversation.summaries()).hasSize(2);
    }

    @Test
    void what_arrives_while_the_model_thinks_stays_in_sight() throws InterruptedException {
        CountDownLatch thinking = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Keepsake keepsake = keepsake(SMALL, (previous, messages) -> {
            thinking.countDown();
            awaitLatch(go);
            return "S";
        });
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        turns(memory, 1, 4);
        thinking.await();
        List<ChatMessage> late = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            late.addAll(List.of(user("late " + i), ai("late answer " + i)));
        }
        memory.add(late.subList(0, 4));
        assertThat(keepsake.conversation("id").messages()).endsWith(late.get(2), late.get(3));
        memory.add(late.subList(4, 20));
        go.countDown();
        await(keepsake, "id");

        assertThat(io.github.keepsake4j.testing.Dialogue.history(keepsake.conversation("id")))
                .hasSize(28)
                .endsWith(late.get(18), late.get(19));
        assertEverythingIsShownOrCovered(keepsake, "id");
    }

    @Test
    void a_framework_that_writes_back_what_it_was_shown_neither_stores_nor_doubles_the_summary() {
        for (Summarization.Role role : Summarization.Role.values()) {
            Keepsake keepsake = keepsake(SMALL.shownAs(role), notes);
            String id = "id " + role;
            KeepsakeChatMemory memory = keepsake.chatMemory(id);
            memory.add(SystemMessage.from("Be brief"));
            turns(memory, 1, 4);
            await(keepsake, id);
            List<ChatMessage> shown = memory.messages();
            long stored = history(keepsake, id).size();

            memory.set(shown);
            assertThat(memory.messages()).isEqualTo(shown);
            // A guardrail that removes the last answer does this.
            memory.clear();
            shown.subList(0, 3).forEach(memory::add);
            assertThat(memory.messages()).isEqualTo(shown.subList(0, 3));
            memory.set(shown.subList(1, 3));
            assertThat(memory.messages()).isEqualTo(shown.subList(1, 3));
            assertThat(history(keepsake, id)).hasSize((int) stored);
            memory.set(List.of(shown.get(2)));
            assertThat(memory.messages())
                    .as("who drops the summary has it dropped")
                    .containsExactly(shown.get(2));
            memory.add(ai("go on"));
            assertThat(keepsake.chatMemory(id).messages()).containsExactly(shown.get(2), ai("go on"));
            assertThat(history(keepsake, id)).hasSize((int) stored + 1).noneMatch(Summarization::isSummary);
        }
    }

    @Test
    void after_a_view_was_set_the_summary_goes_on_from_it() {
        Keepsake keepsake = keepsake(SMALL, notes);
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        turns(memory, 1, 4);
        await(keepsake, "id");
        List<ChatMessage> shown = memory.messages();
        memory.clear();
        shown.subList(0, shown.size() - 1).forEach(memory::add);
        turns(keepsake, memory, 5, 9);

        assertThat(notes.asked.stream().flatMap(List::stream))
                .startsWith(user("q1"), ai("a1"))
                .contains(user("q4"), user("q5"))
                .doesNotContain(ai("a4"))
                .doesNotHaveDuplicates();
        assertThat(summaryShown(keepsake.conversation("id"))).isEqualTo("S" + notes.asked.size());
    }

    @Test
    void what_a_limit_cuts_off_a_list_that_was_set_is_covered_with_the_first_turn_behind_it() {
        Keepsake keepsake = keepsake(
                Summarization.triggerMessages(1000).keepMessages(500).and(SlidingWindow.withMaxMessages(10)), notes);
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        List<ChatMessage> all = new ArrayList<>(List.of(user("hidden"), ai("soon")));
        memory.add(all);
        all.clear();
        for (int i = 1; i <= 8; i++) {
            all.addAll(List.of(user("q" + i), ai("a" + i)));
        }
        memory.set(all);
        for (int i = 9; i <= 30; i++) {
            memory.messages();
            all.addAll(List.of(user("q" + i), ai("a" + i)));
            memory.add(all.subList(all.size() - 2, all.size()));
            await(keepsake, "id");

            List<ChatMessage> shown = keepsake.conversation("id").messages();
            List<ChatMessage> covered =
                    notes.asked.stream().flatMap(List::stream).toList();
            assertThat(shown).hasSizeLessThanOrEqualTo(10);
            assertThat(covered).doesNotHaveDuplicates().isEqualTo(all.subList(0, covered.size()));
            assertThat(shown).containsAll(all.subList(covered.size(), all.size()));
        }
        assertThat(notes.asked).hasSizeLessThan(15);
    }

    @ParameterizedTest
    @ValueSource(strings = {"in memory", "sqlite", "postgres"})
    void what_is_pinned_stays_in_sight_though_a_summary_covers_it(String where) throws Exception {
        ContextStrategy pinned = Pinned.messages(logged -> logged.message().equals(user("q2")));
        Keepsake keepsake = keepsake(open(where), SMALL.and(pinned), notes);
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        for (int i = 1; i <= 12; i++) {
            memory.messages();
            memory.add(List.of(user("q" + i), ai("a" + i)));
            await(keepsake, "id");
        }

        assertThat(summaryShown(keepsake.conversation("id"))).isEqualTo("S" + notes.asked.size());
        assertThat(memory.messages())
                .contains(user("q2"), ai("a2"), user("q12"))
                .doesNotContain(user("q1"), user("q3"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"in memory", "sqlite", "postgres", "s3"})
    void five_hundred_turns_stay_within_the_limit_and_in_sight_or_covered(String where) throws Exception {
        int turns = Counts.of(where.equals("in memory") ? 200 : 60, 500);
        Summarization tokens =
                Summarization.triggerTokens(4000).keepTokens(1000).countedBy(ESTIMATOR);
        AtomicInteger calls = new AtomicInteger();
        AtomicLong sent = new AtomicLong();
        AtomicLong folded = new AtomicLong();
        Random random = new Random(7);
        Summarizer scripted = (previous, messages) -> {
            calls.incrementAndGet();
            folded.addAndGet(ESTIMATOR.estimateTokenCountInMessages(messages));
            sent.addAndGet(ESTIMATOR.estimateTokenCountInMessages(messages)
                    + (previous == null ? 0 : ESTIMATOR.estimateTokenCountInText(previous)));
            return "summary " + calls + " fact".repeat(300);
        };
        MessageLog opened = open(where);
        Keepsake keepsake = Keepsake.builder()
                .messageLog(opened)
                .strategy(tokens.and(TokenLimit.withMaxTokens(6000, ESTIMATOR)))
                .summarizer(scripted)
                .build();
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        for (int turn = 0; turn < turns; turn++) {
            memory.add(SystemMessage.from("Be brief"));
            assertThat(ESTIMATOR.estimateTokenCountInMessages(memory.messages()))
                    .isLessThanOrEqualTo(6000);
            memory.add(user("question " + turn + " word".repeat(random.nextInt(80))));
            if (turn % 10 == 3) {
                memory.add(calls("c" + turn, "d" + turn));
                memory.add(result("c" + turn));
                memory.add(result("d" + turn));
                assertThat(ESTIMATOR.estimateTokenCountInMessages(memory.messages()))
                        .isLessThanOrEqualTo(6000);
            }
            memory.add(ai("answer " + turn + " word".repeat(random.nextInt(150))));
            await(keepsake, "id");
            assertEverythingIsShownOrCovered(keepsake, "id");
        }
        assertThat((double) sent.get() / folded.get()).isLessThanOrEqualTo(1.3);
    }

    /** Checks that each message except the system message is in the view or covered once the worker is idle. */
    private static void assertEverythingIsShownOrCovered(Keepsake keepsake, String id) {
        Conversation conversation = keepsake.conversation(id);
        List<Summary> summaries = conversation.summaries();
        Set<String> shown = new HashSet<>();
        conversation.context().logged().forEach(message -> shown.add(message.id()));
        List<LoggedMessage> branch = conversation.branch(Integer.MAX_VALUE).messages();
        String covered =
                summaries.isEmpty() ? null : summaries.get(summaries.size() - 1).coversUpTo();
        int from = 0;
        for (int i = 0; i < branch.size(); i++) {
            from = branch.get(i).id().equals(covered) ? i + 1 : from;
        }
        assertThat(branch.subList(from, branch.size()).stream()
                        .filter(message -> !(message.message() instanceof SystemMessage))
                        .map(LoggedMessage::id))
                .allMatch(shown::contains);
    }

    private static @Nullable String summaryShown(Conversation conversation) {
        return conversation.messages().stream()
                .filter(Summarization::isSummary)
                .map(message -> ((UserMessage) message).singleText().substring(Summarization.MARKER.length()))
                .findFirst()
                .orElse(null);
    }

    private static String parentOf(List<LoggedMessage> all, String id) {
        return all.stream()
                .filter(message -> message.id().equals(id))
                .map(LoggedMessage::parentId)
                .findFirst()
                .orElseThrow();
    }

    private static List<ChatMessage> history(Keepsake keepsake, String id) {
        return io.github.keepsake4j.testing.Dialogue.history(keepsake.conversation(id));
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(Keepsake keepsake, String id) {
        Awaitility.await()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(2))
                .until(() -> keepsake.conversation(id).isSummarized());
    }

    private MessageLog open(String where) throws Exception {
        log = switch (where) {
            case "sqlite" -> SqliteMessageLog.open(directory.resolve("chat.db"));
            case "postgres" ->
                Postgres.log(Postgres.newest().kept(Postgres.newest().newDatabase()));
            case "s3" ->
                S3MessageLog.connect(
                        S3Server.shared().endpoint(),
                        S3Server.REGION,
                        S3Server.ACCESS_KEY,
                        S3Server.SECRET_KEY,
                        S3Server.shared().newBucket());
            default -> new InMemoryMessageLog();
        };
        return log;
    }

    private Keepsake keepsake(ContextStrategy strategy, @Nullable Summarizer summarizer) {
        log = new InMemoryMessageLog();
        return keepsake(log, strategy, summarizer);
    }

    private Keepsake keepsakeOn(Keepsake before, ContextStrategy strategy, Summarizer summarizer) {
        return keepsake(java.util.Objects.requireNonNull(log), strategy, summarizer);
    }

    private static Keepsake keepsake(MessageLog log, ContextStrategy strategy, @Nullable Summarizer summarizer) {
        Keepsake.Builder builder =
                Keepsake.builder().messageLog(log).strategy(strategy).tokenCountEstimator(ESTIMATOR);
        return (summarizer == null ? builder : builder.summarizer(summarizer)).build();
    }
}
