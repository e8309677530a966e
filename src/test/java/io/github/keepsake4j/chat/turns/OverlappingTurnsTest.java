package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.BareMemories;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Turns of one conversation that overlap because nothing excludes them, each with a memory object of its own: the requests
 * that their models get.
 */
@Timeout(7200)
class OverlappingTurnsTest {

    private static final MemoryKey KEY = ConversationKey.of("default", "c");

    private final MessageLog log = new InMemoryMessageLog();
    private final AtomicLong nanos = new AtomicLong();
    private final KeepsakeChatMemory one = memory(50);
    private final KeepsakeChatMemory two = memory(50);

    private KeepsakeChatMemory memory(int window) {
        return BareMemories.of(
                        key -> log,
                        id -> KEY,
                        SlidingWindow.withMaxMessages(window),
                        TokenCounter.standard(),
                        Runnable::run,
                        null,
                        Metrics.NONE,
                        nanos::get)
                .memory("c", KEY);
    }

    @Test
    void a_request_ends_with_the_result_although_another_turn_answered_meanwhile() {
        add(one, user("one"));
        one.messages();
        add(one, calls("a"));
        add(two, user("two"), ai("done two"));
        add(one, result("a"));

        assertThat(one.messages()).containsExactly(user("one"), calls("a"), result("a"));
        add(one, ai("done one"));
        assertThat(one.messages())
                .containsExactly(user("one"), calls("a"), result("a"), ai("done one"), user("two"), ai("done two"));
    }

    @Test
    void it_does_so_too_if_the_other_turn_goes_on_between_the_result_and_the_request() {
        add(one, user("one"));
        one.messages();
        add(one, calls("a"));
        add(two, user("two"), calls("b"));
        add(one, result("a"));
        add(two, result("b"));
        add(two, ai("done two"));

        assertThat(one.messages()).containsExactly(user("one"), calls("a"), result("a"));
    }

    @Test
    void the_same_question_twice_is_no_retry_of_a_turn_that_goes_on() {
        add(one, user("same"));
        one.messages();
        add(one, calls("a"));
        add(two, user("same"), ai("done two"));
        add(one, result("a"));

        assertThat(one.messages()).containsExactly(user("same"), calls("a"), result("a"));
    }

    @Test
    void calls_of_two_models_that_number_them_anew_are_told_apart() {
        add(one, user("one"));
        one.messages();
        add(one, calls("call_0"));
        add(two, user("two"), calls("call_0"));
        add(one, result("call_0"));

        assertThat(one.messages()).containsExactly(user("one"), calls("call_0"), result("call_0"));
    }

    @Test
    void a_call_is_found_behind_more_than_a_window_of_other_turns() {
        KeepsakeChatMemory small = memory(6);
        add(small, user("zero"), ai("done zero"), user("one"));
        small.messages();
        add(small, calls("a"));
        for (int i = 0; i < 40; i++) {
            add(two, user("other " + i), ai("done " + i));
        }
        add(small, result("a"));

        assertThat(small.messages())
                .containsExactly(user("zero"), ai("done zero"), user("one"), calls("a"), result("a"));
    }

    @Test
    void a_list_that_is_set_within_the_turn_keeps_what_the_other_turn_said() {
        add(one, user("one"));
        one.messages();
        add(one, calls("a"));
        add(two, user("two"), ai("done two"));
        add(one, result("a"));
        List<ChatMessage> list = one.messages();
        ToolExecutionResultMessage compensated = ToolExecutionResultMessage.from("a", "tool", "rolled back");
        list.set(2, compensated);

        one.set(list);

        assertThat(one.messages()).containsExactly(user("one"), calls("a"), compensated, user("two"), ai("done two"));
        add(one, ai("done one"));
        assertThat(two.messages())
                .containsExactly(user("one"), calls("a"), compensated, user("two"), ai("done two"), ai("done one"));
    }

    @Test
    void a_new_turn_of_an_object_whose_last_turn_ended_with_a_result_sees_everything() {
        add(one, user("one"), calls("a"), result("a"));
        add(two, user("two"), ai("done two"));
        nanos.addAndGet(Duration.ofSeconds(11).toNanos());

        assertThat(one.messages()).containsExactly(user("one"), calls("a"), result("a"), user("two"), ai("done two"));
    }

    @Test
    void another_object_that_begins_a_turn_sees_everything() {
        add(two, user("zero"), ai("done zero"));
        add(one, user("one"), calls("a"));
        add(two, user("two"), ai("done two"));
        add(one, result("a"));

        assertThat(two.messages())
                .containsExactly(
                        user("zero"),
                        ai("done zero"),
                        user("one"),
                        calls("a"),
                        result("a"),
                        user("two"),
                        ai("done two"));
    }

    @Test
    void an_object_that_only_reads_shows_the_turns_as_they_began() {
        add(one, user("one"), calls("a"));
        add(two, user("two"), ai("done two"));
        add(one, result("a"));

        assertThat(memory(50).messages())
                .containsExactly(user("one"), calls("a"), result("a"), user("two"), ai("done two"));
    }

    private static void add(ChatMemory memory, ChatMessage... messages) {
        for (ChatMessage message : messages) {
            memory.add(message);
        }
    }

    interface Assistant {
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    /** Two threads, of which one runs at a time. At each call of the memory, the other one may go on. */
    private static final class Baton {
        private final Random random;
        private final Semaphore[] turns = {new Semaphore(0), new Semaphore(0)};
        private final boolean[] ended = {false, false};

        Baton(Random random) {
            this.random = random;
        }

        void pass(int self) {
            if (!ended[1 - self] && random.nextBoolean()) {
                turns[1 - self].release();
                turns[self].acquireUninterruptibly();
            }
        }

        void run(int self, Runnable work) {
            turns[self].acquireUninterruptibly();
            try {
                work.run();
            } finally {
                ended[self] = true;
                turns[1 - self].release();
            }
        }
    }

    /** An AI service of one conversation, whose model and tool do random things. */
    private static final class Service implements ChatModel {
        private final int self;
        private final Baton baton;
        private final Random random;
        private final Assistant assistant;
        private int calls;
        private long requests;

        Service(int self, Baton baton, Random random, ChatMemoryProvider memories, boolean system) {
            this.self = self;
            this.baton = baton;
            this.random = random;
            AiServices<Assistant> builder = AiServices.builder(Assistant.class)
                    .chatModel(this)
                    .tools(this)
                    .chatMemoryProvider(id -> new Interrupted(memories.get(id), () -> baton.pass(self)));
            if (system) {
                builder.systemMessageProvider(id -> "Be brief");
            }
            assistant = builder.build();
        }

        @Tool
        String lookUp() {
            baton.pass(self);
            return "found" + " word".repeat(random.nextInt(8));
        }

        @Override
        public ChatResponse doChat(ChatRequest request) {
            List<ProviderRules.Violation> violations = ProviderRules.request(request.messages());
            if (!violations.isEmpty()) {
                throw new AssertionError(violations + " in " + request.messages());
            }
            requests++;
            baton.pass(self);
            int choice = random.nextInt(20);
            if (choice == 0) {
                throw new IllegalStateException("the model failed");
            }
            return ChatResponse.builder()
                    .aiMessage(choice < 9 ? AiMessage.from(toolCalls()) : ai("answer " + random.nextInt(5)))
                    .build();
        }

        private List<ToolExecutionRequest> toolCalls() {
            boolean numberedAnew = random.nextInt(4) == 0;
            List<ToolExecutionRequest> list = new ArrayList<>();
            for (int i = random.nextInt(3); i >= 0; i--) {
                list.add(call(numberedAnew ? "call_" + i : self + "-" + calls++, "lookUp", "{}"));
            }
            return list;
        }

        void turns(int count) {
            for (int i = 0; i < count; i++) {
                try {
                    assistant.chat("c", "question " + random.nextInt(4));
                } catch (IllegalStateException | ContextOverflowException e) {
                    assertThat(e).as("a turn that failed").isNotNull();
                }
            }
        }
    }

    /** A memory that lets the other turn go on before each call. */
    private record Interrupted(ChatMemory memory, Runnable before) implements ChatMemory {
        @Override
        public Object id() {
            return memory.id();
        }

        @Override
        public void add(ChatMessage message) {
            before.run();
            memory.add(message);
        }

        @Override
        public List<ChatMessage> messages() {
            before.run();
            return memory.messages();
        }

        @Override
        public void clear() {
            memory.clear();
        }
    }

    @Test
    void random_turns_of_two_services_send_nothing_that_strict_providers_refuse() throws Exception {
        random(Counts.of(1_000, 1_000_000), false);
    }

    @Test
    void nor_do_those_of_two_services_on_one_memory_object() throws Exception {
        random(Counts.of(500, 100_000), true);
    }

    private static void random(long count, boolean shared) throws Exception {
        long seed = new Random().nextLong();
        Tell.line("OverlappingTurnsTest seed " + seed);
        Random random = new Random(seed);
        long turns = 0;
        long requests = 0;
        while (turns < count) {
            ContextStrategy strategy = strategy(random);
            Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog(), strategy);
            KeepsakeChatMemory one = keepsake.chatMemory("c");
            ChatMemoryProvider memories = shared ? id -> one : keepsake.chatMemoryProvider();
            Baton baton = new Baton(random);
            boolean system = random.nextBoolean();
            int each = 1 + random.nextInt(20);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            List<Service> services = new ArrayList<>();
            List<Thread> threads = new ArrayList<>();
            for (int self = 0; self < 2; self++) {
                int number = self;
                Service service = new Service(self, baton, random, memories, system);
                services.add(service);
                Thread thread = new Thread(() -> baton.run(number, () -> service.turns(each)));
                thread.setUncaughtExceptionHandler((t, e) -> failure.compareAndSet(null, e));
                thread.start();
                threads.add(thread);
            }
            baton.turns[0].release();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failure.get())
                    .as("seed %d after %d turns, %s", seed, turns, strategy)
                    .isNull();
            turns += 2L * each;
            requests += services.stream().mapToLong(service -> service.requests).sum();
        }
        Tell.line("%d turns, %d requests, nothing that a provider refuses", turns, requests);
    }

    private static ContextStrategy strategy(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> SlidingWindow.withMaxMessages(8 + random.nextInt(30));
            case 1 -> SlidingWindow.withMaxTurns(1 + random.nextInt(6));
            case 2 -> TokenLimit.withMaxTokens(200 + random.nextInt(400), new WordCounter());
            default -> SlidingWindow.withMaxMessages(200);
        };
    }
}
