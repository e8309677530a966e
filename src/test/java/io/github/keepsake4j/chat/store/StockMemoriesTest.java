package io.github.keepsake4j.chat.store;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.guardrail.OutputGuardrailException;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.memory.chat.TokenWindowChatMemory;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.Bookings;
import io.github.keepsake4j.testing.Bookings.RemoveRejected;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * LangChain4j's window memories over this library's store, compared with the same memories over LangChain4j's own
 * store.
 */
class StockMemoriesTest {

    private static final TokenCountEstimator TOKENS = JtokkitTokenCountEstimator.forModel("gpt-4o-mini");

    /**
     * Records all messages that were ever in a list, because a window may drop a message before it reaches its store.
     */
    private record Noting(ChatMemoryStore store, List<ChatMessage> all) implements ChatMemoryStore {
        @Override
        public List<ChatMessage> getMessages(Object id) {
            return store.getMessages(id);
        }

        @Override
        public void updateMessages(Object id, List<ChatMessage> messages) {
            all.addAll(messages);
            store.updateMessages(id, messages);
        }

        @Override
        public void deleteMessages(Object id) {
            store.deleteMessages(id);
        }
    }

    @TempDir
    Path directory;

    private MessageLog log;
    private Keepsake keepsake;
    private String system = "Be brief";

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
    void a_message_window_sends_what_it_sends_over_its_own_store() {
        for (int window : new int[] {4, 7, 100}) {
            for (boolean first : new boolean[] {false, true}) {
                compare("window-" + window + first, store -> MessageWindowChatMemory.builder()
                        .id("window-" + window + first)
                        .maxMessages(window)
                        .alwaysKeepSystemMessageFirst(first)
                        .chatMemoryStore(store)
                        .build());
            }
        }
    }

    @Test
    void a_token_window_sends_what_it_sends_over_its_own_store() {
        for (int window : new int[] {70, 140, 2000}) {
            compare("tokens-" + window, store -> TokenWindowChatMemory.builder()
                    .id("tokens-" + window)
                    .maxTokens(window, TOKENS)
                    .chatMemoryStore(store)
                    .build());
        }
    }

    @Test
    void two_stock_memories_at_once_keep_every_message_in_the_history() throws Exception {
        for (MessageLog each : List.of(new InMemoryMessageLog(), log)) {
            Keepsake ours = Keepsake.builder().messageLog(each).build();
            twoMemories(ours.chatMemoryStore(), "alice");
            List<ChatMessage> history = Dialogue.history(ours.conversation("alice"));
            assertThat(history).hasSize(200).doesNotHaveDuplicates();
        }
    }

    @Test
    void four_hundred_adds_over_eight_threads() throws Exception {
        ChatMemory stock = Dialogue.window("alice", 1000, new InMemoryChatMemoryStore());
        List<Callable<Void>> work = new ArrayList<>();
        ChatMemory ours = keepsake.chatMemory("alice");
        for (ChatMemory memory : List.of(stock, ours)) {
            work.clear();
            for (int thread = 0; thread < 8; thread++) {
                work.add(adds(memory, "t" + thread + "-", 50));
            }
            try {
                inThreads(work);
            } catch (Exception e) {
                // Only LangChain4j's own memory may fail here, because it is not thread-safe.
                assertThat(memory).isSameAs(stock);
            }
        }
        List<ChatMessage> history = Dialogue.history(keepsake.conversation("alice"));
        assertThat(history).hasSize(400).doesNotHaveDuplicates();
    }

    private static void twoMemories(ChatMemoryStore store, String id) throws Exception {
        List<Callable<Void>> work = new ArrayList<>();
        for (String name : List.of("a-", "b-")) {
            ChatMemory memory = Dialogue.window(id, 1000, store);
            work.add(adds(memory, name, 100));
        }
        inThreads(work);
    }

    private static Callable<Void> adds(ChatMemory memory, String name, int count) {
        return () -> {
            for (int i = 0; i < count; i++) {
                memory.add(user(name + i));
            }
            return null;
        };
    }

    /** Does all at the same time, and fails if one fails. */
    static void inThreads(List<Callable<Void>> work) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(work.size());
        try {
            for (Future<Void> done : pool.invokeAll(work)) {
                done.get();
            }
        } finally {
            pool.shutdown();
        }
    }

    /** Runs the same script over both stores. Every request and every message in the history must be the same. */
    private void compare(String id, Function<ChatMemoryStore, ChatMemory> memories) {
        List<ChatMessage> given = new ArrayList<>();
        List<List<ChatMessage>> theirs = script(id, memories.apply(new InMemoryChatMemoryStore()));
        List<List<ChatMessage>> ours = script(id, memories.apply(new Noting(keepsake.chatMemoryStore(), given)));

        assertThat(ours).isEqualTo(theirs).hasSizeGreaterThan(16);
        List<ChatMessage> history = keepsake.conversation(id).history(HistoryQuery.oldest(1000)).messages().stream()
                .map(logged -> logged.message())
                .toList();
        assertThat(given)
                .as("given and not in the history")
                .filteredOn(m -> !history.contains(m))
                .isEmpty();
        // All answers and user messages of this script differ, so none may be stored twice.
        assertThat(history)
                .as("stored twice")
                .filteredOn(message -> !(message instanceof SystemMessage))
                .filteredOn(message -> Collections.frequency(history, message) > 1)
                .isEmpty();
        assertThat(history.stream().filter(message -> message instanceof SystemMessage))
                .allMatch(message -> Collections.frequency(given, message) > 0);
    }

    private List<List<ChatMessage>> script(String id, ChatMemory memory) {
        AiMessage add = AiMessage.from(call("1", "add", "{\"a\":1,\"b\":2}"), call("2", "add", "{\"a\":3,\"b\":4}"));
        AiMessage book = AiMessage.from(call("3", "book", "{\"what\":\"a room\"}"));
        AiMessage pay = AiMessage.from(call("4", "pay", "{\"what\":\"a room\"}"));
        ChatModelMock model = ChatModelMock.thatAlwaysResponds(
                ai("1"),
                add,
                ai("10"),
                ai("3"),
                ai("rejected 4"),
                ai("5"),
                book,
                pay,
                ai("sorry"),
                ai("rejected 7"),
                ai("8"),
                ai("9"),
                ai("ten"),
                ai("11"),
                ai("12"),
                ai("13"),
                ai("14"),
                ai("15"),
                ai("16"),
                ai("17"),
                ai("18"),
                ai("19"),
                ai("20"),
                ai("21"));
        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(model)
                .systemMessageProvider(any -> system)
                .tools(new Bookings())
                .compensateOnToolErrors(true)
                .outputGuardrails(new RemoveRejected())
                .chatMemoryProvider(any -> memory)
                .build();
        system = "Be brief";
        for (int turn = 0; turn < 16; turn++) {
            if (turn == 8) {
                system = "Be long";
            }
            try {
                assistant.chat(id, "question " + turn);
            } catch (OutputGuardrailException e) {
                // The guardrail removed the answer from the memory.
            }
            if (turn == 12) {
                memory.clear();
            }
        }
        List<List<ChatMessage>> sent = new ArrayList<>(
                model.requests().stream().map(ChatRequest::messages).toList());
        sent.add(memory.messages());
        return sent;
    }
}
