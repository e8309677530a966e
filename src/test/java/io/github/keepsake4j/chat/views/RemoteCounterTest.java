package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.chat.BareMemories;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Counters that call a server which is slow or does not answer: no turn waits for it for more than a second. */
@Timeout(120)
class RemoteCounterTest {

    private static final MemoryKey KEY = ConversationKey.of("default", "c");

    private final MessageLog log = new InMemoryMessageLog();
    private final AtomicLong nanos = new AtomicLong();
    private final Server server = new Server();
    private final ExecutorService executor =
            Executors.newCachedThreadPool(work -> new Thread(work, "of the builder's executor"));
    private final KeepsakeChatMemory memory = BareMemories.of(
                    key -> log,
                    id -> KEY,
                    TokenLimit.withMaxTokens(1_000, TokenCounter.remote("remote", server)),
                    TokenCounter.standard(),
                    executor,
                    null,
                    Metrics.NONE,
                    nanos::get)
            .memory("c", KEY);

    /** Counts words, at once, after a while, or never. */
    private static final class Server implements TokenCountEstimator {
        private final WordCounter counter = new WordCounter();
        private final AtomicInteger calls = new AtomicInteger();
        private final AtomicInteger interrupted = new AtomicInteger();
        private final Set<String> threads = ConcurrentHashMap.newKeySet();
        private volatile Duration latency = Duration.ZERO;

        private void answer() {
            calls.incrementAndGet();
            threads.add(Thread.currentThread().getName());
            try {
                // What a server takes; there is nothing to wait for.
                assertThat(new CountDownLatch(1).await(latency.toNanos(), TimeUnit.NANOSECONDS))
                        .isFalse();
            } catch (InterruptedException e) {
                interrupted.incrementAndGet();
                throw new IllegalStateException(e);
            }
        }

        @Override
        public int estimateTokenCountInText(String text) {
            answer();
            return counter.estimateTokenCountInText(text);
        }

        @Override
        public int estimateTokenCountInMessage(ChatMessage message) {
            answer();
            return counter.estimateTokenCountInMessage(message);
        }

        @Override
        public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
            answer();
            return counter.estimateTokenCountInMessages(messages);
        }
    }

    @AfterEach
    void shutDown() {
        executor.shutdownNow();
    }

    private void say(int turns) {
        for (int i = 0; i < turns; i++) {
            memory.add(user("question " + i));
            memory.add(ai("answer " + i));
        }
    }

    @Test
    void a_server_that_does_not_answer_is_asked_once_and_then_not_for_half_a_minute() {
        say(20);
        server.latency = Duration.ofDays(1);
        assertThat(memory.messages()).hasSize(40);
        assertThat(server.calls).hasValue(1);
        await().untilAsserted(() -> assertThat(server.interrupted).hasValue(1));
        assertThat(server.threads).containsExactly("of the builder's executor");

        nanos.addAndGet(Duration.ofSeconds(30).toNanos() - 1);
        for (int i = 0; i < 20; i++) {
            say(1);
            assertThat(memory.messages()).hasSizeGreaterThan(40);
        }
        assertThat(server.calls).hasValue(1);

        nanos.incrementAndGet();
        server.latency = Duration.ZERO;
        say(1);
        assertThat(memory.messages()).hasSize(82);
        assertThat(server.calls).hasValueGreaterThan(2);
    }

    @Test
    void one_read_waits_a_second_in_all_its_calls() {
        say(20);
        server.latency = Duration.ofMillis(300);
        assertThat(memory.messages()).hasSize(40);
        // The fourth is not awaited.
        assertThat(server.calls).hasValueBetween(1, 4);
        int asked = server.calls.get();
        assertThat(memory.messages()).hasSize(40);
        assertThat(server.calls).hasValue(asked);
    }

    @Test
    void a_thread_that_is_interrupted_reads_what_another_counter_counts() {
        say(2);
        server.latency = Duration.ofDays(1);
        Thread.currentThread().interrupt();
        assertThat(memory.messages()).hasSize(4);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void a_server_that_answers_is_asked_once_for_a_message() {
        say(2);
        assertThat(memory.messages()).hasSize(4);
        assertThat(memory.messages()).hasSize(4);
        assertThat(server.calls).hasValue(5);
    }
}
