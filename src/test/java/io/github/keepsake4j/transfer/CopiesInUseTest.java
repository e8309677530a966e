package io.github.keepsake4j.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.MemoryId;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.Threads;
import io.github.keepsake4j.testing.WatchedLog;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Memories that are in use, or that others copy at the same time, end equal to their source. */
class CopiesInUseTest {

    private static final ConversationKey KEY = ConversationKey.of("acme", "c");

    private final InMemoryMessageLog source = new InMemoryMessageLog();

    /** A source in which turns are taken, each shown a summary that was stored after the summaries were read. */
    private MessageLog inUse() {
        source.append(KEY, Append.underHead(user("q1"), answer("a1")));
        return new WatchedLog(source) {
            private int turns = 1;

            @Override
            protected void called(String method) {
                if (method.equals("history") && turns < 3) {
                    summarize("a" + turns);
                    turns++;
                    source.append(KEY, Append.underHead(user("q" + turns), seeing("a" + turns, turns - 1)));
                }
            }
        }.log();
    }

    @Test
    void a_copied_answer_keeps_a_summary_that_is_newer_than_the_summaries_that_were_read() {
        MessageLog target = new InMemoryMessageLog();
        MemoryCopy.between(inUse(), target).memory(KEY);
        MemoryCopyTest.assertSame(source, target, KEY, "copied while it was summarized");
        assertThat(Logs.made(target, KEY, "a3").orElseThrow().seen().summary()).isEqualTo(2);
    }

    @Test
    void an_export_has_the_summaries_that_its_answers_name_and_a_later_export_adds_the_rest() throws Exception {
        MessageLog target = new InMemoryMessageLog();
        read(export(inUse()), target);
        assertThat(Logs.made(target, KEY, "a2").orElseThrow().seen().summary()).isOne();
        read(export(source), target);
        MemoryCopyTest.assertSame(source, target, KEY, "read again at rest");
        Logs.describe(target, KEY, "title", Map.of());
        Logs.describe(source, KEY, "title", Map.of());
        byte[] before = export(source);
        List<Runnable> more = List.of(
                () -> summarize("a3"),
                () -> source.append(KEY, Append.viewOnly(View.of(null, List.of()))),
                () -> Logs.setOutcome(source, KEY, "a3", Outcome.failed("timeout"), null));
        for (Runnable change : more) {
            change.run();
            read(export(source), target);
            MemoryCopyTest.assertSame(source, target, KEY, "read again after a change without a message");
            assertThatThrownBy(() -> read(before, target)).isInstanceOf(KeepsakeException.class);
        }
    }

    /** The memory is erased after its messages were read: before their notes are read, or at the end. */
    @ParameterizedTest
    @Homes
    void an_erasure_that_races_an_export_or_a_fork_is_an_erased_exception(MessageLog log) throws Exception {
        ConversationKey fork = ConversationKey.of("acme", "fork");
        assertErased(
                log, "made", erasing -> NdjsonExport.of(erasing).writeTenant("acme", OutputStream.nullOutputStream()));
        assertErased(
                log, "read", erasing -> NdjsonExport.of(erasing).writeMemory(KEY, OutputStream.nullOutputStream()));
        assertErased(log, "made", erasing -> MarkdownExport.of(erasing).writeMemory(KEY, new StringBuilder()));
        assertErased(log, "made", erasing -> MemoryFork.create(erasing, KEY, "a1", fork));
    }

    private interface Work {
        void on(MessageLog log) throws Exception;
    }

    private static void assertErased(MessageLog log, String at, Work work) {
        log.append(KEY, Append.underHead(user("q1"), answer("a1")));
        log.flush(KEY);
        MessageLog erasing = new WatchedLog(log) {
            private boolean hasRead;

            @Override
            protected void called(String method) {
                if (method.equals(at) && (hasRead || at.equals("made"))) {
                    log.erase(KEY);
                }
                hasRead |= method.equals("history");
            }
        }.log();
        assertThatThrownBy(() -> work.on(erasing)).as("%s at %s", log, at).isInstanceOf(ErasedException.class);
    }

    @ParameterizedTest
    @Homes
    void two_imports_or_copies_of_one_memory_at_once_end_equal_to_it_and_can_be_repeated(Home home) throws Exception {
        long first = Counts.seed();
        for (int round = 0; round < home.counts(20, 1_000); round++) {
            long seed = first + round;
            try (Home.Storage storage = home.storage();
                    MessageLog one = storage.open();
                    MessageLog other = storage.open()) {
                MessageLog from = MemoryCopyTest.filled(seed, 1, 80);
                byte[] lines = export(from);
                boolean isImport = round % 2 == 0;
                CyclicBarrier start = new CyclicBarrier(2);
                Threads.run(2, thread -> {
                    start.await();
                    move(isImport, from, lines, thread == 0 ? one : other);
                });
                for (MessageLog log : List.of(one, other)) {
                    MemoryCopyTest.assertSame(from, log, MemoryCopyTest.key(0), home + ", seed " + seed);
                    move(isImport, from, lines, log);
                }
            }
        }
    }

    @Tag("landing")
    @ParameterizedTest
    @CsvSource({"SQLITE, POSTGRESQL", "FILES, S3", "REDIS, SQLITE"})
    void memories_that_were_copied_and_exported_during_turns_are_equal_when_it_is_done_again_at_rest(Home from, Home to)
            throws Exception {
        int memories = Counts.of(4, 20);
        try (Home.Storage storage = from.storage();
                Home.Storage copied = to.storage();
                Home.Storage imported = to.storage();
                MessageLog log = storage.open();
                MessageLog copy = copied.open();
                MessageLog read = imported.open()) {
            AtomicBoolean rests = new AtomicBoolean();
            int[] unfinished = {0};
            int[] rounds = {0};
            ExecutorService summaries = Executors.newFixedThreadPool(2);
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .tenant("acme")
                    .strategy(Summarization.triggerMessages(4).keepMessages(2))
                    .summarizer((previous, messages) -> "S")
                    .executor(summaries)
                    .build();
            Assistant assistant = keepsake.aiServices(Assistant.class)
                    .chatModel(new NumberedModel())
                    .build();
            Instant end = Instant.now().plusSeconds(Counts.of(2, 60));
            Threads.run(3, thread -> {
                while (thread < 2) {
                    // Another round follows the last copy: its messages show that the next export is newer.
                    boolean isLast = rests.get();
                    for (int i = thread; i < memories; i += 2) {
                        take(keepsake, assistant, "c" + i);
                    }
                    if (isLast) {
                        return;
                    }
                }
                try {
                    while (Instant.now().isBefore(end)
                            || Logs.summaries(log, ConversationKey.of("acme", "c0"))
                                    .isEmpty()) {
                        rounds[0]++;
                        unfinished[0] += copied(log, copy) ? 0 : 1;
                        read(export(log), read);
                    }
                } finally {
                    rests.set(true);
                }
            });
            summaries.shutdown();
            assertThat(summaries.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
            MemoryCopy.between(log, copy).tenant("acme");
            read(export(log), read);
            long messages = 0;
            for (int i = 0; i < memories; i++) {
                ConversationKey key = ConversationKey.of("acme", "c" + i);
                MemoryCopyTest.assertSame(log, copy, key, "copy of " + key);
                MemoryCopyTest.assertSame(log, read, key, "import of " + key);
                messages += Logs.details(log, key).info().messages();
            }
            Tell.line(
                    "%s to %s: %d of %d memories with %d messages equal, after %d copies (%d unfinished)"
                            + " and exports in use",
                    from, to, memories, memories, messages, rounds[0], unfinished[0]);
        }
    }

    /** A copy of what is in use may say that a memory does not stop changing. */
    private static boolean copied(MessageLog from, MessageLog to) {
        try {
            MemoryCopy.between(from, to).tenant("acme");
            return true;
        } catch (MemoryCopy.UnfinishedException e) {
            assertThat(e.isRetryable()).isTrue();
            return false;
        }
    }

    private static void take(Keepsake keepsake, Assistant assistant, String id) {
        try {
            assistant.chat(id, "hello");
        } catch (IllegalStateException e) {
            assertThat(e).hasMessage("down");
        }
        if (ThreadLocalRandom.current().nextInt(10) == 0) {
            keepsake.chatMemory(id).clear();
        }
    }

    interface Assistant {
        String chat(@MemoryId String id, @dev.langchain4j.service.UserMessage String text);
    }

    /** Answers each call with another text, and fails at some. */
    private static final class NumberedModel implements ChatModel {

        private final AtomicInteger calls = new AtomicInteger();

        @Override
        public ChatResponse doChat(ChatRequest request) {
            int call = calls.incrementAndGet();
            // A model takes its time. Without it, turns are faster than any copy.
            try {
                TimeUnit.MILLISECONDS.sleep(Counts.of(100, 50));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            if (call % 7 == 0) {
                throw new IllegalStateException("down");
            }
            return ChatResponse.builder()
                    .aiMessage(AiMessage.from("answer " + call))
                    .build();
        }
    }

    private static void move(boolean isImport, MessageLog from, byte[] lines, MessageLog to) throws IOException {
        if (isImport) {
            read(lines, to);
        } else {
            MemoryCopy.between(from, to).tenant("acme");
        }
    }

    private static byte[] export(MessageLog log) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        NdjsonExport.of(log).writeTenant("acme", out);
        return out.toByteArray();
    }

    private static void read(byte[] lines, MessageLog log) throws IOException {
        NdjsonExport.of(log).read(new ByteArrayInputStream(lines));
    }

    private void summarize(String upTo) {
        Logs.putSummary(source, KEY, new Summary(upTo, "S", 1, "words", 2, 2, null, Instant.EPOCH), 1);
    }

    private static NewMessage user(String id) {
        return new NewMessage(id, UserMessage.from("hello"), 1, "words", Instant.EPOCH);
    }

    private static NewMessage answer(String id) {
        return new NewMessage(id, AiMessage.from("hi"), 1, "words", Instant.EPOCH);
    }

    private static NewMessage seeing(String id, int summary) {
        return answer(id).withSeen(new Seen(List.of(), List.of(), summary, false));
    }
}
