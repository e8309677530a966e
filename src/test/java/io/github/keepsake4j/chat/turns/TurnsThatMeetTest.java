package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.turn.TurnConflictException;
import io.github.keepsake4j.turn.TurnHandle;
import io.github.keepsake4j.turn.TurnPolicy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two AI services with a tool that use one conversation at once, under each policy. The tests check the requests of
 * their models.
 */
@Timeout(600)
class TurnsThatMeetTest {

    private static final SystemMessage SYSTEM = SystemMessage.from("Be brief");

    interface Assistant {
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    interface StreamingAssistant {
        TokenStream chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    /** Reports that a thread has reached it, and holds the thread until it is opened. */
    private static final class Gate {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch open = new CountDownLatch(1);

        void pass() {
            reached.countDown();
            await(open);
        }

        void awaitReached() {
            await(reached);
        }

        void letGo() {
            open.countDown();
        }

        private static void await(CountDownLatch latch) {
            try {
                assertThat(latch.await(2, TimeUnit.MINUTES)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** An AI service whose model calls the tool once and then answers. Model and tool stop at gates. */
    private final class Service implements ChatModel {

        final String name;
        final AiMessage calls;
        final ToolExecutionResultMessage result;
        final AiMessage answer;
        final List<List<ChatMessage>> sent = new CopyOnWriteArrayList<>();
        final Gate firstCall = new Gate();
        final Gate tool = new Gate();
        final Gate secondCall = new Gate();
        final Assistant assistant;

        Service(String name) {
            this.name = name;
            calls = AiMessage.from(call(name, "lookUp", "{}"));
            result = ToolExecutionResultMessage.builder()
                    .id(name)
                    .toolName("lookUp")
                    .text("found by " + name)
                    .isError(false)
                    .build();
            answer = ai("answer of " + name);
            assistant = AiServices.builder(Assistant.class)
                    .chatModel(this)
                    .systemMessageProvider(id -> SYSTEM.text())
                    .tools(this)
                    .chatMemoryProvider(keepsake.chatMemoryProvider())
                    .build();
        }

        @Tool
        String lookUp() {
            tool.pass();
            return "found by " + name;
        }

        @Override
        public ChatResponse doChat(ChatRequest request) {
            sent.add(List.copyOf(request.messages()));
            boolean first = sent.size() % 2 == 1;
            (first ? firstCall : secondCall).pass();
            return ChatResponse.builder().aiMessage(first ? calls : answer).build();
        }

        Future<String> startTurn(TurnPolicy policy) {
            return threads.submit(() -> turn(policy));
        }

        String turn(TurnPolicy policy) {
            return keepsake.turn("alice", policy, () -> assistant.chat("alice", "question of " + name));
        }

        ChatMessage question() {
            return user("question of " + name);
        }

        void letGo() {
            firstCall.letGo();
            tool.letGo();
            secondCall.letGo();
        }
    }

    @TempDir
    Path directory;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private MessageLog file;
    private WatchedLog log;
    private Keepsake keepsake;
    private Service one;
    private Service two;

    @BeforeEach
    void open() {
        file = SqliteMessageLog.open(directory.resolve("chat.db"));
        log = new WatchedLog(file);
        keepsake = Keepsake.builder().messageLog(log.log()).build();
        one = new Service("one");
        two = new Service("two");
    }

    @AfterEach
    void close() {
        one.letGo();
        two.letGo();
        threads.shutdownNow();
        file.close();
    }

    @Test
    void keep_holds_both_in_order_of_arrival_and_shows_no_model_half_a_tool_round() throws Exception {
        Future<String> first = one.startTurn(TurnPolicy.KEEP);
        one.firstCall.awaitReached();
        Future<String> second = two.startTurn(TurnPolicy.KEEP);
        two.firstCall.awaitReached();
        // The second turn's call is written and waits for its result while the first turn does its whole tool round.
        two.firstCall.letGo();
        two.tool.awaitReached();
        one.firstCall.letGo();
        one.tool.letGo();
        one.secondCall.awaitReached();
        two.tool.letGo();
        two.secondCall.awaitReached();
        one.secondCall.letGo();
        assertThat(first.get()).isEqualTo("answer of one");
        two.secondCall.letGo();
        assertThat(second.get()).isEqualTo("answer of two");

        assertThat(history())
                .containsExactly(
                        SYSTEM,
                        one.question(),
                        two.question(),
                        two.calls,
                        one.calls,
                        one.result,
                        two.result,
                        one.answer,
                        two.answer);
        assertThat(keepsake.conversation("alice").branches()).hasSize(1);
        assertThat(one.sent)
                .containsExactly(
                        List.of(SYSTEM, one.question()), List.of(SYSTEM, one.question(), one.calls, one.result));
        assertThat(two.sent)
                .containsExactly(
                        List.of(SYSTEM, two.question()), List.of(SYSTEM, two.question(), two.calls, two.result));
        assertAllValid();
        assertThat(log.calls("acquireLease") + log.calls("releaseLease"))
                .as("statements for leases")
                .isZero();
    }

    /** The answer of the second turn comes while the first one's tool runs. */
    @Test
    void keep_ends_each_request_with_what_its_own_turn_said_and_shows_the_rest_in_the_next_turn() throws Exception {
        Future<String> first = one.startTurn(TurnPolicy.KEEP);
        one.firstCall.letGo();
        one.tool.awaitReached();
        two.letGo();
        assertThat(two.turn(TurnPolicy.KEEP)).isEqualTo("answer of two");
        one.letGo();
        assertThat(first.get()).isEqualTo("answer of one");

        assertThat(one.sent.get(1)).containsExactly(SYSTEM, one.question(), one.calls, one.result);
        one.sent.forEach(Talk::assertValid);
        assertThat(keepsake.chatMemory("alice").messages())
                .containsExactly(
                        SYSTEM,
                        two.question(),
                        two.calls,
                        two.result,
                        two.answer,
                        one.question(),
                        one.calls,
                        one.result,
                        one.answer);
    }

    @Test
    void under_wait_the_second_turn_sees_the_first_ones_answer() throws Exception {
        Future<String> first = one.startTurn(TurnPolicy.WAIT);
        one.firstCall.awaitReached();
        Future<String> second = two.startTurn(TurnPolicy.WAIT);
        log.awaitRefusal();
        two.letGo();
        assertThat(history()).containsExactly(SYSTEM, one.question());
        one.firstCall.letGo();
        one.tool.awaitReached();
        log.awaitRefusal();
        assertThat(two.sent).isEmpty();
        one.letGo();
        assertThat(first.get()).isEqualTo("answer of one");
        assertThat(second.get()).isEqualTo("answer of two");

        assertOneBehindTheOther();
    }

    @Test
    void under_reject_the_second_turn_fails_before_anything_is_written() throws Exception {
        Future<String> first = one.startTurn(TurnPolicy.REJECT);
        one.firstCall.awaitReached();
        List<ChatMessage> before = history();
        assertThatThrownBy(() -> two.turn(TurnPolicy.REJECT))
                .isInstanceOfSatisfying(TurnConflictException.class, e -> assertThat(e.isRetryable())
                        .isTrue())
                .hasMessageContaining("alice");
        assertThat(history()).isEqualTo(before).containsExactly(SYSTEM, one.question());
        one.letGo();
        assertThat(first.get()).isEqualTo("answer of one");
        assertThat(two.sent).isEmpty();
        two.letGo();
        assertThat(two.turn(TurnPolicy.REJECT)).isEqualTo("answer of two");
        assertOneBehindTheOther();
    }

    @Test
    void turns_of_two_conversations_do_not_meet() throws Exception {
        Future<String> first = one.startTurn(TurnPolicy.REJECT);
        one.firstCall.awaitReached();
        two.letGo();

        assertThat(keepsake.turn("bob", TurnPolicy.REJECT, () -> two.assistant.chat("bob", "hello")))
                .isEqualTo("answer of two");

        one.letGo();
        first.get();
    }

    /** The handle is closed on the model's thread, after the last message that LangChain4j writes. */
    @ParameterizedTest
    @EnumSource(value = TurnPolicy.class, names = "KEEP", mode = EnumSource.Mode.EXCLUDE)
    void a_streaming_turn_lasts_until_its_callback_closes_it(TurnPolicy policy) throws Exception {
        BlockingQueue<StreamingChatResponseHandler> handlers = new LinkedBlockingQueue<>();
        List<List<ChatMessage>> sent = new CopyOnWriteArrayList<>();
        StreamingAssistant assistant = AiServices.builder(StreamingAssistant.class)
                .streamingChatModel(new StreamingChatModel() {
                    @Override
                    public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
                        sent.add(List.copyOf(request.messages()));
                        handlers.add(handler);
                    }
                })
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .build();
        Supplier<CompletableFuture<?>> stream = () -> {
            CompletableFuture<Object> done = new CompletableFuture<>();
            TurnHandle turn = keepsake.openTurn("alice", policy);
            assistant
                    .chat("alice", "streamed")
                    .onPartialResponse(token -> {})
                    .onCompleteResponse(response -> {
                        turn.close();
                        done.complete(response);
                    })
                    .onError(error -> {
                        turn.close();
                        done.completeExceptionally(error);
                    })
                    .start();
            return done;
        };

        CompletableFuture<?> first = stream.get();
        // No call of this thread is within the handle's turn.
        assertThrown(TurnConflictException.class, () -> keepsake.turn("alice", TurnPolicy.REJECT, () -> "not run"));
        Future<CompletableFuture<?>> second = threads.submit(stream::get);
        StreamingChatResponseHandler model = handlers.take();
        if (policy == TurnPolicy.WAIT) {
            log.awaitRefusal();
            log.awaitRefusal();
            threads.submit(() -> answer(model, "streamed answer"));
            CompletableFuture<?> waited = second.get();
            answer(handlers.take(), "second answer");
            waited.get();
            assertThat(sent.get(1)).containsExactly(user("streamed"), ai("streamed answer"), user("streamed"));
        } else {
            assertThatThrownBy(second::get).hasCauseInstanceOf(TurnConflictException.class);
            threads.submit(() -> model.onError(new IllegalStateException("out of order")));
            assertThatThrownBy(first::get).hasMessageContaining("out of order");
            stream.get();
            answer(handlers.take(), "second answer");
        }
        assertThat(history()).endsWith(ai("second answer"));
    }

    private static void answer(StreamingChatResponseHandler model, String text) {
        model.onCompleteResponse(ChatResponse.builder().aiMessage(ai(text)).build());
    }

    /** Asserts that the second turn saw the first one, which saw itself alone. */
    private void assertOneBehindTheOther() {
        List<ChatMessage> turnOne = List.of(SYSTEM, one.question(), one.calls, one.result, one.answer);
        assertThat(one.sent).containsExactly(turnOne.subList(0, 2), turnOne.subList(0, 4));
        assertThat(two.sent)
                .containsExactly(with(turnOne, two.question()), with(turnOne, two.question(), two.calls, two.result));
        assertThat(history()).isEqualTo(with(turnOne, two.question(), two.calls, two.result, two.answer));
        assertAllValid();
    }

    private void assertAllValid() {
        one.sent.forEach(Talk::assertValid);
        two.sent.forEach(Talk::assertValid);
    }

    private static List<ChatMessage> with(List<ChatMessage> list, ChatMessage... more) {
        List<ChatMessage> all = new ArrayList<>(list);
        all.addAll(List.of(more));
        return all;
    }

    private List<ChatMessage> history() {
        return Dialogue.history(keepsake.conversation("alice"));
    }
}
