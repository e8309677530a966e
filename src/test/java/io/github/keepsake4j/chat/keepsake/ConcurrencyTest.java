package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several threads on one chat memory, and storage that fails before or after its work. */
class ConcurrencyTest {

    /** The failure of an append: before it reaches the log, or afterwards, when only the answer is lost. */
    private enum Fault {
        NONE,
        BEFORE,
        AFTER
    }

    private final AtomicInteger appends = new AtomicInteger();
    private final AtomicInteger reads = new AtomicInteger();
    private Fault fault = Fault.NONE;
    private final MessageLog inner = new InMemoryMessageLog();
    private final Keepsake keepsake = Keepsakes.on(failing(inner));
    private final KeepsakeChatMemory memory = keepsake.chatMemory("alice");

    @Test
    void four_hundred_adds_over_eight_threads_are_all_there() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        List<Future<?>> done = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            String name = "t" + thread + "-";
            done.add(pool.submit(() -> {
                for (int i = 0; i < 50; i++) {
                    memory.add(user(name + i));
                    if (i % 10 == 0) {
                        memory.messages();
                    }
                }
            }));
        }
        for (Future<?> each : done) {
            each.get();
        }
        pool.shutdown();

        assertThat(history()).hasSize(400).doesNotHaveDuplicates();
        assertThat(keepsake.conversation("alice").branches()).hasSize(1);
    }

    @Test
    void adds_of_eight_threads_to_stock_windows_of_one_memory_on_sqlite(@TempDir Path directory) throws Exception {
        try (MessageLog log = SqliteMessageLog.open(directory.resolve("chat.db"))) {
            addToStockWindows(log);
        }
    }

    @Test
    void adds_of_eight_threads_to_stock_windows_of_one_memory_on_postgresql() throws Exception {
        Postgres server = Postgres.newest();
        try (HikariDataSource connections = Postgres.trustingPool(server.database(server.newDatabase()), 8, true);
                MessageLog log = Postgres.log(connections)) {
            addToStockWindows(log);
        }
    }

    /** Eight threads, each with a window of its own over one store. */
    private static void addToStockWindows(MessageLog log) throws Exception {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .tokenCountEstimator(new WordCounter())
                .build();
        KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
        int count = Counts.of(15, 50);
        ExecutorService pool = Executors.newFixedThreadPool(8);
        List<Future<?>> done = new ArrayList<>();
        List<ChatMessage> added = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            List<ChatMessage> own = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                own.add(user("t" + thread + "-" + i));
            }
            added.addAll(own);
            MessageWindowChatMemory window = Dialogue.window("alice", 20, store);
            done.add(pool.submit(() -> own.forEach(window::add)));
        }
        for (Future<?> each : done) {
            each.get();
        }
        pool.shutdown();

        assertThat(Dialogue.history(keepsake.conversation("alice"))).containsExactlyInAnyOrderElementsOf(added);
        assertThat(store.getMessages("alice"))
                .isEqualTo(Keepsakes.on(log).chatMemoryStore().getMessages("alice"));
    }

    @Test
    void one_memory_sets_while_others_add_and_nothing_is_lost() throws Exception {
        memory.add(user("0"), ai("0"));
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<?>> done = new ArrayList<>();
        for (int thread = 0; thread < 3; thread++) {
            String name = "t" + thread + "-";
            KeepsakeChatMemory other = keepsake.chatMemory("alice");
            done.add(pool.submit(() -> {
                for (int i = 0; i < 50; i++) {
                    other.add(user(name + i), ai(name + i));
                }
            }));
        }
        done.add(pool.submit(() -> {
            for (int i = 0; i < 20; i++) {
                List<ChatMessage> list = memory.messages();
                list.set(0, user("rewritten " + i));
                memory.set(list);
            }
        }));
        for (Future<?> each : done) {
            each.get();
        }
        pool.shutdown();

        assertThat(history()).hasSize(2 + 300 + 20).doesNotHaveDuplicates();
    }

    @Test
    void the_same_message_added_again_after_an_outage_is_stored_once() {
        for (Fault kind : List.of(Fault.BEFORE, Fault.AFTER)) {
            UserMessage message = user("message " + kind);
            fault = kind;
            assertThatThrownBy(() -> memory.add(message))
                    .isInstanceOfSatisfying(StorageUnavailableException.class, e -> assertThat(e.isRetryable())
                            .isTrue());
            fault = Fault.NONE;
            memory.add(message);
            memory.add(user("next " + kind));
        }

        assertThat(history())
                .containsExactly(
                        user("message BEFORE"), user("next BEFORE"), user("message AFTER"), user("next AFTER"));
    }

    @Test
    void results_that_were_accepted_survive_an_outage() {
        memory.add(user("1"), calls("a", "b"));
        memory.add(result("a"));
        fault = Fault.AFTER;
        assertThatThrownBy(() -> memory.add(result("b"))).isInstanceOf(StorageUnavailableException.class);
        fault = Fault.NONE;
        memory.add(ai("2"));

        assertThat(history()).containsExactly(user("1"), calls("a", "b"), result("a"), result("b"), ai("2"));
    }

    @Test
    void a_turn_with_a_round_of_two_tools_reads_once_and_appends_four_times() {
        memory.messages();
        memory.add(user("1"));
        memory.add(calls("a", "b"));
        memory.add(result("a"));
        memory.add(result("b"));
        int before = reads.get();
        assertThat(memory.messages()).hasSize(4);
        memory.add(ai("2"));

        assertThat(reads.get() - before).as("reads behind the tool round").isZero();
        assertThat(appends.get()).isEqualTo(4);
    }

    @Test
    void a_tool_round_that_another_writer_interrupted_is_read_again() {
        memory.messages();
        memory.add(user("1"));
        memory.add(calls("a"));
        keepsake.chatMemory("alice").add(user("other"), ai("other"));
        memory.add(result("a"));

        assertThat(memory.messages()).containsExactly(user("1"), calls("a"), result("a"));
        memory.add(ai("2"));
        assertThat(memory.messages()).contains(user("other"), ai("other"));
    }

    private MessageLog failing(MessageLog log) {
        return Watched.log(log, call -> {
            boolean append = call.name().equals("append");
            if (append && fault == Fault.BEFORE) {
                throw new StorageUnavailableException("down", null);
            }
            (append ? appends : reads).incrementAndGet();
            Object result = call.proceed();
            if (append && fault == Fault.AFTER) {
                throw new StorageUnavailableException("answer lost", null);
            }
            return result;
        });
    }

    private List<ChatMessage> history() {
        return Dialogue.history(keepsake.conversation("alice"));
    }
}
