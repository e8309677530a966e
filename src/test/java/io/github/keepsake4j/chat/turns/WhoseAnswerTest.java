package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.toolCall;
import static io.github.keepsake4j.chat.turns.Talk.ID;
import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.StreamScript;
import io.github.keepsake4j.component.MemoryComponent;
import io.github.keepsake4j.component.MemoryInput;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.CountedLog;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.turn.Turn;
import io.github.keepsake4j.turn.TurnPolicy;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Which answer belongs to which question, and on which branch, when other tabs work on the same conversation. */
@Timeout(600)
class WhoseAnswerTest {

    /** What another tab does while a model works on the question two of the conversation zero, one. */
    enum Meanwhile {
        SWITCHES("U(zero), A(a0)") {
            @Override
            void by(Talk talk) {
                talk.conversation().switchTo(talk.id("A(a0)"));
            }
        },
        REGENERATES("U(zero), A(a0), U(one), A(again)") {
            @Override
            void by(Talk talk) {
                talk.tab(talk.other).chat(ID, "one", Turn.regenerate(talk.id("A(a1)")), "again");
            }
        },
        EDITS("U(zero), A(a0), U(other), A(another)") {
            @Override
            void by(Talk talk) {
                talk.tab(talk.other).chat(ID, "other", Turn.edit(talk.id("U(one)")), "another");
            }
        };

        final String view;

        Meanwhile(String view) {
            this.view = view;
        }

        abstract void by(Talk talk);
    }

    static Stream<Arguments> everywhere() {
        return Home.ofThisRun()
                .flatMap(home -> Arrays.stream(Meanwhile.values()).map(meanwhile -> Arguments.of(home, meanwhile)));
    }

    private static final String BEFORE = "U(zero), A(a0), U(one), A(a1)";

    @ParameterizedTest
    @Tag("homes")
    @MethodSource("everywhere")
    void an_answer_goes_under_its_question_and_the_head_that_was_moved_meanwhile_stays(Home home, Meanwhile meanwhile)
            throws Exception {
        try (Talk talk = Talk.on(home)) {
            Tab tab = talk.twoExchanges();
            assertThat(tab.ask("two")).isEqualTo(BEFORE + ", U(two)");
            meanwhile.by(talk);
            String head = talk.head();

            tab.ends("a2");

            assertThat(talk.parent("A(a2)")).isEqualTo("U(two)");
            assertThat(talk.head()).isEqualTo(head);
            talk.shows(meanwhile.view);
            assertThat(talk.branch("A(a2)")).isEqualTo(BEFORE + ", U(two), A(a2)");
            talk.goesOn(meanwhile.view);
            talk.conversation().switchTo(talk.id("A(a2)"));
            talk.goesOn(BEFORE + ", U(two), A(a2)");
        }
    }

    @ParameterizedTest
    @Tag("homes")
    @MethodSource("everywhere")
    void a_call_its_result_and_the_answer_stay_together_and_the_tool_runs_once(Home home, Meanwhile meanwhile)
            throws Exception {
        try (Talk talk = Talk.on(home)) {
            Tab tab = talk.twoExchanges().holdingTool();
            tab.ask("two");
            tab.reply(toolCall("t"));
            tab.awaitTool();
            meanwhile.by(talk);
            String head = talk.head();

            assertThat(tab.toolEnds()).isEqualTo(BEFORE + ", U(two), C(t), R(t)");
            tab.ends("a2");

            assertThat(talk.branch("A(a2)")).isEqualTo(BEFORE + ", U(two), C(t), R(t), A(a2)");
            assertThat(talk.head()).isEqualTo(head);
            assertThat(tab.payments).hasValue(1);
            talk.goesOn(meanwhile.view);
        }
    }

    @ParameterizedTest
    @Tag("homes")
    @MethodSource("everywhere")
    void an_answer_on_a_named_branch_that_was_moved_goes_under_its_question(Home home, Meanwhile meanwhile)
            throws Exception {
        try (Talk talk = Talk.on(home)) {
            talk.tab().chat(ID, "zero", Turn.on("tab"), "a0");
            talk.tab().chat(ID, "one", Turn.on("tab"), "a1");
            Tab tab = talk.tab().holdingTool();
            tab.ask("two", Turn.on("tab"));
            tab.reply(toolCall("t"));
            tab.awaitTool();
            switch (meanwhile) {
                case SWITCHES -> talk.log.change(Talk.KEY, new Change.MoveBranch("tab", talk.id("A(a0)"), null));
                case REGENERATES -> {
                    Turn again = Turn.regenerate(talk.id("A(a1)")).onBranch("tab");
                    talk.tab(talk.other).chat(ID, "one", again, "again");
                }
                case EDITS -> {
                    Turn edit = Turn.edit(talk.id("U(one)")).onBranch("tab");
                    talk.tab(talk.other).chat(ID, "other", edit, "another");
                }
            }

            assertThat(tab.toolEnds()).isEqualTo(BEFORE + ", U(two), C(t), R(t)");
            tab.ends("a2");

            assertThat(talk.named("tab")).endsWith(meanwhile.view.substring(meanwhile.view.lastIndexOf("A(")));
            assertThat(talk.branch("A(a2)")).isEqualTo(BEFORE + ", U(two), C(t), R(t), A(a2)");
            assertThat(talk.tab().chat(ID, "three", Turn.on("tab"), "a3")).isEqualTo(meanwhile.view + ", U(three)");
        }
    }

    @ParameterizedTest
    @Homes
    void two_turns_at_once_on_a_named_branch_stand_one_behind_the_other(Talk talk) throws Exception {
        Tab one = talk.tab();
        Tab two = talk.tab(talk.other);
        one.ask("one", Turn.on("tab"));
        two.ask("two", Turn.on("tab"));
        two.ends("a2");
        one.ends("a1");

        assertThat(talk.tab().chat(ID, "three", Turn.on("tab"), "a3"))
                .isEqualTo("U(two), A(a2), U(one), A(a1), U(three)");
    }

    @ParameterizedTest
    @Homes
    void a_lease_does_not_keep_others_from_moving_the_head_but_the_answer_from_moving_too(Talk talk) throws Exception {
        Tab tab = talk.twoExchanges();
        tab.ask("two", TurnPolicy.REJECT);
        talk.conversation().switchTo(talk.id("A(a0)"));

        tab.ends("a2");

        assertThat(talk.parent("A(a2)")).isEqualTo("U(two)");
        talk.goesOn("U(zero), A(a0)");
    }

    @Test
    void the_process_of_the_turn_itself_moves_the_head() {
        try (Talk talk = Talk.inMemory()) {
            Tab tab = talk.twoExchanges();
            tab.ask("two");
            talk.keepsake.conversation(ID).switchTo(talk.id("A(a0)"));

            tab.ends("a2");

            talk.goesOn("U(zero), A(a0)");
        }
    }

    /** The places of a turn's messages are decided before the log has them. */
    @ParameterizedTest
    @EnumSource(Meanwhile.class)
    void what_another_tab_does_directly_before_any_write_of_a_turn_tears_nothing_apart(Meanwhile meanwhile) {
        for (int at = 0; at < 5; at++) {
            CountedLog counted = new CountedLog();
            try (Talk talk = Talk.on(counted.around(new InMemoryMessageLog()), builder -> builder)) {
                Tab tab = talk.twoExchanges();
                tab.ask("two");
                before(counted, at, () -> meanwhile.by(talk));
                tab.replyThenRequest(toolCall("t"));
                assertThat(tab.replyThenRequest(toolCall("u"))).isEqualTo(BEFORE + ", U(two), C(t), R(t), C(u), R(u)");
                tab.ends("a2");

                assertThat(talk.branch("A(a2)")).isEqualTo(BEFORE + ", U(two), C(t), R(t), C(u), R(u), A(a2)");
                talk.goesOn(meanwhile.view);
            }
        }
    }

    /** Does something on a thread of its own, directly before a later append reaches the log. */
    private static void before(CountedLog counted, int appends, Runnable work) {
        counted.meanwhile = () -> {
            if (appends == 0) {
                CompletableFuture.runAsync(work).join();
            } else {
                before(counted, appends - 1, work);
            }
        };
    }

    @Test
    void a_head_that_never_stands_still_does_not_keep_an_answer_from_being_stored() {
        CountedLog counted = new CountedLog();
        try (Talk talk = Talk.on(counted.around(new InMemoryMessageLog()), builder -> builder)) {
            Tab tab = talk.twoExchanges();
            tab.ask("two");
            talk.chat("three", "a3");
            List<String> heads = List.of(talk.id("A(a3)"), talk.id("U(three)"), talk.id("U(two)"));
            moves(counted, talk, heads, 0);

            tab.replyThenRequest(toolCall("t"));
            tab.ends("a2");
            counted.meanwhile = () -> {};

            assertThat(talk.branch("A(a2)")).startsWith(BEFORE + ", U(two)").endsWith("A(a2)");
            talk.conversation().switchTo(talk.id("A(a2)"));
            assertThat(EndingTurns.view(talk.other, ID)).contains("U(two), C(t), R(t), A(a2)");
        }
    }

    private static void moves(CountedLog counted, Talk talk, List<String> heads, int count) {
        counted.meanwhile = () -> {
            talk.conversation().switchTo(heads.get(count % heads.size()));
            moves(counted, talk, heads, count + 1);
        };
    }

    @Test
    void a_conflict_costs_one_read_that_decides() {
        int[] calls = new int[3];
        for (int meets = 0; meets < 3; meets++) {
            CountedLog counted = new CountedLog();
            try (Talk talk = Talk.on(counted.around(new InMemoryMessageLog()), builder -> builder)) {
                Tab tab = talk.twoExchanges();
                tab.ask("two");
                if (meets == 1) {
                    talk.conversation().switchTo(talk.id("A(a0)"));
                } else if (meets == 2) {
                    talk.chat("three", "a3");
                }
                counted.reset();
                tab.ends("a2");
                calls[meets] = counted.calls;
                talk.goesOn(
                        meets == 0
                                ? BEFORE + ", U(two), A(a2)"
                                : meets == 1 ? "U(zero), A(a0)" : BEFORE + ", U(three), A(a3), U(two), A(a2)");
            }
        }
        // The refused append, and the read.
        assertThat(calls[1]).as("head was moved").isLessThanOrEqualTo(calls[0] + 2);
        assertThat(calls[2]).as("another turn").isLessThanOrEqualTo(calls[0] + 2);
    }

    /** A retry removes the mark of its question, which raises the revision. */
    @Test
    void what_a_turn_itself_records_is_no_conflict() {
        int[] calls = new int[2];
        for (int retries = 0; retries < 2; retries++) {
            CountedLog counted = new CountedLog();
            try (Talk talk = Talk.on(counted.around(new InMemoryMessageLog()), builder -> builder)) {
                Tab tab = talk.twoExchanges();
                tab.ask("two");
                if (retries == 1) {
                    tab.fails();
                    tab = talk.tab();
                    tab.ask("two", Turn.retry(talk.id("U(two)")));
                }
                counted.reset();
                tab.ends("a2");
                calls[retries] = counted.calls;
                talk.goesOn(BEFORE + ", U(two), A(a2)");
            }
        }
        // A refused append and a read would be two more.
        assertThat(calls[1]).isLessThanOrEqualTo(calls[0] + 1);
    }

    interface Streaming {
        TokenStream chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    /** A stream whose first token came. The head is moved, and then it ends in one of three ways. */
    @ParameterizedTest
    @CsvSource({"IN_MEMORY,done", "IN_MEMORY,stopped", "IN_MEMORY,late", "SQLITE,done", "SQLITE,stopped", "SQLITE,late"
    })
    void a_streamed_a_partial_and_a_late_answer_go_under_their_question(Home home, String end) throws Exception {
        try (Talk talk = Talk.on(home)) {
            talk.twoExchanges();
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch moved = new CountDownLatch(1);
            StreamScript model = new StreamScript(sink -> {
                sink.tokens("a");
                begun.countDown();
                Tab.await(moved);
                switch (end) {
                    case "done" -> sink.done("a2");
                    case "stopped" -> sink.tokens("never");
                    default -> {
                        sink.error(new IllegalStateException("cut"));
                        sink.done("a2");
                    }
                }
            });
            Streaming assistant = talk.keepsake
                    .aiServices(Streaming.class)
                    .streamingChatModel(model)
                    .build();
            EndingTurns.quiet(assistant.chat(ID, "two")).start();
            Tab.await(begun);
            talk.conversation().switchTo(talk.id("A(a0)"));
            if (end.equals("stopped")) {
                assertThat(talk.keepsake.conversation(ID).stop()).isEqualTo(1);
            }
            moved.countDown();
            model.await();

            String said = end.equals("stopped") ? "A(a)" : "A(a2)";
            await().until(() -> talk.history().contains(said));
            assertThat(talk.branch(said)).isEqualTo(BEFORE + ", U(two), " + said);
            talk.goesOn("U(zero), A(a0)");
        }
    }

    @ParameterizedTest
    @Homes
    void what_a_guardrail_makes_of_an_answer_is_stored_where_its_question_is(Talk talk) throws Exception {
        talk.twoExchanges();
        Tab tab = talk.tab(talk.keepsake, new EndingTurns.Rewrite());
        tab.ask("two");
        talk.conversation().switchTo(talk.id("A(a0)"));
        tab.reply("a2");

        assertThat(tab.end()).isEqualTo("a2!");
        assertThat(talk.branch("A(a2!)")).isEqualTo(BEFORE + ", U(two), A(a2!)");
        assertThat(talk.message("A(a2)").outcome().kind()).isEqualTo(Outcome.Kind.REJECTED);
        talk.goesOn("U(zero), A(a0)");
    }

    /** Two tools of one round, of which one still runs when the other one's result is written. */
    @ParameterizedTest
    @Homes
    void a_result_that_waits_too_long_for_another_is_stored_behind_its_call(Talk talk) throws Exception {
        Tab tab = talk.twoExchanges().holdingTool();
        tab.ask("two");
        tab.reply(AiMessage.from(call("q", "quick", "{}"), call("t", "tool", "{}")));
        tab.awaitTool();
        talk.conversation().switchTo(talk.id("A(a0)"));
        await().until(() -> talk.history().contains("R(q)"));

        assertThat(tab.toolEnds()).isEqualTo(BEFORE + ", U(two), C(q t), R(q), R(t)");
        tab.ends("a2");

        assertThat(talk.branch("A(a2)")).isEqualTo(BEFORE + ", U(two), C(q t), R(q), R(t), A(a2)");
        assertThat(tab.payments).hasValue(2);
        talk.goesOn("U(zero), A(a0)");
    }

    @ParameterizedTest
    @Homes
    void an_answer_that_comes_after_clear_and_another_question_is_not_shown_under_that_question(Talk talk)
            throws Exception {
        Tab tab = talk.twoExchanges();
        tab.ask("two");
        talk.other.chatMemory(ID).clear();
        talk.chat("three", "a3");

        tab.ends("a2");

        talk.shows("U(three), A(a3)");
        assertThat(talk.reason("A(a2)")).isEqualTo("NO_QUESTION");
        talk.goesOn("U(three), A(a3)");
    }

    @ParameterizedTest
    @Homes
    void an_answer_that_comes_after_clear_alone_is_not_shown_without_its_question(Talk talk) throws Exception {
        Tab tab = talk.twoExchanges();
        tab.ask("two");
        talk.other.chatMemory(ID).clear();

        tab.ends("a2");

        talk.shows("");
        assertThat(talk.reason("A(a2)")).isEqualTo("NO_QUESTION");
        talk.goesOn("");
    }

    @ParameterizedTest
    @Homes
    void a_retry_finds_its_round_behind_another_turn_and_the_tool_is_not_paid_twice(Talk talk) throws Exception {
        Tab one = talk.tab();
        one.ask("one");
        talk.chat("two", "a2");
        one.replyThenRequest(toolCall("c"));
        one.fails();
        assertThat(talk.history()).isEqualTo("U(one) [failed IllegalStateException], U(two), A(a2), C(c), R(c)");
        Tab again = talk.tab(talk.other);

        assertThat(again.ask("one", Turn.retry(talk.id("U(one)")))).isEqualTo("U(one), C(c), R(c)");
        again.ends("a1");

        assertThat(one.payments.get() + again.payments.get()).isEqualTo(1);
        assertThat(talk.history()).isEqualTo("U(one), U(two), A(a2), C(c), R(c), A(a1)");
        talk.goesOn("U(two), A(a2), U(one), C(c), R(c), A(a1)");
    }

    /** The questions one and two are asked at once. */
    private static void interleaved(Talk talk, String first, String second) {
        Tab one = talk.tab();
        Tab two = talk.tab(talk.other);
        (first.equals("one") ? one : two).ask(first);
        (second.equals("one") ? one : two).ask(second);
        one.ends("a1");
        two.ends("a2");
    }

    @ParameterizedTest
    @Homes
    void an_answer_is_made_again_with_its_own_question_and_not_with_the_newest(Home home) throws Exception {
        for (String first : List.of("one", "two")) {
            for (String asked : List.of("one", "two")) {
                try (Talk talk = Talk.on(home)) {
                    interleaved(talk, first, first.equals("one") ? "two" : "one");
                    String old = asked.equals("one") ? "A(a1)" : "A(a2)";
                    Tab tab = talk.tab(talk.other);

                    assertThat(tab.ask(asked, Turn.regenerate(talk.id(old)))).isEqualTo("U(" + asked + ")");
                    tab.ends("again");

                    assertThat(talk.parent("A(again)")).isEqualTo(talk.parent(old));
                    assertThat(talk.head()).isEqualTo("A(again)");
                    // The first answer ends the branch, so its other question has none yet.
                    String view = asked.equals("one") ? "U(one), A(again)" : "U(one), A(a1), U(two), A(again)";
                    assertThat(talk.chat("next", "done")).isEqualTo(view + ", U(next)");
                }
            }
        }
    }

    @ParameterizedTest
    @Homes
    void the_question_of_an_answer_is_its_own_and_so_is_what_the_model_saw(Talk talk) throws Exception {
        interleaved(talk, "one", "two");
        String answer = talk.id("A(a1)");

        assertThat(talk.conversation().questionOf(answer))
                .map(LoggedMessage::id)
                .contains(talk.id("U(one)"));
        assertThat(Talk.texts(talk.conversation().seenBy(answer).orElseThrow().messages()))
                .isEqualTo("U(one)");
        AtomicReference<ChatMessage> told = new AtomicReference<>();
        assertThrown(KeepsakeException.class, () -> talk.conversation().regenerate(answer, question -> {
            told.set(question);
            return "no turn";
        }));
        assertThat(told.get()).isEqualTo(user("one"));
    }

    @ParameterizedTest
    @Homes
    void of_a_question_and_its_retry_the_first_answer_is_shown_and_the_other_is_its_sibling(Home home)
            throws Exception {
        for (boolean retryIsFirst : new boolean[] {true, false}) {
            try (Talk talk = Talk.on(home)) {
                Tab first = talk.tab();
                first.ask("one");
                Tab retry = talk.tab(talk.other);
                assertThat(retry.ask("one", Turn.retry(talk.id("U(one)")))).isEqualTo("U(one)");

                (retryIsFirst ? retry : first).ends("fast");
                (retryIsFirst ? first : retry).ends("slow");

                assertThat(talk.head()).isEqualTo("A(fast)");
                assertThat(talk.parent("A(fast)")).isEqualTo("U(one)");
                assertThat(talk.parent("A(slow)")).isEqualTo("U(one)");
                talk.goesOn("U(one), A(fast)");
            }
        }
    }

    @ParameterizedTest
    @Homes
    void a_question_that_failed_but_was_answered_by_its_retry_is_shown(Talk talk) throws Exception {
        Tab first = talk.tab();
        first.ask("one");
        Tab retry = talk.tab(talk.other);
        retry.ask("one", Turn.retry(talk.id("U(one)")));
        retry.ends("fast");

        first.fails();

        talk.goesOn("U(one), A(fast)");
    }

    /** The ways to answer a question by hand. */
    enum Hand {
        APPEND {
            @Override
            void answers(Talk talk, String question) {
                talk.conversation().append(Parent.of(question), "hand", ai("hand"));
            }
        },
        IMPORT {
            @Override
            void answers(Talk talk, String question) {
                talk.conversation().importMessage("hand", question, ai("hand"), null);
            }
        },
        MEMORY {
            @Override
            void answers(Talk talk, String question) {
                talk.other.chatMemory(ID).add(ai("hand"));
            }
        },
        COMPONENT {
            @Override
            void answers(Talk talk, String question) {
                MemoryComponent component =
                        MemoryComponent.builder().backend("log", () -> talk.log).build();
                component.run(MemoryInput.add(ID, ai("hand")).onBackend("log"));
            }
        };

        abstract void answers(Talk talk, String question);

        boolean namesQuestion() {
            return this == APPEND || this == IMPORT;
        }
    }

    static Stream<Arguments> byHand() {
        return Home.ofThisRun().flatMap(home -> Arrays.stream(Hand.values()).map(hand -> Arguments.of(home, hand)));
    }

    @ParameterizedTest
    @Tag("homes")
    @MethodSource("byHand")
    void an_answer_by_hand_to_a_failed_question_is_shown_in_this_and_in_each_later_request(Home home, Hand hand)
            throws Exception {
        try (Talk talk = Talk.on(home)) {
            Tab tab = talk.tab();
            tab.ask("one");
            tab.fails();
            hand.answers(talk, talk.id("U(one)"));

            if (hand.namesQuestion()) {
                assertThat(talk.message("A(hand)").question()).isEqualTo(talk.id("U(one)"));
            }
            talk.goesOn("U(one), A(hand)");
        }
    }

    @ParameterizedTest
    @Tag("homes")
    @MethodSource("byHand")
    void an_answer_by_hand_to_a_question_whose_process_was_killed_is_shown_in_each_later_request(Home home, Hand hand)
            throws Exception {
        try (Talk talk = Talk.on(home)) {
            talk.tab().ask("one");
            hand.answers(talk, talk.id("U(one)"));

            talk.goesOn("U(one), A(hand)");
        }
    }

    @ParameterizedTest
    @Tag("homes")
    @MethodSource("byHand")
    void an_answer_by_hand_comes_before_the_models_which_is_kept_but_not_shown(Home home, Hand hand) throws Exception {
        try (Talk talk = Talk.on(home)) {
            Tab tab = talk.tab();
            tab.ask("one");
            hand.answers(talk, talk.id("U(one)"));
            tab.ends("a1");

            assertThat(talk.history()).contains("A(hand)", "A(a1)");
            boolean onBranch = talk.branch("A(a1)").contains("A(hand)");
            assertThat(talk.reason("A(a1)")).isEqualTo(onBranch ? "ANSWERED_BEFORE" : null);
            talk.goesOn("U(one), A(hand)");
        }
    }

    @ParameterizedTest
    @Homes
    void an_answer_by_hand_under_an_older_question_is_not_the_answer_to_a_newer_one(Talk talk) throws Exception {
        talk.chat("zero", "a0");
        Tab tab = talk.tab();
        tab.ask("one");
        tab.fails();
        String failed = talk.id("U(one)");
        talk.chat("two", "a2");

        talk.conversation().append(Parent.of(failed), "hand", ai("hand"));

        assertThat(talk.parent("A(hand)")).isEqualTo("U(one)");
        talk.goesOn("U(zero), A(a0), U(one), A(hand)");
    }

    @ParameterizedTest
    @Homes
    void a_fork_at_an_answer_by_hand_shows_it_in_each_later_request(Talk talk) throws Exception {
        Tab tab = talk.tab();
        tab.ask("one");
        tab.fails();
        talk.conversation().append(Parent.of(talk.id("U(one)")), "hand", ai("hand"));

        talk.conversation().fork(talk.id("A(hand)"), "fork");

        talk.goesOn("fork", "U(one), A(hand)");
    }

    @ParameterizedTest
    @Homes
    void a_result_and_an_answer_by_hand_complete_the_open_round_of_a_failed_turn(Talk talk) throws Exception {
        Tab tab = talk.tab().holdingTool();
        tab.ask("one");
        tab.reply(toolCall("c"));
        tab.awaitTool();
        await().until(() -> talk.history().endsWith("C(c)"));
        String call = talk.id("C(c)");
        talk.conversation().append(Parent.of(call), "result", ToolExecutionResultMessage.from("c", "tool", "by hand"));
        talk.conversation().append(Parent.of("result"), "hand", ai("hand"));

        assertThat(talk.message("R(c)").question()).isEqualTo(talk.id("U(one)"));
        assertThat(talk.message("A(hand)").question()).isEqualTo(talk.id("U(one)"));
        talk.goesOn("U(one), C(c), R(c), A(hand)");
    }

    @Test
    void an_answer_behind_a_bound_question_is_that_of_an_unbound_question_that_still_waits() {
        try (Talk talk = Talk.inMemory()) {
            talk.other.chatMemory(ID).add(user("waits"));
            Tab tab = talk.tab();
            tab.ask("one");
            tab.fails();
            talk.other.chatMemory(ID).add(ai("waited for"));

            talk.goesOn("U(waits), A(waited for)");
        }
    }

    @Test
    void an_answer_of_a_service_without_listeners_is_not_that_of_the_failed_question_before_its_own() {
        try (Talk talk = Talk.inMemory()) {
            Tab tab = talk.tab();
            tab.ask("one");
            tab.fails();
            Keepsake other = talk.other;
            other.chatMemory(ID).add(user("two"));
            other.chatMemory(ID).add(ai("a2"));

            talk.goesOn("U(two), A(a2)");
        }
    }
}
