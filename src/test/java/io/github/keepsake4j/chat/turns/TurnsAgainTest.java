package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.history;
import static io.github.keepsake4j.chat.turns.EndingTurns.toolCall;
import static io.github.keepsake4j.chat.turns.EndingTurns.view;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agentic.Agent;
import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.chat.turns.EndingTurns.Column;
import io.github.keepsake4j.chat.turns.EndingTurns.StreamScript;
import io.github.keepsake4j.chat.turns.EndingTurns.TurnAssistant;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logged;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.turn.Turn;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Answers that are made again, questions that are tried again or changed, and tabs of their own. */
class TurnsAgainTest {

    private static final RuntimeException OUT_OF_ORDER = new IllegalStateException("out of order");

    private final MessageLog log = new InMemoryMessageLog();
    private final Keepsake keepsake = Keepsake.builder().messageLog(log).build();

    interface StreamingTurns {
        TokenStream chat(@MemoryId Object id, @UserMessage String text, Turn turn);
    }

    interface CountingTurns {
        int count(@MemoryId Object id, @UserMessage String text, Turn turn);
    }

    public interface Writer {
        @Agent
        String write(@MemoryId Object id, @UserMessage @V("text") String text);
    }

    private String id(String text) {
        return EndingTurns.logged(keepsake, "c").stream()
                .filter(logged -> EndingTurns.text(List.of(logged.message())).equals(text))
                .reduce((first, second) -> second)
                .map(LoggedMessage::id)
                .orElseThrow();
    }

    private TurnAssistant assistant(Column column, Script model, Object... tools) {
        AiServices<TurnAssistant> builder =
                column.builder(keepsake, TurnAssistant.class).chatModel(model);
        return (tools.length == 0 ? builder : builder.tools(tools)).build();
    }

    private Assistant talked(Script model) {
        Assistant assistant = Column.AI_SERVICES
                .builder(keepsake, Assistant.class)
                .chatModel(model)
                .build();
        assistant.chat("c", "zero");
        assistant.chat("c", "one");
        return assistant;
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH", "LISTENERS_ONLY"})
    void an_answer_is_made_again_as_a_sibling(Column column) {
        talked(new Script("a0", "a1"));
        Script model = new Script("a1b", "a2");

        assertThat(assistant(column, model).chat("c", "one", Turn.regenerate(id("A(a1)"))))
                .isEqualTo("a1b");

        assertThat(model.lastRequest()).isEqualTo("U(zero), A(a0), U(one)");
        assertThat(history(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1), A(a1b)");
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1b)");
        assertThat(keepsake.conversation("c").branches()).hasSize(2);
    }

    @Test
    void the_first_answer_of_a_memory_is_made_again() {
        Assistant first = Column.AI_SERVICES
                .builder(keepsake, Assistant.class)
                .chatModel(new Script("a"))
                .build();
        first.chat("c", "one");
        Script model = new Script("b");

        assistant(Column.AI_SERVICES, model).chat("c", "one", Turn.regenerate(id("A(a)")));

        assertThat(model.lastRequest()).isEqualTo("U(one)");
        assertThat(view(keepsake, "c")).isEqualTo("U(one), A(b)");
    }

    @Test
    void a_method_without_a_parameter_is_told_by_the_turn_around_it() {
        Script model = new Script("a0", "a1", "a1b", "a2");
        Assistant assistant = talked(model);

        String again = keepsake.conversation("c").turn(Turn.regenerate(id("A(a1)")), () -> assistant.chat("c", "one"));
        assistant.chat("c", "two");

        assertThat(again).isEqualTo("a1b");
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1b), U(two), A(a2)");
    }

    @Test
    void what_rag_guardrails_and_formats_make_of_the_question_is_not_stored_again() {
        CountingTurns counting = Column.AI_SERVICES
                .builder(keepsake, CountingTurns.class)
                .chatModel(new Script("1", "2"))
                .contentRetriever(query -> List.of(Content.from("a fact")))
                .inputGuardrails(new EndingTurns.Polite())
                .build();
        counting.count("c", "how many", Turn.on("main"));
        String answer = id("A(1)");

        assertThat(counting.count("c", "how many", Turn.regenerate(answer).onBranch("main")))
                .isEqualTo(2);

        assertThat(history(keepsake, "c")).isEqualTo("U(how many), A(1), A(2)");
    }

    @Test
    void a_guardrail_that_refuses_the_new_answer_leaves_one_answer_in_view() {
        talked(new Script("a0", "a1"));
        TurnAssistant assistant = Column.AI_SERVICES
                .builder(keepsake, TurnAssistant.class)
                .chatModel(new Script("bad", "good"))
                .outputGuardrails(new EndingTurns.Reprompt())
                .build();

        assertThat(assistant.chat("c", "one", Turn.regenerate(id("A(a1)")))).isEqualTo("good");

        assertThat(history(keepsake, "c"))
                .isEqualTo("U(zero), A(a0), U(one), A(a1), A(bad) [rejected Reprompt], A(good)");
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(good)");
    }

    @Test
    void a_stream_is_made_again() throws Exception {
        talked(new Script("a0", "a1"));
        StreamScript model =
                new StreamScript(sink -> sink.tokens("x").done(toolCall("t")), sink -> sink.tokens("a1", "b")
                        .done("a1b"));
        StreamingTurns assistant = Column.AI_SERVICES
                .builder(keepsake, StreamingTurns.class)
                .streamingChatModel(model)
                .tools(new EndingTurns.Tools())
                .build();

        EndingTurns.quiet(assistant.chat("c", "one", Turn.regenerate(id("A(a1)"))))
                .start();
        model.await();

        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), C(t), R(t), A(a1b)");
        assertThat(EndingTurns.text(model.requests.get(1).messages())).isEqualTo("U(zero), A(a0), U(one), C(t), R(t)");
    }

    @Test
    void a_failed_question_is_tried_again_without_a_second_question() {
        talked(new Script("a0", "a1"));
        Script model = new Script(OUT_OF_ORDER, "a2");
        TurnAssistant assistant = assistant(Column.AI_SERVICES, model);
        assertThatThrownBy(() -> assistant.chat("c", "two", Turn.next())).isSameAs(OUT_OF_ORDER);
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1)");

        assistant.chat("c", "two", Turn.retry(id("U(two)")));

        assertThat(model.lastRequest()).isEqualTo("U(zero), A(a0), U(one), A(a1), U(two)");
        assertThat(history(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1), U(two), A(a2)");
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1), U(two), A(a2)");
    }

    static class Bank {
        final AtomicInteger transfers = new AtomicInteger();

        @Tool
        String tool() {
            transfers.incrementAndGet();
            return "transferred";
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH", "LISTENERS_ONLY"})
    void a_retry_sees_that_the_money_was_transferred(Column column) {
        Bank bank = new Bank();
        Script model = new Script(toolCall("t"), OUT_OF_ORDER, "it is done");
        TurnAssistant assistant = assistant(column, model, bank);
        assertThatThrownBy(() -> assistant.chat("c", "send 10", Turn.next())).isSameAs(OUT_OF_ORDER);
        assertThat(history(keepsake, "c")).isEqualTo("U(send 10) [failed IllegalStateException], C(t), R(t)");

        assertThat(assistant.chat("c", "send 10", Turn.retry(id("U(send 10)")))).isEqualTo("it is done");

        assertThat(bank.transfers).hasValue(1);
        // Only an attached service can leave out the question that LangChain4j puts at the end.
        assertThat(model.lastRequest()).isEqualTo("U(send 10), C(t), R(t)" + (column.knows() ? "" : ", U(send 10)"));
        assertThat(history(keepsake, "c")).isEqualTo("U(send 10), C(t), R(t), A(it is done)");
        assertThat(view(keepsake, "c")).isEqualTo("U(send 10), C(t), R(t), A(it is done)");
    }

    /** Another turn of the memory takes a stream that was not started for one that is left alone. */
    @Test
    void a_retried_stream_that_starts_behind_another_turn_asks_once() throws Exception {
        Script first = new Script(toolCall("t"), OUT_OF_ORDER);
        assertThatThrownBy(
                        () -> assistant(Column.AI_SERVICES, first, new Bank()).chat("c", "one", Turn.next()))
                .isSameAs(OUT_OF_ORDER);
        StreamScript model = new StreamScript(sink -> sink.tokens("a1").done("a1"));
        TokenStream stream = Column.AI_SERVICES
                .builder(keepsake, StreamingTurns.class)
                .streamingChatModel(model)
                .build()
                .chat("c", "one", Turn.retry(id("U(one)")));
        assistant(Column.AI_SERVICES, new Script("a2")).chat("c", "two", Turn.next());

        EndingTurns.quiet(stream).start();
        model.await();

        assertThat(EndingTurns.text(model.requests.get(0).messages())).isEqualTo("U(one), C(t), R(t)");
    }

    @Test
    void an_answer_by_hand_behind_a_list_that_was_emptied_is_made_again_with_the_rounds_of_its_question() {
        assistant(Column.AI_SERVICES, new Script(toolCall("t"), "a"), new EndingTurns.Tools())
                .chat("c", "one", Turn.next());
        ChatMemory memory = keepsake.chatMemory("c");
        keepsake.conversation("c").switchTo(id("R(t)"));
        memory.clear();
        memory.add(AiMessage.from("b"));
        Script model = new Script("c");

        assistant(Column.AI_SERVICES, model).chat("c", "one", Turn.regenerate(id("A(b)")));

        assertThat(model.lastRequest()).isEqualTo("U(one), C(t), R(t)");
        assertThat(history(keepsake, "c")).isEqualTo("U(one), C(t), R(t), A(a), A(b), A(c)");
    }

    @Test
    void a_question_that_is_simply_asked_again_shows_that_the_money_was_transferred() {
        Bank bank = new Bank();
        Script model = new Script(toolCall("t"), OUT_OF_ORDER, "it is done");
        Assistant assistant = keepsake.aiServices(Assistant.class)
                .chatModel(model)
                .tools(bank)
                .build();
        assertThatThrownBy(() -> assistant.chat("c", "send 10")).isSameAs(OUT_OF_ORDER);

        assistant.chat("c", "send 10");

        assertThat(model.lastRequest()).isEqualTo("U(send 10), C(t), R(t), U(send 10)");
    }

    @Test
    void a_retry_that_fails_again_is_a_failed_question_again() {
        Script model = new Script(OUT_OF_ORDER);
        TurnAssistant assistant = assistant(Column.AI_SERVICES, model);
        assertThatThrownBy(() -> assistant.chat("c", "one", Turn.next())).isSameAs(OUT_OF_ORDER);
        assertThatThrownBy(() -> assistant.chat("c", "one", Turn.retry(id("U(one)"))))
                .isSameAs(OUT_OF_ORDER);

        assertThat(history(keepsake, "c")).isEqualTo("U(one) [failed IllegalStateException]");
        assertThat(view(keepsake, "c")).isEmpty();
    }

    @Test
    void an_answer_that_cannot_be_made_again_stays() {
        talked(new Script("a0", "a1"));
        TurnAssistant assistant =
                assistant(Column.AI_SERVICES, new Script(toolCall("t"), OUT_OF_ORDER), new EndingTurns.Tools());

        assertThatThrownBy(() -> assistant.chat("c", "one", Turn.regenerate(id("A(a1)"))))
                .isSameAs(OUT_OF_ORDER);

        assertThat(history(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1), C(t), R(t)");
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1)");
    }

    @Test
    void a_question_is_changed() {
        talked(new Script("a0", "a1"));
        Script model = new Script("b", "c");
        TurnAssistant assistant = assistant(Column.AI_SERVICES, model);

        assistant.chat("c", "another one", Turn.edit(id("U(one)")));
        assertThat(model.lastRequest()).isEqualTo("U(zero), A(a0), U(another one)");
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(another one), A(b)");

        assistant.chat("c", "another zero", Turn.edit(id("U(zero)")));
        assertThat(model.lastRequest()).isEqualTo("U(another zero)");
        assertThat(view(keepsake, "c")).isEqualTo("U(another zero), A(c)");
        assertThat(history(keepsake, "c"))
                .isEqualTo("U(zero), A(a0), U(one), A(a1), U(another one), A(b), U(another zero), A(c)");
    }

    @Test
    void a_changed_system_message_is_there_when_a_question_is_changed_and_an_answer_made_again() {
        AiServices<TurnAssistant> brief =
                keepsake.aiServices(TurnAssistant.class).systemMessage("brief");
        brief.chatModel(new Script("a")).build().chat("c", "one", Turn.next());
        Script model = new Script("b", "c");
        TurnAssistant kind = keepsake.aiServices(TurnAssistant.class)
                .systemMessage("kind")
                .chatModel(model)
                .build();

        kind.chat("c", "one", Turn.regenerate(id("A(a)")));
        assertThat(model.lastRequest()).isEqualTo("S(kind), U(one)");
        kind.chat("c", "two", Turn.edit(id("U(one)")));
        assertThat(model.lastRequest()).isEqualTo("S(kind), U(two)");
        assertThat(view(keepsake, "c")).isEqualTo("S(kind), U(two), A(c)");
    }

    @Test
    void two_tabs_do_not_move_each_other() {
        talked(new Script("a0", "a1"));
        Script model = new Script("l1", "r1", "l2", "r2", "main");
        TurnAssistant assistant = assistant(Column.AI_SERVICES, model);

        assistant.chat("c", "left 1", Turn.on("left"));
        assistant.chat("c", "right 1", Turn.on("right"));
        assistant.chat("c", "left 2", Turn.on("left"));
        assertThat(model.lastRequest()).isEqualTo("U(zero), A(a0), U(one), A(a1), U(left 1), A(l1), U(left 2)");
        assistant.chat("c", "right 2", Turn.on("right"));
        assertThat(model.lastRequest()).isEqualTo("U(zero), A(a0), U(one), A(a1), U(right 1), A(r1), U(right 2)");
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1)");
        assistant.chat("c", "left 1 again", Turn.regenerate(id("A(l1)")).onBranch("left"));
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1)");
    }

    @Test
    void an_agent_makes_its_answer_again() {
        Script model = new Script("a", "b");
        Writer writer = AgenticServices.agentBuilder(Writer.class)
                .chatModel(model)
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .build();
        writer.write("c", "one");

        keepsake.conversation("c").turn(Turn.regenerate(id("A(a)")), () -> writer.write("c", "one"));

        assertThat(history(keepsake, "c")).isEqualTo("U(one), A(a), A(b)");
        assertThat(view(keepsake, "c")).isEqualTo("U(one), A(b)");
    }

    @Test
    void a_branch_of_an_answer_that_is_made_again_is_that_of_this_turn_only() {
        Script model = new Script("a0", "a1", "a1b", "t", "a2");
        Assistant assistant = talked(model);

        keepsake.conversation("c")
                .turn(
                        Turn.regenerate(id("A(a1)")).onBranch("tab"),
                        () -> assistant.chat("c", "one") + assistant.chat("c", "tab two"));
        assertThat(model.lastRequest()).isEqualTo("U(zero), A(a0), U(one), A(a1b), U(tab two)");
        assistant.chat("c", "two");

        assertThat(model.lastRequest()).isEqualTo("U(zero), A(a0), U(one), A(a1), U(two)");
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1), U(two), A(a2)");
    }

    @Test
    @ExpectedLog("needs a call of an AI service with this memory's id first")
    void a_branch_that_no_call_uses_is_logged() {
        talked(new Script("a0", "a1"));

        assertThat(keepsake.conversation("c").turn(Turn.on("tab"), () -> "no call"))
                .isEqualTo("no call");

        assertThat(keepsake.conversation("c").branches()).hasSize(1);
    }

    @Test
    void a_turn_that_is_taken_or_that_fails_is_not_logged() {
        Script model = new Script("a0", "a1", "a2", "a3", "a4");
        Assistant assistant = talked(model);

        List<String> lines = Logged.during(() -> {
            keepsake.conversation("c")
                    .turn(Turn.on("tab"), () -> assistant.chat("c", "two") + assistant.chat("c", "three"));
            keepsake.conversation("c")
                    .turn(Turn.regenerate(id("A(a1)")).onBranch("tab"), () -> assistant.chat("c", "one"));
            keepsake.conversation("c").turn(Turn.next(), () -> "no call");
            assertThrown(IllegalStateException.class, () -> keepsake.conversation("c")
                    .turn(Turn.on("tab"), () -> {
                        throw new IllegalStateException("before any call");
                    }));
        });

        assertThat(lines).isEmpty();
    }

    @Test
    void an_id_that_is_not_there_is_told_before_anything_is_written() {
        TurnAssistant assistant = assistant(Column.AI_SERVICES, new Script("fine"));
        assistant.chat("c", "one", Turn.next());

        assertThrown(
                InvalidInputException.class, () -> assistant.chat("c", "one", Turn.regenerate("nothing")), "nothing");
        assertThrown(
                InvalidInputException.class,
                () -> assistant.chat("c", "one", Turn.regenerate(id("U(one)"))),
                "Turn.regenerate needs the id of an answer");
        assertThat(history(keepsake, "c")).isEqualTo("U(one), A(fine)");
    }
}
