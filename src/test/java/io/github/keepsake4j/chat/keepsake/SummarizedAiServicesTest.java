package io.github.keepsake4j.chat.keepsake;

import static dev.langchain4j.model.chat.mock.ChatModelMock.thatAlwaysResponds;
import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.guardrail.OutputGuardrailException;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.service.AiServices;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.testing.Bookings;
import io.github.keepsake4j.testing.Bookings.NoRejected;
import io.github.keepsake4j.testing.Bookings.RemoveRejected;
import io.github.keepsake4j.testing.Dialogue;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * AI services on a conversation that begins with a summary. The tests check the messages that the model receives and
 * those that are stored.
 */
class SummarizedAiServicesTest {

    private static final SystemMessage SYSTEM = SystemMessage.from("Be brief");

    private final InMemoryMessageLog log = new InMemoryMessageLog();
    private List<ChatMessage> before = List.of();

    @BeforeEach
    void forget() {
        before = List.of();
    }

    @ParameterizedTest
    @EnumSource(Summarization.Role.class)
    void a_guardrail_removal_hides_the_answer_and_leaves_the_summary(Summarization.Role role) {
        Keepsake keepsake = summarized(role);
        ChatModelMock model = thatAlwaysResponds(ai("rejected"), ai("better"));
        Assistant assistant =
                services(keepsake, model).outputGuardrails(new RemoveRejected()).build();

        assertThatThrownBy(() -> assistant.chat("id", "two")).isInstanceOf(OutputGuardrailException.class);
        assistant.chat("id", "three");

        assertSent(model, 0, user("two"));
        assertSent(model, 1, user("three"));
        assertThat(history(keepsake)).endsWith(user("two"), ai("rejected"), user("three"), ai("better"));
        assertStored(keepsake, 4);
    }

    @ParameterizedTest
    @EnumSource(Summarization.Role.class)
    void a_guardrail_reprompt_has_the_summary_once(Summarization.Role role) {
        Keepsake keepsake = summarized(role);
        ChatModelMock model = thatAlwaysResponds(ai("rejected"), ai("fine"));

        services(keepsake, model).outputGuardrails(new NoRejected()).build().chat("id", "two");

        assertSent(model, 0, user("two"));
        assertSent(model, 1, user("two"), ai("rejected"), user("Say something else"));
        assertStored(keepsake, 3);
    }

    @ParameterizedTest
    @EnumSource(Summarization.Role.class)
    void compensation_sets_a_list_with_the_summary_and_it_stays(Summarization.Role role) {
        Keepsake keepsake = summarized(role);
        AiMessage book = AiMessage.from(call("1", "book", "{\"what\":\"a room\"}"));
        AiMessage pay = AiMessage.from(call("2", "pay", "{\"what\":\"a room\"}"));
        ChatModelMock model = thatAlwaysResponds(book, pay, ai("sorry"), ai("bye"));
        Assistant assistant = services(keepsake, model)
                .tools(new Bookings())
                .compensateOnToolErrors(true)
                .build();

        assistant.chat("id", "book a room");
        assistant.chat("id", "thanks");

        List<ChatMessage> results = history(keepsake).stream()
                .filter(ToolExecutionResultMessage.class::isInstance)
                .toList();
        assertThat(results).hasSize(3);
        assertSent(model, 1, user("book a room"), book, results.get(0));
        assertSent(model, 2, user("book a room"), book, results.get(1), pay, results.get(2));
        assertSent(
                model, 3, user("book a room"), book, results.get(1), pay, results.get(2), ai("sorry"), user("thanks"));
        assertStored(keepsake, 9);
    }

    @ParameterizedTest
    @EnumSource(Summarization.Role.class)
    void a_window_over_the_store_works_on_without_the_summary(Summarization.Role role) {
        Keepsake keepsake = summarized(role);
        List<ChatMessage> all = history(keepsake);
        ChatModelMock model = thatAlwaysResponds("ok");
        AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(id -> Dialogue.window(id, 100, keepsake.chatMemoryStore()))
                .build()
                .chat("id", "two");

        List<ChatMessage> expected = new ArrayList<>(all);
        expected.add(user("two"));
        assertThat(model.requests().get(0).messages()).isEqualTo(expected);
        before = keepsake.chatMemory("id").messages();
        assertThat(before.stream().filter(Summarization::isSummary)).hasSize(1);
        assertStored(keepsake, 2);
    }

    @ParameterizedTest
    @EnumSource(Summarization.Role.class)
    void a_budget_counts_the_summary_and_keeps_it(Summarization.Role role) {
        Keepsake keepsake = summarized(role, 5);
        ChatModelMock model = thatAlwaysResponds("ok");

        services(keepsake, model)
                .chatRequestTransformer(keepsake.requestBudget())
                .build()
                .chat("id", "two");

        List<ChatMessage> sent = model.requests().get(0).messages();
        assertThat(sent)
                .hasSizeBetween(3, 5)
                .startsWith(before.get(0), before.get(1))
                .endsWith(user("two"));
        assertThat(sent.stream().filter(Summarization::isSummary)).hasSize(1);
    }

    private Keepsake summarized(Summarization.Role role) {
        return summarized(role, 100);
    }

    /** Creates a conversation of four turns, the first of which are summarized. */
    private Keepsake summarized(Summarization.Role role, int window) {
        KeepsakeChatMemory memory = keepsake(role, 6, window).chatMemory("id");
        memory.add(SYSTEM);
        for (int i = 1; i <= 4; i++) {
            memory.messages();
            memory.add(user("q" + i));
            memory.add(ai("a" + i));
        }
        keepsake(role, 6, window).conversation("id").summarizeNow();
        Keepsake keepsake = keepsake(role, 60, window);
        before = keepsake.chatMemory("id").messages();
        assertThat(before).hasSize(4).startsWith(SYSTEM).endsWith(user("q4"), ai("a4"));
        assertThat(Summarization.isSummary(before.get(1))).isTrue();
        assertThat(before.get(1) instanceof UserMessage).isEqualTo(role == Summarization.Role.USER);
        return keepsake;
    }

    private Keepsake keepsake(Summarization.Role role, int trigger, int window) {
        return Keepsake.builder()
                .messageLog(log)
                .strategy(Summarization.triggerMessages(trigger)
                        .keepMessages(2)
                        .shownAs(role)
                        .and(io.github.keepsake4j.context.SlidingWindow.withMaxMessages(window)))
                .summarizer((previous, messages) -> "S")
                .executor(Runnable::run)
                .build();
    }

    private static AiServices<Assistant> services(Keepsake keepsake, ChatModelMock model) {
        return AiServices.builder(Assistant.class)
                .chatModel(model)
                .systemMessageProvider(id -> "Be brief")
                .chatMemoryProvider(keepsake.chatMemoryProvider());
    }

    private void assertSent(ChatModelMock model, int request, ChatMessage... more) {
        List<ChatMessage> expected = new ArrayList<>(before);
        expected.addAll(List.of(more));
        ChatRequest sent = model.requests().get(request);
        assertThat(sent.messages()).isEqualTo(expected);
    }

    /** Checks the number of stored messages, of which nine were there before. */
    private static void assertStored(Keepsake keepsake, int more) {
        assertThat(history(keepsake)).hasSize(9 + more).noneMatch(Summarization::isSummary);
        assertThat(keepsake.chatMemory("id").messages().stream().filter(Summarization::isSummary))
                .hasSize(1);
    }

    private static List<ChatMessage> history(Keepsake keepsake) {
        return Dialogue.history(keepsake.conversation("id"));
    }
}
