package io.github.keepsake4j.chat.turns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.guardrail.OutputGuardrail;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.TurnAssistant;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.turn.Turn;
import io.github.keepsake4j.turn.TurnPolicy;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An AI service whose model waits for the test's replies. Its tool can be held while it runs. */
final class Tab implements ChatModel {

    static final RuntimeException OUT_OF_ORDER = new IllegalStateException("out of order");

    private static final int SECONDS = 60;

    /** The requests, oldest first. */
    final List<List<ChatMessage>> requests = new CopyOnWriteArrayList<>();

    /** How often the tool ran. */
    final AtomicInteger payments = new AtomicInteger();

    private final Keepsake keepsake;
    private final ExecutorService threads;
    private final TurnAssistant assistant;
    private final BlockingQueue<String> arrived = new LinkedBlockingQueue<>();
    private final BlockingQueue<Object> replies = new LinkedBlockingQueue<>();
    private final CountDownLatch toolRuns = new CountDownLatch(1);
    private final CountDownLatch toolMayEnd = new CountDownLatch(1);
    private volatile boolean holdsTool;
    private @Nullable Future<String> running;

    Tab(Keepsake keepsake, ExecutorService threads, OutputGuardrail... guardrails) {
        this.keepsake = keepsake;
        this.threads = threads;
        AiServices<TurnAssistant> builder =
                keepsake.aiServices(TurnAssistant.class).chatModel(this).tools(this);
        this.assistant = (guardrails.length == 0 ? builder : builder.outputGuardrails(guardrails)).build();
    }

    @Tool
    String tool() {
        payments.incrementAndGet();
        toolRuns.countDown();
        if (holdsTool) {
            await(toolMayEnd);
        }
        return "done";
    }

    /** Ends its turn with an error. */
    @Tool
    String broken() {
        throw new IllegalStateException("broken");
    }

    /** Returns at once, even if the other tool is held. */
    @Tool
    String quick() {
        payments.incrementAndGet();
        return "quick";
    }

    @Override
    public ChatResponse doChat(ChatRequest request) {
        requests.add(List.copyOf(request.messages()));
        arrived.add(EndingTurns.text(request.messages()));
        Object reply = next(replies);
        if (reply instanceof Error error) {
            throw error;
        }
        if (reply instanceof RuntimeException error) {
            throw error;
        }
        return Script.response(reply instanceof AiMessage message ? message : Dialogue.ai((String) reply));
    }

    /** Begins a turn and returns its first request, once the model has it. */
    String ask(String question) {
        return ask(question, Turn.next());
    }

    String ask(String question, Turn turn) {
        running = threads.submit(() -> assistant.chat(Talk.ID, question, turn));
        return request();
    }

    String ask(String question, TurnPolicy policy) {
        running = threads.submit(
                () -> keepsake.turn(Talk.ID, policy, () -> assistant.chat(Talk.ID, question, Turn.next())));
        return request();
    }

    /** Returns the next request. If the turn ended without one, this fails with what it threw. */
    private String request() {
        for (int i = 0; i < SECONDS * 50; i++) {
            String request = poll(arrived, 20);
            if (request != null) {
                return request;
            }
            if (running != null && running.isDone() && arrived.isEmpty()) {
                throw new AssertionError("the turn ended without a request: " + end());
            }
        }
        throw new AssertionError("no request came");
    }

    /** Replies to the last request. */
    Tab reply(Object reply) {
        replies.add(reply);
        return this;
    }

    /** Replies and returns the request that follows. */
    String replyThenRequest(Object reply) {
        reply(reply);
        return request();
    }

    String nextRequest() {
        return request();
    }

    /** Replies with the last message of the turn and waits for its end. */
    Tab ends(Object reply) {
        reply(reply);
        assertThat(end()).isEqualTo(reply);
        return this;
    }

    /** Lets the turn fail and waits for its end. */
    Tab fails() {
        reply(OUT_OF_ORDER);
        assertThat(end()).contains("out of order");
        return this;
    }

    /** Returns what the turn returned, or what it threw as a text. */
    String end() {
        try {
            return running.get(SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            return e.getCause().toString();
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    /** Takes a whole turn on the caller's thread and returns its last request. */
    String chat(String id, String question, @Nullable Turn turn, Object... all) {
        replies.addAll(List.of(all));
        assistant.chat(id, question, turn == null ? Turn.next() : turn);
        arrived.clear();
        return EndingTurns.text(requests.get(requests.size() - 1));
    }

    Tab holdingTool() {
        holdsTool = true;
        return this;
    }

    void awaitTool() {
        await(toolRuns);
    }

    /** Lets the tool end and returns the request that follows. */
    String toolEnds() {
        toolMayEnd.countDown();
        return request();
    }

    void letGo() {
        toolMayEnd.countDown();
        replies.add(OUT_OF_ORDER);
    }

    static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object next(BlockingQueue<Object> queue) {
        Object next = poll(queue, SECONDS * 1_000L);
        if (next == null) {
            throw new IllegalStateException("the test gave no reply");
        }
        return next;
    }

    private static <T> @Nullable T poll(BlockingQueue<T> queue, long millis) {
        try {
            return queue.poll(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
