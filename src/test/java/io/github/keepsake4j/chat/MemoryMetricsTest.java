package io.github.keepsake4j.chat;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.metrics.MicrometerMetrics;
import io.github.keepsake4j.tokens.TokenCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The events that chat memories report to the metrics. */
class MemoryMetricsTest {

    private static final ConversationKey KEY = ConversationKey.of("default", "id");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final MessageLog log = new InMemoryMessageLog();

    @TempDir
    Path directory;

    @Test
    void a_turn_counts_its_appends_and_reads() {
        KeepsakeChatMemory memory =
                keepsake(log, SlidingWindow.withMaxMessages(50)).chatMemory("id");
        memory.add(user("q"));
        memory.messages();
        memory.add(List.of(ai("a"), user("more")));

        assertThat(count("keepsake.appends", "memory")).isEqualTo(2);
        assertThat(count("keepsake.appends.messages", "memory")).isEqualTo(3);
        assertThat(count("keepsake.reads", "memory")).isEqualTo(1);
        assertThat(count("keepsake.reads.messages", "memory")).isEqualTo(1);
    }

    @Test
    void a_view_is_no_message() {
        KeepsakeChatMemory memory =
                keepsake(log, SlidingWindow.withMaxMessages(50)).chatMemory("id");
        memory.add(user("q"));
        memory.clear();

        assertThat(count("keepsake.appends", "memory")).isEqualTo(1);
        assertThat(count("keepsake.appends.messages", "memory")).isEqualTo(1);
    }

    @Test
    void backends_are_told_apart() {
        try (MessageLog sqlite = SqliteMessageLog.open(directory.resolve("chat.db"))) {
            keepsake(sqlite, SlidingWindow.withMaxMessages(50)).chatMemory("id").add(user("q"));
        }
        keepsake(log, SlidingWindow.withMaxMessages(50))
                .chatMemoryStore()
                .updateMessages("id", List.of(user("q"), ai("a")));

        assertThat(count("keepsake.appends.messages", "sqlite")).isEqualTo(1);
        assertThat(count("keepsake.appends.messages", "memory")).isEqualTo(2);
        assertThat(count("keepsake.reads", "memory")).isPositive();
    }

    @Test
    void conflicts_and_what_is_sent_again_are_counted_apart() {
        ChatMemories settings = settings(new MicrometerMetrics(registry));
        NewMessage message = settings.parts.prepare(user("q"));
        Append append = Append.under(Parent.head(), List.of(message));
        settings.parts.append(KEY, append);
        settings.parts.append(KEY, append);
        Append late = Append.under(Parent.head(), List.of(settings.parts.prepare(ai("a"))))
                .expectingHead("another");
        assertThatThrownBy(() -> settings.parts.append(KEY, late)).isInstanceOf(HeadConflictException.class);

        assertThat(count("keepsake.appends", "memory")).isEqualTo(1);
        assertThat(count("keepsake.retries", "memory")).isEqualTo(1);
        assertThat(count("keepsake.conflicts", "memory")).isEqualTo(1);
    }

    @Test
    void what_a_limit_puts_out_of_sight_is_counted_once() {
        Keepsake keepsake = keepsake(log, SlidingWindow.withMaxMessages(7));
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        memory.add(SystemMessage.from("Be brief"));
        talk(memory, 20);
        memory.messages();
        memory.messages();

        List<ChatMessage> shown = memory.messages();
        double gone = keepsake.conversation("id").history(HistoryQuery.oldest(100)).messages().stream()
                .filter(message -> !shown.contains(message.message()))
                .mapToInt(LoggedMessage::tokens)
                .sum();
        assertThat(gone).isPositive();
        assertThat(count("keepsake.tokens.dropped", "memory")).isEqualTo(gone);
    }

    @Test
    void what_a_caller_or_a_summary_takes_out_of_sight_is_not_counted() {
        Keepsake keepsake = keepsake(log, SlidingWindow.withMaxMessages(50));
        KeepsakeChatMemory memory = keepsake.chatMemory("id");
        talk(memory, 5);
        List<ChatMessage> shown = memory.messages();
        memory.set(shown.subList(6, 8));
        memory.messages();
        memory.clear();
        memory.messages();
        KeepsakeChatMemory summarized = Keepsake.builder()
                .messageLog(log)
                .strategy(Summarization.triggerMessages(6).keepMessages(2))
                .summarizer((previous, messages) -> "S")
                .metrics(new MicrometerMetrics(registry))
                .executor(Runnable::run)
                .build()
                .chatMemory("other");
        talk(summarized, 20);

        assertThat(count("keepsake.summaries.made", "memory")).isPositive();
        assertThat(count("keepsake.tokens.dropped", "memory")).isZero();
    }

    @Test
    void what_a_summary_covers_or_another_branch_leaves_behind_is_not_dropped() {
        Meter meter = new Meter(new MicrometerMetrics(registry), any -> log);
        Context before = context(List.of("q1", "a1", "q2", "a2", "q3", "a3"), 1);
        LoggedMessage summary = before.logged().get(1);

        meter.shown(KEY, before, context(List.of("q3", "a3"), 5).summarizedBy(summary), false);
        meter.shown(KEY, before, context(List.of("other", "answer"), 7), true);
        meter.shown(KEY, null, before, true);
        assertThat(count("keepsake.tokens.dropped", "memory")).isZero();
        meter.shown(KEY, before, context(List.of("q3", "a3"), 5).summarizedBy(summary), true);
        assertThat(count("keepsake.tokens.dropped", "memory")).isEqualTo(20);
    }

    @Test
    void metrics_that_fail_fail_no_chat() {
        Metrics broken = new Metrics() {
            @Override
            public void appended(String backend, int messages) {
                throw new IllegalStateException("broken");
            }

            @Override
            public void read(String backend, int messages) {
                throw new IllegalStateException("broken");
            }
        };
        KeepsakeChatMemory memory = settings(broken).memory("id", KEY);
        memory.add(user("q"));

        assertThat(memory.messages()).containsExactly(user("q"));
    }

    /** Returns a context of questions and answers of ten tokens each. */
    private static Context context(List<String> texts, long firstSequence) {
        List<LoggedMessage> messages = new ArrayList<>();
        for (String text : texts) {
            ChatMessage message = messages.size() % 2 == 0 ? user(text) : ai(text);
            messages.add(
                    new LoggedMessage(text, null, firstSequence + messages.size(), message, 10, "test", Instant.EPOCH));
        }
        return Context.of("id", null, null, List.of(), messages, null);
    }

    private static void talk(KeepsakeChatMemory memory, int turns) {
        for (int i = 0; i < turns; i++) {
            memory.messages();
            memory.add(user("question " + i));
            memory.add(ai("answer " + i));
        }
    }

    private ChatMemories settings(Metrics metrics) {
        return BareMemories.of(
                key -> log,
                id -> KEY,
                SlidingWindow.withMaxMessages(50),
                TokenCounter.standard(),
                Runnable::run,
                null,
                metrics);
    }

    private Keepsake keepsake(MessageLog kept, ContextStrategy strategy) {
        return Keepsake.builder()
                .messageLog(kept)
                .strategy(strategy)
                .metrics(new MicrometerMetrics(registry))
                .build();
    }

    private double count(String name, String backend) {
        var counter = registry.find(name).tag("backend", backend).counter();
        return counter == null ? 0 : counter.count();
    }
}
