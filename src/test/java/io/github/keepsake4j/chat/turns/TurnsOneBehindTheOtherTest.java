package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.toolCall;
import static io.github.keepsake4j.chat.turns.Talk.ID;
import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.service.AiServices;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.TestClock;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.TrueReasons;
import io.github.keepsake4j.turn.Turn;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the requests of turns show that run at the same time, and how these turns are shown later. */
@Timeout(1800)
class TurnsOneBehindTheOtherTest {

    private static final String BEFORE = "U(zero), A(a0), U(one), A(a1)";
    private static final String OWN = ", U(two), C(t), R(t)";

    @TempDir
    Path directory;

    /** What others do while the tool of the question two runs, and what is shown after its answer. */
    enum Others {
        CLEAR("") {
            @Override
            void by(Talk talk) {
                talk.other.chatMemory(ID).clear();
            }
        },
        SET("U(list), A(set)") {
            @Override
            void by(Talk talk) {
                talk.other.chatMemory(ID).set(List.of(user("list"), ai("set")));
            }
        },
        TURN(BEFORE + ", U(three), A(a3)" + OWN + ", A(a2)") {
            @Override
            void by(Talk talk) {
                talk.chat("three", "a3");
            }
        },
        TURN_WITH_TOOL(BEFORE + ", U(three), C(x), R(x), A(a3)" + OWN + ", A(a2)") {
            @Override
            void by(Talk talk) {
                talk.chat("three", toolCall("x"), "a3");
            }
        },
        FAILED_TURN(BEFORE + OWN + ", A(a2)") {
            @Override
            void by(Talk talk) {
                Tab tab = talk.tab(talk.other);
                tab.ask("three");
                tab.fails();
            }
        },
        MESSAGES_OF_NO_TURN(BEFORE + ", U(three), A(a3)" + OWN + ", A(a2)") {
            @Override
            void by(Talk talk) {
                talk.other.chatMemory(ID).add(user("three"));
                talk.other.chatMemory(ID).add(ai("a3"));
            }
        };

        final String view;

        Others(String view) {
            this.view = view;
        }

        abstract void by(Talk talk);
    }

    static Stream<Arguments> everywhere() {
        return Home.ofThisRun()
                .flatMap(home -> Arrays.stream(Others.values()).map(others -> Arguments.of(home, others)));
    }

    @ParameterizedTest
    @Tag("homes")
    @MethodSource("everywhere")
    void a_request_shows_what_was_shown_before_its_question_and_its_own_rounds_whatever_others_do(
            Home home, Others others) throws Exception {
        try (Talk talk = Talk.on(home)) {
            talk.chat("zero", "a0");
            talk.chat("one", "a1");
            Tab tab = talk.tab().holdingTool();
            tab.ask("two");
            tab.reply(toolCall("t"));
            tab.awaitTool();
            others.by(talk);

            assertThat(tab.toolEnds()).isEqualTo(BEFORE + OWN);
            assertThat(tab.replyThenRequest(toolCall("u"))).isEqualTo(BEFORE + OWN + ", C(u), R(u)");
            tab.ends("a2");

            talk.goesOn(others.view.replace(OWN, OWN + ", C(u), R(u)"));
        }
    }

    /** A tool that works on the memory of its own turn. */
    private static final class OwnMemory {
        private final List<ChatMemory> memories = new CopyOnWriteArrayList<>();
        private final Consumer<ChatMemory> work;

        OwnMemory(Consumer<ChatMemory> work) {
            this.work = work;
        }

        @Tool
        String tool() {
            work.accept(memories.get(memories.size() - 1));
            return "done";
        }

        /** Asks "one", and returns the last request. */
        String lastRequest(Talk talk, Object... replies) {
            ChatMemoryProvider provider = talk.keepsake.chatMemoryProvider();
            Script model = new Script(replies);
            talk.keepsake
                    .attach(AiServices.builder(EndingTurns.Assistant.class).chatMemoryProvider(id -> {
                        memories.add(provider.get(id));
                        return memories.get(memories.size() - 1);
                    }))
                    .chatModel(model)
                    .tools(this)
                    .build()
                    .chat(ID, "one");
            return model.lastRequest();
        }
    }

    /** As a compaction does. */
    private static void shorten(ChatMemory own) {
        List<ChatMessage> list = own.messages();
        ((KeepsakeChatMemory) own).set(list.subList(list.size() - 2, list.size()));
    }

    @Test
    void the_list_that_a_turn_sets_itself_is_what_its_next_request_shows() {
        try (Talk talk = Talk.inMemory()) {
            talk.chat("zero", "a0");
            assertThat(new OwnMemory(TurnsOneBehindTheOtherTest::shorten).lastRequest(talk, toolCall("t"), "a1"))
                    .isEqualTo("U(one), C(t), R(t)");
            talk.goesOn("U(one), C(t), R(t), A(a1)");
        }
    }

    @ParameterizedTest
    @Homes
    void two_questions_at_once_are_shown_with_their_answers_in_the_order_in_which_they_ended(Home home)
            throws Exception {
        for (boolean firstEndsFirst : new boolean[] {true, false}) {
            try (Talk talk = Talk.on(home)) {
                Tab one = talk.tab();
                Tab two = talk.tab(talk.other);
                assertThat(one.ask("one")).isEqualTo("U(one)");
                assertThat(two.ask("two")).isEqualTo("U(two)");
                if (firstEndsFirst) {
                    one.ends("a1");
                }
                two.ends("a2");
                if (!firstEndsFirst) {
                    one.ends("a1");
                }

                talk.goesOn(firstEndsFirst ? "U(one), A(a1), U(two), A(a2)" : "U(two), A(a2), U(one), A(a1)");
            }
        }
    }

    @ParameterizedTest
    @Homes
    void no_turn_reads_the_others_call_and_no_answer_is_missing(Talk talk) throws Exception {
        Tab one = talk.tab();
        Tab two = talk.tab(talk.other).holdingTool();
        one.ask("one");
        two.ask("two");
        two.reply(toolCall("x"));
        two.awaitTool();

        assertThat(one.replyThenRequest(toolCall("c"))).isEqualTo("U(one), C(c), R(c)");
        assertThat(two.toolEnds()).isEqualTo("U(two), C(x), R(x)");
        two.ends("a2");
        assertThat(one.replyThenRequest(toolCall("d"))).isEqualTo("U(one), C(c), R(c), C(d), R(d)");
        one.ends("a1");

        talk.goesOn("U(two), C(x), R(x), A(a2), U(one), C(c), R(c), C(d), R(d), A(a1)");
        assertThat(talk.conversation().explain().omitted()).isEmpty();
    }

    @ParameterizedTest
    @Homes
    void a_turn_that_runs_is_shown_with_its_rounds_and_moves_once_when_it_ends(Talk talk) throws Exception {
        Tab one = talk.tab();
        one.ask("one");
        assertThat(talk.chat("before", "b")).isEqualTo("U(before)");
        one.replyThenRequest(toolCall("c"));
        assertThat(talk.chat("two", "a2")).isEqualTo("U(before), A(b), U(one), C(c), R(c), U(two)");
        one.replyThenRequest(toolCall("d"));
        assertThat(talk.chat("three", "a3"))
                .isEqualTo("U(before), A(b), U(one), C(c), R(c), C(d), R(d), U(two), A(a2), U(three)");
        one.ends("a1");

        talk.goesOn("U(before), A(b), U(two), A(a2), U(three), A(a3), U(one), C(c), R(c), C(d), R(d), A(a1)");
    }

    @Test
    void what_was_sent_stays_a_prefix_although_older_questions_are_answered_later() {
        try (Talk talk = Talk.inMemory()) {
            List<String> sent = new ArrayList<>();
            Tab before = talk.tab();
            before.ask("q0");
            for (int i = 1; i < 12; i++) {
                Tab tab = talk.tab(i % 2 == 0 ? talk.keepsake : talk.other);
                String request = tab.ask("q" + i);
                sent.add(request.replaceFirst("(, )?U\\(q" + i + "\\)$", ""));
                before.ends("a" + (i - 1));
                before = tab;
            }
            before.ends("a11");

            for (int i = 1; i < sent.size(); i++) {
                assertThat(sent.get(i)).startsWith(sent.get(i - 1));
            }
            assertThat(sent.get(10)).endsWith("U(q8), A(a8), U(q9), A(a9)");
        }
    }

    /** One turn of a random program, and what is known of it. */
    private static final class Running {
        final Tab tab;
        final List<String> rounds = new ArrayList<>();
        final String question;
        final int most;
        String before;
        int place;

        Running(Tab tab, int number, int most) {
            this.tab = tab;
            this.question = "q" + number;
            this.most = most;
        }

        String text() {
            return "U(" + question + ")"
                    + rounds.stream().map(round -> ", " + round).collect(Collectors.joining());
        }
    }

    @Test
    void turns_that_are_interleaved_at_random_are_whole_and_stand_in_the_order_in_which_they_ended() {
        long first = Counts.seed();
        for (int run = 0; run < Counts.of(20, 1_000); run++) {
            Random random = new Random(first + run);
            try (Talk talk = Talk.inMemory()) {
                List<Running> open = new ArrayList<>();
                List<Running> visible = new ArrayList<>();
                int asked = 0;
                for (int step = 1; asked < 8 || !open.isEmpty(); step++) {
                    if (asked < 8 && (open.isEmpty() || (open.size() < 4 && random.nextInt(3) == 0))) {
                        Running turn = new Running(
                                talk.tab(random.nextBoolean() ? talk.keepsake : talk.other),
                                asked++,
                                random.nextInt(3));
                        turn.before = visible.stream()
                                .sorted(Comparator.comparingInt(other -> other.place))
                                .map(other -> other.text() + ", ")
                                .collect(Collectors.joining());
                        assertThat(turn.tab.ask(turn.question))
                                .as("seed %d", first + run)
                                .isEqualTo(turn.before + turn.text());
                        open.add(turn);
                        continue;
                    }
                    Running turn = open.get(random.nextInt(open.size()));
                    if (turn.rounds.size() < turn.most) {
                        String call = turn.question + "-" + turn.rounds.size();
                        turn.rounds.add("C(" + call + "), R(" + call + ")");
                        assertThat(turn.tab.replyThenRequest(toolCall(call)))
                                .as("seed %d", first + run)
                                .isEqualTo(turn.before + turn.text());
                        turn.place = turn.place == 0 ? step : turn.place;
                    } else {
                        turn.tab.ends("answer to " + turn.question);
                        turn.rounds.add("A(answer to " + turn.question + ")");
                        turn.place = step;
                        open.remove(turn);
                    }
                    visible.remove(turn);
                    visible.add(turn);
                }
                assertThat(EndingTurns.view(talk.other, ID))
                        .as("seed %d", first + run)
                        .isEqualTo(visible.stream()
                                .sorted(Comparator.comparingInt(turn -> turn.place))
                                .map(Running::text)
                                .collect(Collectors.joining(", ")));
                assertThat(talk.conversation().explain().omitted()).isEmpty();
                talk.assertValid();
            }
        }
    }

    @ParameterizedTest
    @Homes
    void a_list_that_was_set_keeps_its_order(Talk talk) throws Exception {
        Tab one = talk.tab();
        one.ask("one");
        talk.chat("two", "a2");
        one.ends("a1");
        List<ChatMessage> list = List.of(user("one"), ai("a1"), user("two"), ai("a2"));
        talk.other.chatMemory(ID).set(list);

        talk.goesOn("U(one), A(a1), U(two), A(a2)");
    }

    /** Keeps what a summarizer is given. */
    private static UnaryOperator<Keepsake.Builder> summarized(List<List<ChatMessage>> told, int trigger, int keep) {
        return builder -> builder.strategy(
                        Summarization.triggerMessages(trigger).keepMessages(keep))
                .executor(Runnable::run)
                .summarizer((previous, messages) -> {
                    told.add(List.copyOf(messages));
                    return "S";
                });
    }

    private static String asTold(List<List<ChatMessage>> told) {
        return told.stream().map(EndingTurns::text).collect(Collectors.joining(" | "));
    }

    /** Asserts that the summarizer gets each question together with its answer. */
    private static void assertPairs(List<List<ChatMessage>> told) {
        for (List<ChatMessage> messages : told) {
            List<String> questions = new ArrayList<>();
            List<String> answers = new ArrayList<>();
            for (ChatMessage message : messages) {
                if (message instanceof UserMessage question) {
                    questions.add(question.singleText());
                } else if (message instanceof AiMessage answer) {
                    answers.add(answer.text().replace("answer to ", ""));
                }
            }
            assertThat(questions).as(asTold(told)).isEqualTo(answers);
        }
    }

    @Test
    void a_summary_that_covers_a_question_shows_no_answer_to_it_and_the_next_one_is_told_both() {
        List<List<ChatMessage>> told = new CopyOnWriteArrayList<>();
        try (Talk talk = Talk.inMemory(summarized(told, 6, 2))) {
            Tab late = talk.tab();
            late.ask("late");
            for (int i = 0; i < 4; i++) {
                talk.chat("q" + i, "answer to q" + i);
            }
            talk.conversation().summarizeNow();
            assertThat(told).isNotEmpty();
            assertThat(asTold(told)).doesNotContain("late");

            late.ends("answer to late");

            List<ChatMessage> shown = talk.conversation().messages();
            assertThat(Talk.pairs(shown)).as(EndingTurns.text(shown)).isEmpty();
            assertThat(EndingTurns.text(shown).contains("A(answer to late)"))
                    .isEqualTo(EndingTurns.text(shown).contains("U(late)"));
            if (!EndingTurns.text(shown).contains("U(late)")) {
                assertThat(talk.reason("A(answer to late)")).isEqualTo("NO_QUESTION");
            }
            for (int i = 4; i < 10; i++) {
                talk.chat("q" + i, "answer to q" + i);
            }
            talk.conversation().summarizeNow();
            assertPairs(told);
            assertThat(asTold(told)).containsOnlyOnce("U(late)").containsOnlyOnce("A(answer to late)");
            talk.assertValid();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void turns_that_always_overlap_get_summaries_and_no_question_is_separated_from_its_answer(int atOnce) {
        List<List<ChatMessage>> told = new CopyOnWriteArrayList<>();
        int turns = 200;
        try (Talk talk = Talk.inMemory(summarized(told, 12, 4))) {
            List<Tab> open = new ArrayList<>();
            for (int i = 0; i < turns; i++) {
                Tab tab = talk.tab(i % 2 == 0 ? talk.keepsake : talk.other);
                tab.ask("q" + i);
                open.add(tab);
                if (open.size() == atOnce) {
                    open.remove(0).ends("answer to q" + (i - atOnce + 1));
                }
            }
            assertPairs(told);
            assertThat(told.size()).as("summaries").isGreaterThanOrEqualTo(turns * 2 / 12 / 2);
            talk.assertValid();
            List<ChatMessage> shown = talk.conversation().messages();
            assertThat(shown.size()).as(EndingTurns.text(shown)).isLessThan(30);
            assertThat(asTold(told)).contains("U(q0), A(answer to q0)").contains("U(q150), A(answer to q150)");
        }
    }

    /** Makes a row unreadable, as a fault of a disk does. */
    private void damage(Path file, String id) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                PreparedStatement update = connection.prepareStatement(
                        "UPDATE keepsake_message SET message = '{\"type\":' WHERE id = ?")) {
            update.setString(1, id);
            assertThat(update.executeUpdate()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"U(one)", "A(a1)"})
    void after_a_repair_a_turn_whose_question_or_last_answer_is_unreadable_leaves_whole(String damaged)
            throws Exception {
        Path file = directory.resolve("chat.db");
        try (Talk talk = Talk.on(SqliteMessageLog.open(file), builder -> builder)) {
            talk.chat("zero", "a0");
            talk.chat("one", toolCall("t"), "a1");
            talk.chat("two", "a2");
            List<String> readable = new ArrayList<>(List.of("U(one)", "C(t)", "R(t)", "A(a1)"));
            readable.remove(damaged);
            damage(file, talk.id(damaged));
            try (Talk repaired = Talk.on(SqliteMessageLog.open(file), builder -> builder)) {
                assertThat(repaired.conversation().check()).isNotEmpty();
                repaired.conversation().repair();

                repaired.shows("U(zero), A(a0), U(two), A(a2)");
                assertThat(repaired.logged()).hasSize(8);
                for (String text : readable) {
                    assertThat(repaired.reason(text)).as(text).isEqualTo("UNREADABLE");
                }
                repaired.goesOn("U(zero), A(a0), U(two), A(a2)");
            }
        }
    }

    @Test
    void after_a_repair_no_question_is_answered_by_the_answer_to_another_one() throws Exception {
        long first = Counts.seed();
        for (int run = 0; run < Counts.of(20, 200); run++) {
            Random random = new Random(first + run);
            Path file = Files.createTempDirectory(directory, "run").resolve("chat.db");
            List<String> kept = new ArrayList<>();
            try (Talk talk = Talk.on(SqliteMessageLog.open(file), builder -> builder)) {
                List<String> damaged = new ArrayList<>();
                for (int turn = 0; turn < 6; turn++) {
                    String exchange = "U(q" + turn + "), A(a" + turn + ")";
                    talk.chat("q" + turn, "a" + turn);
                    switch (random.nextInt(4)) {
                        case 0 -> damaged.add(talk.id("U(q" + turn + ")"));
                        case 1 -> damaged.add(talk.id("A(a" + turn + ")"));
                        default -> kept.add(exchange);
                    }
                }
                for (String id : damaged) {
                    damage(file, id);
                }
            }
            try (Talk repaired = Talk.on(SqliteMessageLog.open(file), builder -> builder)) {
                repaired.conversation().repair();
                assertThat(EndingTurns.text(repaired.conversation().messages()))
                        .as("seed %d", first + run)
                        .isEqualTo(String.join(", ", kept));
                repaired.goesOn(String.join(", ", kept));
            }
        }
    }

    @ParameterizedTest
    @Homes
    void a_custom_message_before_the_first_question_is_sent(Talk talk) throws Exception {
        talk.other.chatMemory(ID).add(CustomMessage.from(Map.of("key", "value")));

        assertThat(talk.chat("one", "a1")).isEqualTo("CUSTOM, U(one)");
        assertThat(talk.chat("two", "a2")).isEqualTo("CUSTOM, U(one), A(a1), U(two)");
    }

    @Test
    void an_assistant_message_before_the_first_question_is_not_sent_and_the_reason_is_true() {
        try (Talk talk = Talk.inMemory()) {
            talk.other.chatMemory(ID).add(ai("welcome"));

            assertThat(talk.chat("one", "a1")).isEqualTo("U(one)");
            assertThat(talk.reason("A(welcome)")).isIn("NO_USER_MESSAGE", "NO_QUESTION");
        }
    }

    @Test
    void a_question_that_was_answered_by_hand_is_not_marked_as_killed() {
        TestClock time = new TestClock();
        try (Talk talk = Talk.on(new InMemoryMessageLog(time), builder -> builder)) {
            talk.tab().ask("one");
            talk.other.chatMemory(ID).add(ai("hand"));
            time.advance(Duration.ofMinutes(20));

            assertThat(talk.chat("two", "a2")).isEqualTo("U(one), A(hand), U(two)");
            assertThat(talk.message("U(one)").outcome()).isNull();
            talk.goesOn("U(one), A(hand), U(two), A(a2)");
        }
    }

    @Test
    void an_assistant_message_that_is_added_behind_a_summary_leaves_the_view_as_it_is() {
        Summarizer summarizer = (previous, messages) -> "S";
        ContextStrategy strategy = Summarization.triggerMessages(8).keepMessages(4);
        try (Talk talk = Talk.on(
                new InMemoryMessageLog(),
                builder -> builder.strategy(strategy).summarizer(summarizer).executor(Runnable::run))) {
            for (int turn = 0; turn < 6; turn++) {
                talk.chat("q" + turn, "a" + turn);
            }
            List<ChatMessage> before = talk.conversation().messages();
            assertThat(before).hasSizeGreaterThan(2).anyMatch(Summarization::isSummary);

            talk.other.chatMemory(ID).add(ai("by the way"));

            List<ChatMessage> expected = new ArrayList<>(before);
            expected.add(ai("by the way"));
            assertThat(talk.conversation().messages()).isEqualTo(expected);
        }
    }

    @Test
    void the_requests_of_a_turn_that_clears_its_memory_have_its_rounds_in_order() {
        try (Talk talk = Talk.inMemory()) {
            talk.chat("zero", "a0");
            assertThat(new OwnMemory(ChatMemory::clear).lastRequest(talk, toolCall("t"), toolCall("u"), "a1"))
                    .isEqualTo("U(one), C(t), R(t), C(u), R(u)");
        }
    }

    @ParameterizedTest
    @Homes
    void an_answer_is_regenerated_on_a_named_branch_while_the_head_is_elsewhere(Talk talk) throws Exception {
        talk.chat("zero", "a0");
        talk.tab().chat(ID, "x", Turn.on("tab"), "ax");
        talk.chat("one", "a1");
        String answer = talk.message("A(ax)").id();
        talk.tab(talk.other).chat(ID, "x", Turn.regenerate(answer).onBranch("tab"), "ax2");

        assertThat(talk.named("tab")).isEqualTo("U(zero), A(a0), U(x), A(ax2)");
    }

    @Test
    void a_question_without_an_answer_returns_with_it_and_each_reason_is_true_on_the_way() {
        try (Talk talk = Talk.inMemory()) {
            Tab one = talk.tab();
            one.ask("one");
            Tab two = talk.tab(talk.other);
            two.ask("two");
            assertThat(talk.reason("U(one)")).isEqualTo("UNANSWERED_QUESTION");
            assertTrue(talk);
            one.replyThenRequest(toolCall("c"));
            assertThat(talk.reason("U(one)")).isNull();
            assertTrue(talk);
            two.fails();
            assertThat(talk.reason("U(two)")).isEqualTo("FAILED");
            assertTrue(talk);
            one.ends("a1");
            talk.shows("U(one), C(c), R(c), A(a1)");
            talk.tab().chat(ID, "two", Turn.retry(talk.id("U(two)")), "a2");
            talk.goesOn("U(one), C(c), R(c), A(a1), U(two), A(a2)");
        }
    }

    private static void assertTrue(Talk talk) {
        assertThat(TrueReasons.untrue(talk.conversation())).isEmpty();
        Explanation explanation = talk.conversation().explain();
        assertThat(explanation.shown().size() + explanation.omitted().size())
                .isEqualTo(talk.logged().size());
    }

    @Test
    void two_processes_with_logs_of_their_own_show_the_same() throws Exception {
        Path file = directory.resolve("chat.db");
        try (MessageLog theirs = SqliteMessageLog.open(file);
                Talk talk = Talk.on(SqliteMessageLog.open(file), builder -> builder)) {
            Keepsake process = Keepsake.builder().messageLog(theirs).build();
            Tab one = talk.tab();
            Tab two = talk.tab(process);
            one.ask("one");
            two.ask("two");
            assertThat(one.replyThenRequest(toolCall("c"))).isEqualTo("U(one), C(c), R(c)");
            assertThat(two.replyThenRequest(toolCall("x"))).isEqualTo("U(two), C(x), R(x)");
            process.conversation(ID).switchTo(talk.id("U(two)"));
            two.ends("a2");
            one.ends("a1");

            assertThat(talk.branch("A(a1)")).contains("U(one)").endsWith("A(a1)");
            talk.conversation().switchTo(talk.id("A(a1)"));
            assertThat(EndingTurns.text(process.conversation(ID).messages())).contains("U(one), C(c), R(c), A(a1)");
        }
    }
}
