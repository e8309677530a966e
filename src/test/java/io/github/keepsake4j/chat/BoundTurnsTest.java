package io.github.keepsake4j.chat;

import static io.github.keepsake4j.chat.turns.EndingTurns.history;
import static io.github.keepsake4j.chat.turns.EndingTurns.toolCall;
import static io.github.keepsake4j.chat.turns.EndingTurns.view;
import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.observability.api.AiServiceListenerRegistrar;
import dev.langchain4j.observability.api.DefaultAiServiceListenerRegistrar;
import dev.langchain4j.observability.api.event.AiServiceCompletedEvent;
import dev.langchain4j.observability.api.listener.AiServiceListener;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.spi.observability.AiServiceListenerRegistrarFactory;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.chat.turns.EndingTurns.Column;
import io.github.keepsake4j.chat.turns.EndingTurns.StreamScript;
import io.github.keepsake4j.chat.turns.EndingTurns.Streaming;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.TurnPlace;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.Watched;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which turn the messages and the outcomes of a call belong to. */
@Timeout(7200)
class BoundTurnsTest {

    private static final RuntimeException OUT_OF_ORDER = new IllegalStateException("out of order");

    private final MessageLog log = new InMemoryMessageLog();
    private final Keepsake keepsake = Keepsake.builder().messageLog(log).build();

    interface Plain {
        String chat(String text);
    }

    private Assistant service(Script model, Object... tools) {
        AiServices<Assistant> builder =
                AiServices.builder(Assistant.class).chatModel(model).chatMemoryProvider(keepsake.chatMemoryProvider());
        return (tools.length == 0 ? builder : builder.tools(tools)).build();
    }

    @Test
    void two_keepsakes_with_equal_ids_are_told_apart() {
        Keepsake other = Keepsake.builder().messageLog(new InMemoryMessageLog()).build();
        other.chatMemory("c").add(List.of(user("theirs"), ai("hello")));
        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(new Script(OUT_OF_ORDER))
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                // Reads the other memory before the service uses its own.
                .contentRetriever(query -> List.of(
                        Content.from("fact " + other.chatMemory("c").messages().size())))
                .build();

        assertThatThrownBy(() -> assistant.chat("c", "one")).isSameAs(OUT_OF_ORDER);

        assertThat(history(keepsake, "c")).isEqualTo("U(one) [failed IllegalStateException]");
        assertThat(history(other, "c")).isEqualTo("U(theirs), A(hello)");
    }

    @Test
    void a_memory_without_a_memory_id_is_bound_too() {
        Plain assistant = AiServices.builder(Plain.class)
                .chatModel(new Script(OUT_OF_ORDER))
                .chatMemory(keepsake.chatMemory("c"))
                .build();

        assertThatThrownBy(() -> assistant.chat("one")).isSameAs(OUT_OF_ORDER);

        assertThat(history(keepsake, "c")).isEqualTo("U(one) [failed IllegalStateException]");
    }

    @Test
    void what_the_application_adds_itself_belongs_to_no_turn() {
        Script model = new Script(OUT_OF_ORDER, "fine");
        Assistant assistant = service(model);
        ChatMemory memory = keepsake.chatMemory("c");
        memory.add(user("a document"));
        memory.add(user("its question"));
        assertThatThrownBy(() -> assistant.chat("c", "one")).isSameAs(OUT_OF_ORDER);
        memory.add(user("another document"));

        assertThat(view(keepsake, "c")).isEqualTo("U(a document), U(its question), U(another document)");
    }

    @Test
    void another_memory_implementation_is_left_alone() {
        ChatMemory theirs = MessageWindowChatMemory.withMaxMessages(10);
        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(new Script(OUT_OF_ORDER, "fine"))
                .chatMemoryProvider(id -> theirs)
                .build();
        assertThatThrownBy(() -> assistant.chat("c", "one")).isSameAs(OUT_OF_ORDER);

        assistant.chat("c", "two");

        assertThat(EndingTurns.text(theirs.messages())).isEqualTo("U(one), U(two), A(fine)");
    }

    /** A tool that asks another service, in the same memory object. */
    static class Asks {
        private final Assistant inner;

        Asks(Assistant inner) {
            this.inner = inner;
        }

        @Tool
        String tool() {
            return inner.chat("c", "inner");
        }
    }

    @Test
    void a_service_in_a_tool_that_fails_does_not_fail_the_outer_turn() {
        KeepsakeChatMemory one = keepsake.chatMemory("c");
        Assistant inner = AiServices.builder(Assistant.class)
                .chatModel(new Script(OUT_OF_ORDER))
                .chatMemoryProvider(id -> one)
                .build();
        Script model = new Script(toolCall("a"), "fine");
        Assistant outer = AiServices.builder(Assistant.class)
                .chatModel(model)
                .tools(new Asks(inner))
                .chatMemoryProvider(id -> one)
                .build();

        assertThat(outer.chat("c", "outer")).isEqualTo("fine");

        assertThat(history(keepsake, "c"))
                .isEqualTo("U(outer), C(a), U(inner) [failed IllegalStateException], R(a), A(fine)");
        assertThat(model.lastRequest()).isEqualTo("U(outer), C(a), R(a)");
        assertThat(view(keepsake, "c")).isEqualTo("U(outer), C(a), R(a), A(fine)");
    }

    @Test
    void a_service_in_a_tool_keeps_its_answer_when_the_outer_turn_fails() {
        KeepsakeChatMemory one = keepsake.chatMemory("c");
        Assistant inner = AiServices.builder(Assistant.class)
                .chatModel(new Script("inner answer"))
                .chatMemoryProvider(id -> one)
                .build();
        Assistant outer = AiServices.builder(Assistant.class)
                .chatModel(new Script(toolCall("a"), OUT_OF_ORDER))
                .tools(new Asks(inner))
                .chatMemoryProvider(id -> one)
                .build();

        assertThatThrownBy(() -> outer.chat("c", "outer")).isSameAs(OUT_OF_ORDER);

        assertThat(history(keepsake, "c"))
                .isEqualTo("U(outer) [failed IllegalStateException], C(a), U(inner), A(inner answer), R(a)");
    }

    @Test
    void a_model_that_remembers_keeps_what_was_said_with_the_listeners_alone() throws Exception {
        StreamScript model = new StreamScript(sink -> sink.tokens("p0 ", "p1").error(OUT_OF_ORDER));
        Streaming assistant = AiServices.builder(Streaming.class)
                .streamingChatModel(keepsake.remembering(model))
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .build();

        EndingTurns.quiet(assistant.chat("c", "one")).start();
        model.await();

        assertThat(history(keepsake, "c")).isEqualTo("U(one), A(p0 p1) [incomplete cut]");
    }

    @Test
    void an_answer_that_comes_when_the_conversation_has_gone_on_is_kept_aside() throws Exception {
        CompletableFuture<Void> goneOn = new CompletableFuture<>();
        CompletableFuture<Void> broken = new CompletableFuture<>();
        StreamScript model = new StreamScript(sink -> {
            sink.tokens("p0").error(OUT_OF_ORDER);
            broken.complete(null);
            goneOn.get(1, TimeUnit.MINUTES);
            sink.done("p0 p1");
        });
        Streaming assistant =
                keepsake.aiServices(Streaming.class).streamingChatModel(model).build();
        EndingTurns.quiet(assistant.chat("c", "one")).start();
        broken.get(1, TimeUnit.MINUTES);
        service(new Script("ok")).chat("c", "two");
        goneOn.complete(null);
        model.await();

        assertThat(history(keepsake, "c")).isEqualTo("U(one), A(p0) [incomplete cut], U(two), A(ok), A(p0 p1)");
        assertThat(view(keepsake, "c")).isEqualTo("U(one), A(p0), U(two), A(ok)");
        assertThat(keepsake.conversation("c").branches())
                .extracting(Branch::names)
                .contains(List.of(TurnPlace.ASIDE));
    }

    /** Counts what a log is asked, but for flushes, which databases do not know. */
    private static MessageLog counted(MessageLog log, List<String> calls) {
        return Watched.log(log, call -> {
            if (!call.name().equals("flush") && !call.name().equals("backend")) {
                calls.add(call.word());
            }
            return call.proceed();
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH", "LISTENERS_ONLY"})
    void a_bound_turn_asks_the_log_no_more_than_before(Column column) {
        List<String> calls = new ArrayList<>();
        Keepsake counting = Keepsake.builder().messageLog(counted(log, calls)).build();
        AiMessage two = AiMessage.from(call("a", "tool", "{}"), call("b", "tool", "{}"));
        Assistant assistant = column.builder(counting, Assistant.class)
                .chatModel(new Script("fine", two, "fine", OUT_OF_ORDER))
                .tools(new EndingTurns.Tools())
                .build();

        assistant.chat("c", "plain");
        assertThat(calls).containsExactly("read", "append", "append");
        calls.clear();
        assistant.chat("c", "two tools");
        assertThat(calls).containsExactly("read", "append", "append", "append", "append");
        calls.clear();
        assertThatThrownBy(() -> assistant.chat("c", "fails")).isSameAs(OUT_OF_ORDER);
        assertThat(calls).containsExactly("read", "append", "setOutcome");
    }

    /** A factory that comes behind this library's on the class path. */
    public static final class NextFactory implements AiServiceListenerRegistrarFactory {
        static int made;

        @Override
        public AiServiceListenerRegistrar get() {
            made++;
            return new DefaultAiServiceListenerRegistrar();
        }
    }

    @Test
    void the_registrar_of_the_next_factory_is_kept(@TempDir Path directory) throws IOException {
        Path services = Files.createDirectories(directory.resolve("META-INF/services"));
        Files.writeString(
                services.resolve(AiServiceListenerRegistrarFactory.class.getName()), NextFactory.class.getName());
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {directory.toUri().toURL()}, before)) {
            thread.setContextClassLoader(loader);
            List<String> completed = new ArrayList<>();
            Assistant assistant = AiServices.builder(Assistant.class)
                    .chatModel(new Script("fine", OUT_OF_ORDER))
                    .chatMemoryProvider(keepsake.chatMemoryProvider())
                    .registerListener(new AiServiceListener<AiServiceCompletedEvent>() {
                        @Override
                        public Class<AiServiceCompletedEvent> getEventClass() {
                            return AiServiceCompletedEvent.class;
                        }

                        @Override
                        public void onEvent(AiServiceCompletedEvent event) {
                            completed.add("completed");
                        }
                    })
                    .build();
            assistant.chat("c", "one");
            assertThatThrownBy(() -> assistant.chat("c", "two")).isSameAs(OUT_OF_ORDER);

            assertThat(NextFactory.made).isPositive();
            assertThat(completed).as("the user's own listeners stay").containsExactly("completed");
            assertThat(history(keepsake, "c")).isEqualTo("U(one), A(fine), U(two) [failed IllegalStateException]");
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** Threads of which one runs at a time. Wherever a turn meets a model or a tool, another one may go on. */
    private static final class Threads {
        private final Random random;
        private final List<Semaphore> waiting = new ArrayList<>();
        private final List<Integer> alive = new ArrayList<>();
        private final Map<Thread, Integer> numbers = new ConcurrentHashMap<>();
        private final Semaphore ended = new Semaphore(0);

        Threads(Random random) {
            this.random = random;
        }

        void pass() {
            int self = numbers.get(Thread.currentThread());
            int next = alive.get(random.nextInt(alive.size()));
            if (next != self) {
                waiting.get(next).release();
                waiting.get(self).acquireUninterruptibly();
            }
        }

        void run(List<Runnable> all) throws InterruptedException {
            AtomicReference<Throwable> failure = new AtomicReference<>();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < all.size(); i++) {
                int self = i;
                waiting.add(new Semaphore(0));
                alive.add(self);
                Thread thread = new Thread(() -> {
                    waiting.get(self).acquireUninterruptibly();
                    try {
                        all.get(self).run();
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    } finally {
                        alive.remove((Integer) self);
                        (alive.isEmpty() ? ended : waiting.get(alive.get(random.nextInt(alive.size())))).release();
                    }
                });
                numbers.put(thread, self);
                threads.add(thread);
            }
            threads.forEach(Thread::start);
            waiting.get(0).release();
            ended.acquire();
            for (Thread thread : threads) {
                thread.join();
            }
            if (failure.get() != null) {
                throw new AssertionError(failure.get());
            }
        }
    }

    /** One random turn: rounds of tools, of which some ask a service of their own, and then an answer or an error. */
    private final class RandomTurn implements Runnable {
        private final String name;
        private final Threads threads;
        private final Random random;
        private final KeepsakeChatMemory memory;
        private final Map<String, Boolean> failed;
        private final boolean nested;
        private final int rounds;
        private final boolean fails;

        RandomTurn(
                String name,
                Threads threads,
                Random random,
                KeepsakeChatMemory memory,
                Map<String, Boolean> failed,
                boolean nested) {
            this.name = name;
            this.threads = threads;
            this.random = random;
            this.memory = memory;
            this.failed = failed;
            this.nested = nested;
            this.rounds = random.nextInt(3);
            this.fails = random.nextInt(3) == 0;
        }

        @Tool
        public String tool() {
            threads.pass();
            if (!nested && random.nextInt(3) == 0) {
                new RandomTurn(name + ".in" + random.nextInt(1_000_000), threads, random, memory, failed, true).run();
                threads.pass();
            }
            return "result for " + name;
        }

        private ChatModel model() {
            int[] round = {0};
            return Script.playing(request -> {
                assertThat(ProviderRules.request(request.messages()))
                        .as(() -> EndingTurns.text(request.messages()))
                        .isEmpty();
                boolean first = round[0] == 0;
                if (first) {
                    assertThat(request.messages().get(request.messages().size() - 1))
                            .isEqualTo(UserMessage.from(name));
                } else {
                    assertThat(EndingTurns.text(request.messages())).endsWith("R(" + name + "-" + (round[0] - 1) + ")");
                }
                threads.pass();
                if (round[0] < rounds) {
                    return Script.response(toolCall(name + "-" + round[0]++));
                }
                if (fails) {
                    throw OUT_OF_ORDER;
                }
                return Script.response(ai("answer to " + name));
            });
        }

        @Override
        public void run() {
            Assistant assistant = AiServices.builder(Assistant.class)
                    .chatModel(model())
                    .tools(this)
                    .chatMemoryProvider(id -> memory)
                    .build();
            failed.put(name, fails);
            if (fails) {
                assertThatThrownBy(() -> assistant.chat("c", name)).isSameAs(OUT_OF_ORDER);
            } else {
                assertThat(assistant.chat("c", name)).isEqualTo("answer to " + name);
            }
        }
    }

    @Test
    void no_outcome_is_on_the_wrong_turn_whatever_the_order() throws Exception {
        long seed = new Random().nextLong();
        Tell.line("BoundTurnsTest seed " + seed);
        Random random = new Random(seed);
        int schedules = Counts.of(75, 10_000);
        long turns = 0;
        for (int i = 0; i < schedules; i++) {
            Keepsake fresh = Keepsakes.on(new InMemoryMessageLog());
            KeepsakeChatMemory memory = fresh.chatMemory("c");
            Map<String, Boolean> failed = new ConcurrentHashMap<>();
            Threads threads = new Threads(random);
            List<Runnable> all = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                all.add(new RandomTurn("q" + t, threads, random, memory, failed, false));
            }
            threads.run(all);
            check(fresh, failed, seed, i);
            turns += failed.size();
        }
        Tell.line("%d schedules of 8 concurrent turns, %d turns, no outcome on the wrong one", schedules, turns);
    }

    private static void check(Keepsake keepsake, Map<String, Boolean> failed, long seed, int schedule) {
        for (LoggedMessage logged : EndingTurns.logged(keepsake, "c")) {
            Outcome expected = logged.message() instanceof UserMessage question && failed.get(question.singleText())
                    ? Outcome.failed(OUT_OF_ORDER.getClass().getName())
                    : null;
            assertThat(logged.outcome())
                    .as("seed %d, schedule %d: %s", seed, schedule, logged)
                    .isEqualTo(expected);
        }
        String history = history(keepsake, "c");
        failed.forEach((name, fails) ->
                assertThat(history.contains("A(answer to " + name + ")")).isEqualTo(!fails));
    }
}
