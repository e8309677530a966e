package io.github.keepsake4j.chat.turns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.text.MessageText;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

/** Answers that are stopped while their tokens come: what is stored is what the client got, byte for byte. */
@Timeout(600)
class StoppedAnswersTest {

    private static final int TOKENS = 12;

    interface Assistant {
        TokenStream chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    interface Streaming {
        Flux<String> chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    /** A model that streams on a thread of its own. It may know no handle, and may go on although it is cancelled. */
    private static final class Model implements StreamingChatModel {
        private final boolean hasHandle;
        private final boolean ignores;
        private final CompletableFuture<Void> end = new CompletableFuture<>();
        private volatile boolean cancelled;
        private final StreamingHandle handle = new StreamingHandle() {
            @Override
            public void cancel() {
                cancelled = true;
            }

            @Override
            public boolean isCancelled() {
                return cancelled;
            }
        };

        Model(boolean hasHandle, boolean ignores) {
            this.hasHandle = hasHandle;
            this.ignores = ignores;
        }

        @Override
        public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
            new Thread(() -> {
                        try {
                            say(handler);
                            end.complete(null);
                        } catch (Throwable e) {
                            end.completeExceptionally(e);
                        }
                    })
                    .start();
        }

        private void say(StreamingChatResponseHandler handler) {
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < TOKENS; i++) {
                if (cancelled && !ignores) {
                    return;
                }
                String token = "w" + i + "\u00e9 ";
                all.append(token);
                if (hasHandle) {
                    handler.onPartialResponse(new PartialResponse(token), new PartialResponseContext(handle));
                } else {
                    handler.onPartialResponse(token);
                }
            }
            handler.onCompleteResponse(Script.response(Dialogue.ai(all.toString())));
        }
    }

    @Test
    void what_is_stored_of_a_stopped_answer_is_what_was_handed_out() throws Exception {
        long first = Counts.seed();
        int stopped = 0;
        for (int run = 0; run < Counts.of(100, 1_000); run++) {
            stopped += stop(first + run) ? 1 : 0;
        }
        assertThat(stopped).isPositive();
    }

    /** Stops an answer at a random token, and returns whether it was in time. */
    private static boolean stop(long seed) throws Exception {
        Random random = new Random(seed);
        Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());
        Model model = new Model(random.nextInt(4) > 0, random.nextInt(4) == 0);
        int at = random.nextInt(TOKENS);
        boolean waits = random.nextBoolean();
        boolean byHandle = model.hasHandle && random.nextInt(3) == 0;
        boolean own = byHandle && random.nextBoolean();
        StringBuffer got = new StringBuffer();
        AtomicInteger seen = new AtomicInteger();
        AtomicReference<PartialResponseContext> context = new AtomicReference<>();
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        AtomicInteger stops = new AtomicInteger();
        Thread stopper = new Thread(() -> {
            try {
                assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            if (!byHandle) {
                stops.set(keepsake.conversation("c").stop());
            } else if (!own) {
                context.get().streamingHandle().cancel();
            }
            stopped.countDown();
        });
        stopper.start();
        Runnable slow = () -> {
            if (seen.getAndIncrement() != at) {
                return;
            }
            if (own) {
                context.get().streamingHandle().cancel();
            }
            reached.countDown();
            if (waits) {
                // The answer is stopped while this token is being handed out.
                await(stopped);
            }
        };
        Assistant assistant =
                keepsake.aiServices(Assistant.class).streamingChatModel(model).build();
        TokenStream stream = assistant.chat("c", "A story").onError(error -> {});
        if (byHandle || random.nextBoolean()) {
            stream.onPartialResponseWithContext((token, with) -> {
                got.append(token.text());
                context.set(with);
                slow.run();
            });
        } else {
            stream.onPartialResponse(token -> {
                got.append(token);
                slow.run();
            });
        }
        stream.start();
        model.end.get(1, TimeUnit.MINUTES);
        stopper.join();

        List<LoggedMessage> history =
                keepsake.conversation("c").history(HistoryQuery.oldest(10)).messages();
        List<LoggedMessage> answers = history.stream()
                .filter(message -> message.message() instanceof AiMessage)
                .toList();
        LoggedMessage answer = answers.get(0);
        assertThat(MessageText.of(answer.message())).as("seed %d", seed).isEqualTo(got.toString());
        boolean inTime = answer.outcome() != null;
        if (waits || own) {
            assertThat(inTime).as("seed %d", seed).isTrue();
            assertThat(seen).as("seed %d", seed).hasValue(at + 1);
        }
        if (inTime) {
            assertThat(answer.outcome()).isEqualTo(Outcome.incomplete("cancelled"));
            assertThat(stops.get() == 1 || byHandle).as("seed %d", seed).isTrue();
        }
        return inTime;
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** LangChain4j hands nothing out before an output guardrail has seen the whole answer. */
    @Test
    void nothing_is_stored_of_an_answer_that_is_stopped_before_its_guardrail() throws Exception {
        for (boolean hasHandle : new boolean[] {true, false}) {
            Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());
            CountDownLatch saying = new CountDownLatch(1);
            CountDownLatch stopped = new CountDownLatch(1);
            EndingTurns.StreamScript model = new EndingTurns.StreamScript(sink -> {
                sink.tokens("Once ", "upon ");
                saying.countDown();
                await(stopped);
                if (!hasHandle) {
                    sink.tokens("a ").done("Once upon a ");
                }
            });
            Assistant assistant = keepsake.aiServices(Assistant.class)
                    .streamingChatModel(model)
                    .outputGuardrails(new EndingTurns.Pass())
                    .build();
            StringBuffer got = new StringBuffer();
            assistant
                    .chat("c", "A story")
                    .onPartialResponse(got::append)
                    .onError(error -> {})
                    .start();
            await(saying);
            assertThat(keepsake.conversation("c").stop()).isOne();
            assertThat(EndingTurns.history(keepsake, "c")).isEqualTo("U(A story) [failed cancelled]");
            stopped.countDown();
            model.await();

            assertThat(got).isEmpty();
            assertThat(keepsake.conversation("c").messages()).isEmpty();
        }
    }

    /** Takes tokens of a flux one by one, as many as it wants. */
    private static final class Slow extends BaseSubscriber<String> {
        private final StringBuffer got = new StringBuffer();
        private final CountDownLatch completed = new CountDownLatch(1);
        private final CountDownLatch reached = new CountDownLatch(1);
        private final int wanted;
        private final boolean cancels;
        private int taken;

        Slow(int wanted, boolean cancels) {
            this.wanted = wanted;
            this.cancels = cancels;
        }

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            if (wanted > 0) {
                request(1);
            } else {
                reached.countDown();
            }
        }

        @Override
        protected void hookOnNext(String token) {
            got.append(token);
            taken++;
            if (taken < wanted) {
                request(1);
                return;
            }
            reached.countDown();
            if (cancels) {
                cancel();
            }
        }

        @Override
        protected void hookOnComplete() {
            completed.countDown();
        }
    }

    /** The model is ahead of what the subscriber has asked for. */
    @Test
    void a_flux_completes_when_its_answer_is_stopped_and_stops_it_when_it_is_cancelled() throws Exception {
        long first = Counts.seed();
        for (int run = 0; run < Counts.of(40, 1_000); run++) {
            Random random = new Random(first + run);
            Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());
            int wanted = random.nextInt(TOKENS);
            boolean cancels = wanted > 0 && random.nextBoolean();
            CountDownLatch stopped = new CountDownLatch(1);
            EndingTurns.StreamScript model = new EndingTurns.StreamScript(sink -> {
                for (int i = 0; i < TOKENS; i++) {
                    sink.tokens("w" + i + "\u00e9 ");
                }
                await(stopped);
                assertThat(sink.cancelled).isTrue();
            });
            Streaming assistant = keepsake.aiServices(Streaming.class)
                    .streamingChatModel(model)
                    .build();
            Slow slow = new Slow(wanted, cancels);
            assistant.chat("c", "A story").subscribe(slow);
            await(slow.reached);
            if (!cancels) {
                assertThat(keepsake.conversation("c").stop())
                        .as("seed %d", first + run)
                        .isOne();
                await(slow.completed);
            }
            stopped.countDown();
            model.await();

            String stored = wanted == 0
                    ? "U(A story) [failed cancelled]"
                    : "U(A story), A(" + slow.got + ") [incomplete cancelled]";
            assertThat(EndingTurns.history(keepsake, "c"))
                    .as("seed %d", first + run)
                    .isEqualTo(stored);
            assertThat(slow.taken).isEqualTo(wanted);
        }
    }

    @Test
    void a_flux_with_tool_rounds_is_whole_and_is_stopped_within_a_round() throws Exception {
        Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());
        CountDownLatch saying = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        EndingTurns.StreamScript model = new EndingTurns.StreamScript(
                sink -> sink.tokens("I ", "look. ").done(EndingTurns.toolCall("a")),
                sink -> sink.tokens("It ", "is ").done("It is "),
                sink -> sink.tokens("I ", "look. ").done(EndingTurns.toolCall("b")),
                sink -> {
                    sink.tokens("It ", "was ");
                    saying.countDown();
                    await(stopped);
                });
        Streaming assistant = keepsake.aiServices(Streaming.class)
                .streamingChatModel(model)
                .tools(new EndingTurns.Tools())
                .build();
        assertThat(assistant.chat("c", "one").collectList().block(Duration.ofMinutes(1)))
                .containsExactly("I ", "look. ", "It ", "is ");
        Slow slow = new Slow(3, false);
        assistant.chat("c", "two").subscribe(slow);
        await(slow.reached);
        await(saying);
        assertThat(keepsake.conversation("c").stop()).isOne();
        stopped.countDown();
        await(slow.completed);

        assertThat(slow.got).hasToString("I look. It ");
        assertThat(EndingTurns.history(keepsake, "c")).endsWith(", A(It ) [incomplete cancelled]");
    }
}
