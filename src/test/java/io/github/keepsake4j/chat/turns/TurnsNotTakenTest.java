package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.history;
import static io.github.keepsake4j.chat.turns.EndingTurns.view;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.guardrail.InputGuardrail;
import dev.langchain4j.guardrail.InputGuardrailResult;
import dev.langchain4j.invocation.InvocationContext;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.observability.api.AiServiceListenerRegistrar;
import dev.langchain4j.observability.api.event.AiServiceResponseReceivedEvent;
import dev.langchain4j.observability.api.event.AiServiceStartedEvent;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.chat.turns.EndingTurns.Column;
import io.github.keepsake4j.chat.turns.EndingTurns.StreamScript;
import io.github.keepsake4j.chat.turns.EndingTurns.TurnAssistant;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Logged;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.turn.Turn;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

/** Regenerates, retries and edits whose function does not call the AI service as it must. */
class TurnsNotTakenTest {

    private static final String BEFORE = "U(zero), A(a0), U(one), A(a1)";

    /** How a stored message is asked again. */
    enum Again {
        REGENERATE,
        RETRY,
        EDIT;

        <T> T in(Keepsake keepsake, Function<String, T> call) {
            Conversation chat = keepsake.conversation("c");
            List<LoggedMessage> messages = chat.branch(2).messages();
            String question = messages.get(0).id();
            return switch (this) {
                case REGENERATE -> chat.regenerate(messages.get(1).id(), asked -> call.apply(asked.singleText()));
                case RETRY -> chat.retry(question, asked -> call.apply(asked.singleText()));
                case EDIT ->
                    chat.edit(
                            question,
                            dev.langchain4j.data.message.UserMessage.from("other"),
                            asked -> call.apply(asked.singleText()));
            };
        }

        String end() {
            return this == EDIT ? "U(other), A(a2)" : "U(one), A(a2)";
        }
    }

    interface Streaming {
        TokenStream chat(@MemoryId Object id, @UserMessage String text);
    }

    interface Fluent {
        Flux<String> chat(@MemoryId Object id, @UserMessage String text);
    }

    /** Reads the memory by an object of its own, and asks a service with a memory of its own. */
    static class Looking implements InputGuardrail {
        private final Keepsake keepsake;
        private final Assistant other;

        Looking(Keepsake keepsake, Assistant other) {
            this.keepsake = keepsake;
            this.other = other;
        }

        @Override
        public InputGuardrailResult validate(dev.langchain4j.data.message.UserMessage question) {
            keepsake.chatMemory("c").messages();
            other.chat("checks", "is it polite");
            return success();
        }
    }

    private final MessageLog log = new InMemoryMessageLog();
    private final Keepsake keepsake = Keepsake.builder().messageLog(log).build();

    private static Assistant talked(Keepsake keepsake, Column column) {
        Assistant assistant = column.builder(keepsake, Assistant.class)
                .chatModel(new Script("a0", "a1", "a2"))
                .build();
        assistant.chat("c", "zero");
        assistant.chat("c", "one");
        return assistant;
    }

    private void fails(Again again, Function<String, String> call) {
        List<String> lines = Logged.during(() -> assertThatThrownBy(() -> again.in(keepsake, call))
                .isInstanceOf(KeepsakeException.class)
                .isNotInstanceOf(InvalidInputException.class)
                .hasMessageContaining("memory conversation/default/c")
                .hasMessageContaining(again + " of memory")
                .hasMessageContaining("was stored as a new one"));
        assertThat(lines).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void a_call_on_another_thread_asked_a_second_question_and_nobody_was_told(Again again) {
        Assistant assistant = talked(keepsake, Column.AI_SERVICES);

        fails(again, text -> CompletableFuture.supplyAsync(() -> assistant.chat("c", text))
                .join());

        assertThat(history(keepsake, "c")).isEqualTo(BEFORE + ", " + again.end());
    }

    @ParameterizedTest
    @EnumSource
    void a_service_without_listeners_asked_a_second_question_and_nobody_was_told(Again again) {
        Assistant assistant = talked(keepsake, Column.WITHOUT);

        fails(again, text -> assistant.chat("c", text));

        assertThat(history(keepsake, "c")).isEqualTo(BEFORE + ", " + again.end());
    }

    @ParameterizedTest
    @EnumSource
    void a_function_that_called_nothing_returned_as_if_it_had(Again again) {
        talked(keepsake, Column.AI_SERVICES);

        fails(again, text -> "nothing");

        assertThat(history(keepsake, "c")).isEqualTo(BEFORE);
    }

    @ParameterizedTest
    @EnumSource(names = "WITHOUT", mode = EnumSource.Mode.EXCLUDE)
    void a_call_with_another_id_wrote_to_that_memory_and_nobody_was_told(Column column) {
        Assistant assistant = talked(keepsake, column);
        for (Again again : Again.values()) {
            assertThrown(
                    InvalidInputException.class,
                    () -> again.in(keepsake, text -> assistant.chat("other", text)),
                    "memory conversation/default/c needs a call",
                    "memory conversation/default/other",
                    again + " of memory");
        }
        assertThat(history(keepsake, "c")).isEqualTo(BEFORE);
        assertThat(keepsake.conversation("other").info()).isEmpty();
        assistant.chat("other", "as always");
        assertThat(history(keepsake, "other")).isEqualTo("U(as always), A(a2)");
    }

    @ParameterizedTest
    @Homes
    void a_call_with_another_id_wrote_to_that_memory_in_each_home(MessageLog homeLog) throws Exception {
        Keepsake there = Keepsake.builder().messageLog(homeLog).build();
        Assistant assistant = there.aiServices(Assistant.class)
                .chatModel(new Script("a0", "a1", "a2"))
                .systemMessage("brief")
                .build();
        assistant.chat("c", "zero");
        assistant.chat("c", "one");

        for (Again again : Again.values()) {
            assertThrown(InvalidInputException.class, () -> again.in(there, text -> assistant.chat("other", text)));
        }

        assertThat(there.conversation("other").info()).isEmpty();
        assertThat(history(there, "c")).isEqualTo("S(brief), " + BEFORE);
    }

    @ParameterizedTest
    @EnumSource
    void a_guardrail_that_used_memories_before_the_service_took_the_turn_from_it(Again again) {
        talked(keepsake, Column.AI_SERVICES);
        Assistant polite = keepsake.aiServices(Assistant.class)
                .chatModel(new Script("yes"))
                .build();
        Assistant assistant = keepsake.aiServices(Assistant.class)
                .chatModel(new Script("a2"))
                .inputGuardrails(new Looking(keepsake, polite))
                .build();

        String answer = again.in(keepsake, text -> assistant.chat("c", text));

        assertThat(answer).isEqualTo("a2");
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), " + again.end());
        assertThat(keepsake.conversation("c").branches()).hasSize(2);
        assertThat(history(keepsake, "checks")).isEqualTo("U(is it polite), A(yes)");
    }

    @ParameterizedTest
    @EnumSource
    void a_stream_or_a_flux_that_is_started_later_has_used_its_turn(Again again) throws Exception {
        talked(keepsake, Column.AI_SERVICES);
        StreamScript model = new StreamScript(
                sink -> sink.tokens("a2").done("a2"), sink -> sink.tokens("a3").done("a3"));
        Streaming streaming =
                keepsake.aiServices(Streaming.class).streamingChatModel(model).build();
        Fluent fluent =
                keepsake.aiServices(Fluent.class).streamingChatModel(model).build();

        TokenStream stream = again.in(keepsake, text -> streaming.chat("c", text));
        EndingTurns.quiet(stream).start();
        model.await();
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), " + again.end());

        Flux<String> flux = again.in(keepsake, text -> fluent.chat("c", text));
        assertThat(flux.collectList().block()).containsExactly("a3");
        assertThat(view(keepsake, "c"))
                .isEqualTo("U(zero), A(a0), " + again.end().replace("a2", "a3"));
    }

    @ParameterizedTest
    @EnumSource
    void a_turn_whose_question_is_added_by_another_thread_was_a_new_one(Again again) {
        talked(keepsake, Column.AI_SERVICES);
        KeepsakeChatMemory memory = keepsake.chatMemory("c");

        // As AI services of LangChain4j 1.20 and later do, whose methods return futures.
        AiServiceListenerRegistrar listeners = AiServiceListenerRegistrar.newInstance();
        InvocationContext call = InvocationContext.builder()
                .invocationId(UUID.randomUUID())
                .interfaceName(Assistant.class.getName())
                .methodName("chat")
                .methodArguments(List.of())
                .chatMemoryId("c")
                .timestamp(Instant.EPOCH)
                .build();
        CompletableFuture<Void> asked = again.in(keepsake, text -> {
            var question = dev.langchain4j.data.message.UserMessage.from(text);
            listeners.fireEvent(AiServiceStartedEvent.builder()
                    .invocationContext(call)
                    .userMessage(question)
                    .build());
            return memory.addAsync(List.of(question));
        });
        asked.join();
        AiMessage answer = AiMessage.from("a2");
        listeners.fireEvent(AiServiceResponseReceivedEvent.builder()
                .invocationContext(call)
                .request(ChatRequest.builder()
                        .messages(keepsake.chatMemory("c").messages())
                        .build())
                .response(Script.response(answer))
                .build());
        memory.add(answer);

        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), " + again.end());
        assertThat(keepsake.conversation("c").branches()).hasSize(2);
    }

    @Test
    void a_call_with_another_id_was_not_refused_behind_a_call_that_broke_off() {
        Assistant assistant = talked(keepsake, Column.LISTENERS_ONLY);
        Assistant broken = Column.LISTENERS_ONLY
                .builder(keepsake, Assistant.class)
                .chatModel(new Script(new StackOverflowError()))
                .build();
        assertThatThrownBy(() -> broken.chat("broken", "one")).isInstanceOf(StackOverflowError.class);

        assertThrown(
                InvalidInputException.class,
                () -> Again.REGENERATE.in(keepsake, text -> assistant.chat("other", text)));

        assertThat(keepsake.conversation("other").info()).isEmpty();
    }

    @Test
    void a_turn_that_is_passed_to_the_call_works_on_any_thread() {
        talked(keepsake, Column.AI_SERVICES);
        TurnAssistant assistant = keepsake.aiServices(TurnAssistant.class)
                .chatModel(new Script("a2", "a3"))
                .build();
        String answer = keepsake.conversation("c").branch(1).messages().get(0).id();

        String again = keepsake.conversation("c").regenerate(answer, asked -> CompletableFuture.supplyAsync(
                        () -> assistant.chat("c", asked.singleText(), Turn.regenerate(answer)))
                .join());

        assertThat(again).isEqualTo("a2");
        assertThat(view(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a2)");
        assertThrown(KeepsakeException.class, () -> keepsake.conversation("c")
                .regenerate(answer, asked -> assistant.chat("c", asked.singleText(), Turn.next())));
    }

    /** Otherwise the other caller's question was stored a second time. */
    @Test
    void a_turn_that_another_thread_passes_to_its_call_is_not_taken_from_a_caller_who_asks_the_same_again() {
        Assistant assistant = talked(keepsake, Column.AI_SERVICES);
        TurnAssistant other = keepsake.aiServices(TurnAssistant.class)
                .chatModel(new Script("of the other"))
                .build();
        LoggedMessage answer = keepsake.conversation("c").branch(1).messages().get(0);

        keepsake.conversation("c").regenerate(answer.id(), asked -> {
            CompletableFuture.supplyAsync(() -> other.chat("c", asked.singleText(), Turn.regenerate(answer.id())))
                    .join();
            return assistant.chat("c", asked.singleText());
        });

        assertThat(history(keepsake, "c")).isEqualTo("U(zero), A(a0), U(one), A(a1), A(of the other), A(a2)");
    }
}
