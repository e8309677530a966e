package io.github.keepsake4j.chat.keepsake;

import static dev.langchain4j.model.chat.mock.ChatModelMock.thatAlwaysResponds;
import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.guardrail.OutputGuardrailException;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.model.chat.mock.StreamingChatModelMock;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.rag.content.retriever.ContentRetriever;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.chat.turns.EndingTurns.Streaming;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.Bookings;
import io.github.keepsake4j.testing.Bookings.NoRejected;
import io.github.keepsake4j.testing.Bookings.RemoveRejected;
import io.github.keepsake4j.testing.Dialogue;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The chat memory under LangChain4j's AiServices, with its own mocks. The tests check the messages in the log and the
 * messages that the model received.
 */
class AiServicesTest {

    private static final SystemMessage SYSTEM = SystemMessage.from("Be brief");
    private static final AiMessage TWO_CALLS =
            AiMessage.from(call("1", "add", "{\"a\":1,\"b\":2}"), call("2", "add", "{\"a\":3,\"b\":4}"));

    interface Forgetful {
        String chat(String text);
    }

    @TempDir
    Path directory;

    private MessageLog log;
    private Keepsake keepsake;

    @BeforeEach
    void open() {
        log = SqliteMessageLog.open(directory.resolve("chat.db"));
        keepsake = Keepsake.builder().messageLog(log).build();
    }

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void a_chat_remembers_and_conversations_are_apart() {
        ChatModelMock model = thatAlwaysResponds("ok");
        Assistant assistant = services(model).build();

        assistant.chat("bob", "hello");
        assistant.chat("alice", "one");
        assistant.chat("alice", "two");

        assertThat(history("alice")).containsExactly(SYSTEM, user("one"), ai("ok"), user("two"), ai("ok"));
        assertThat(history("bob")).containsExactly(SYSTEM, user("hello"), ai("ok"));
        assertThat(lastRequest(model)).containsExactly(SYSTEM, user("one"), ai("ok"), user("two"));
        assertThat(view("alice")).isEqualTo(history("alice"));
    }

    @Test
    void tools() {
        ChatModelMock model = thatAlwaysResponds(TWO_CALLS, ai("10"), ai("bye"));
        Assistant assistant = services(model).tools(new Bookings()).build();

        assistant.chat("alice", "1+2+3+4?");
        assistant.chat("alice", "thanks");

        List<ChatMessage> expected = List.of(
                SYSTEM,
                user("1+2+3+4?"),
                TWO_CALLS,
                history("alice").get(3),
                history("alice").get(4),
                ai("10"),
                user("thanks"),
                ai("bye"));
        assertThat(history("alice")).isEqualTo(expected);
        assertThat(results("alice"))
                .extracting(ToolExecutionResultMessage::text)
                .containsExactly("3", "7");
        assertThat(view("alice")).isEqualTo(expected);
        assertThat(model.requests().get(1).messages()).isEqualTo(expected.subList(0, 5));
        assertThat(lastRequest(model)).isEqualTo(expected.subList(0, 7));
    }

    @Test
    void streaming_with_tools() throws Exception {
        StreamingChatModelMock model = StreamingChatModelMock.thatAlwaysStreams(TWO_CALLS, ai("10"), ai("bye"));
        Streaming assistant = streamingServices(model).tools(new Bookings()).build();

        stream(assistant.chat("alice", "1+2+3+4?"));
        stream(assistant.chat("alice", "thanks"));

        assertThat(history("alice"))
                .hasSize(8)
                .startsWith(SYSTEM, user("1+2+3+4?"), TWO_CALLS)
                .endsWith(ai("10"), user("thanks"), ai("bye"));
        assertThat(view("alice")).isEqualTo(history("alice"));
        assertThat(model.requests().get(2).messages())
                .isEqualTo(history("alice").subList(0, 7));
    }

    @Test
    void retrieved_content_is_stored_with_the_message() {
        ChatModelMock model = thatAlwaysResponds("ok");
        services(model).contentRetriever(retriever()).build().chat("alice", "one");

        UserMessage augmented = (UserMessage) history("alice").get(1);
        assertThat(augmented.singleText()).contains("one").contains("a retrieved fact");
        assertThat(history("alice")).containsExactly(SYSTEM, augmented, ai("ok"));
        assertThat(view("alice")).as("later requests").containsExactly(SYSTEM, user("one"), ai("ok"));
        assertThat(lastRequest(model)).containsExactly(SYSTEM, augmented);
    }

    @Test
    void retrieved_content_is_not_stored_when_that_is_asked_for() {
        ChatModelMock model = thatAlwaysResponds(TWO_CALLS, ai("10"));
        Assistant assistant = services(model)
                .contentRetriever(retriever())
                .storeRetrievedContentInChatMemory(false)
                .tools(new Bookings())
                .build();

        assistant.chat("alice", "one");

        assertThat(history("alice")).hasSize(6).startsWith(SYSTEM, user("one"), TWO_CALLS);
        assertThat(view("alice")).isEqualTo(history("alice"));
        assertThat(((UserMessage) lastRequest(model).get(1)).singleText()).contains("a retrieved fact");
        assertThat(lastRequest(model)).hasSize(5);
    }

    @Test
    void a_guardrail_reprompt_shows_the_answer_that_the_user_got_and_keeps_the_rejected_one() {
        ChatModelMock model = thatAlwaysResponds(ai("rejected"), ai("fine"));
        Assistant assistant = services(model).outputGuardrails(new NoRejected()).build();

        assertThat(assistant.chat("alice", "one")).isEqualTo("fine");

        assertThat(history("alice")).containsExactly(SYSTEM, user("one"), ai("rejected"), ai("fine"));
        assertThat(view("alice")).containsExactly(SYSTEM, user("one"), ai("fine"));
        assertThat(lastRequest(model)).containsExactly(SYSTEM, user("one"), ai("rejected"), user("Say something else"));
    }

    @Test
    void a_guardrail_removal_hides_the_answer_and_keeps_it() {
        ChatModelMock model = thatAlwaysResponds(ai("good"), ai("rejected"), ai("better"));
        Assistant assistant =
                services(model).outputGuardrails(new RemoveRejected()).build();
        assistant.chat("alice", "one");

        assertThatThrownBy(() -> assistant.chat("alice", "two")).isInstanceOf(OutputGuardrailException.class);

        assertThat(history("alice")).containsExactly(SYSTEM, user("one"), ai("good"), user("two"), ai("rejected"));
        assertThat(view("alice")).containsExactly(SYSTEM, user("one"), ai("good"));

        assistant.chat("alice", "three");
        assertThat(history("alice")).hasSize(7).endsWith(ai("rejected"), user("three"), ai("better"));
        assertThat(view("alice")).containsExactly(SYSTEM, user("one"), ai("good"), user("three"), ai("better"));
        assertThat(lastRequest(model)).containsExactly(SYSTEM, user("one"), ai("good"), user("three"));
    }

    @Test
    void compensation_shows_what_was_rolled_back_and_keeps_what_was_said() {
        AiMessage book = AiMessage.from(call("1", "book", "{\"what\":\"a room\"}"));
        AiMessage pay = AiMessage.from(call("2", "pay", "{\"what\":\"a room\"}"));
        ChatModelMock model = thatAlwaysResponds(book, pay, ai("sorry"));
        Assistant assistant = services(model)
                .tools(new Bookings())
                .compensateOnToolErrors(true)
                .build();

        assistant.chat("alice", "book a room");

        List<ToolExecutionResultMessage> results = results("alice");
        assertThat(results).extracting(ToolExecutionResultMessage::id).containsExactly("1", "1", "2");
        ToolExecutionResultMessage booked = results.get(0);
        ToolExecutionResultMessage rolledBack = results.get(1);
        ToolExecutionResultMessage failed = results.get(2);
        assertThat(booked.text()).isEqualTo("booked");
        assertThat(rolledBack.text()).contains("rolled back");
        assertThat(history("alice"))
                .containsExactly(SYSTEM, user("book a room"), book, booked, pay, rolledBack, failed, ai("sorry"));
        assertThat(view("alice"))
                .containsExactly(SYSTEM, user("book a room"), book, rolledBack, pay, failed, ai("sorry"));
        assertThat(lastRequest(model)).isEqualTo(view("alice").subList(0, 6));
    }

    @Test
    void a_model_error_loses_nothing() {
        Assistant failing = services(new ChatModelMock(new IllegalStateException("out of order")))
                .build();
        assertThatThrownBy(() -> failing.chat("alice", "one")).hasMessageContaining("out of order");
        assertThat(history("alice")).containsExactly(SYSTEM, user("one"));
        assertThat(view("alice")).containsExactly(SYSTEM);

        ChatModelMock model = thatAlwaysResponds("ok");
        services(model).build().chat("alice", "one");

        assertThat(history("alice")).containsExactly(SYSTEM, user("one"), user("one"), ai("ok"));
    }

    @Test
    void a_throwing_tool_error_handler_leaves_calls_that_no_later_request_holds() {
        ChatModelMock model = thatAlwaysResponds(AiMessage.from(call("2", "pay", "{\"what\":\"a room\"}")), ai("ok"));
        Assistant assistant = services(model)
                .tools(new Bookings())
                .toolExecutionErrorHandler((error, context) -> {
                    throw new IllegalStateException("gave up");
                })
                .build();
        assertThatThrownBy(() -> assistant.chat("alice", "one")).hasMessageContaining("gave up");
        assertThat(history("alice")).hasSize(3);

        assistant.chat("alice", "two");

        assertThat(history("alice")).hasSize(5);
        assertThat(lastRequest(model)).containsExactly(SYSTEM, user("two"));
    }

    @Test
    void a_changed_system_message_comes_first() {
        ChatModelMock model = thatAlwaysResponds("ok");
        services(model).build().chat("alice", "one");
        services(model).systemMessageProvider(id -> "Be long").build().chat("alice", "two");

        assertThat(lastRequest(model))
                .containsExactly(SystemMessage.from("Be long"), user("one"), ai("ok"), user("two"));
        assertThat(history("alice")).hasSize(6);
    }

    @Test
    void without_a_memory_id_users_are_not_mixed_unless_that_is_wanted() {
        ChatModel model = thatAlwaysResponds("ok");
        Forgetful refused = AiServices.builder(Forgetful.class)
                .chatModel(model)
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .build();
        assertThrown(InvalidInputException.class, () -> refused.chat("hello"), "acceptDefaultMemoryId()");

        Keepsake single =
                Keepsake.builder().messageLog(log).acceptDefaultMemoryId().build();
        AiServices.builder(Forgetful.class)
                .chatModel(model)
                .chatMemoryProvider(single.chatMemoryProvider())
                .build()
                .chat("hello");
        assertThat(Dialogue.history(single.conversation("default"))).hasSize(2);
    }

    private AiServices<Assistant> services(ChatModel model) {
        return AiServices.builder(Assistant.class)
                .chatModel(model)
                .systemMessageProvider(id -> "Be brief")
                .chatMemoryProvider(keepsake.chatMemoryProvider());
    }

    private AiServices<Streaming> streamingServices(StreamingChatModel model) {
        return AiServices.builder(Streaming.class)
                .streamingChatModel(model)
                .systemMessageProvider(id -> "Be brief")
                .chatMemoryProvider(keepsake.chatMemoryProvider());
    }

    private static void stream(TokenStream stream) throws Exception {
        CompletableFuture<Object> done = new CompletableFuture<>();
        stream.onPartialResponse(token -> {})
                .onCompleteResponse(done::complete)
                .onError(done::completeExceptionally)
                .start();
        done.get(2, TimeUnit.MINUTES);
    }

    private static ContentRetriever retriever() {
        return query -> List.of(Content.from("a retrieved fact"));
    }

    private static List<ChatMessage> lastRequest(ChatModelMock model) {
        List<ChatRequest> requests = model.requests();
        return requests.get(requests.size() - 1).messages();
    }

    private List<ToolExecutionResultMessage> results(String id) {
        return history(id).stream()
                .filter(ToolExecutionResultMessage.class::isInstance)
                .map(ToolExecutionResultMessage.class::cast)
                .toList();
    }

    private List<ChatMessage> history(String id) {
        return Dialogue.history(keepsake.conversation(id));
    }

    private List<ChatMessage> view(String id) {
        return keepsake.chatMemory(id).messages();
    }
}
