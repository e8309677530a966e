package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.history;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.ImpatientLogs;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.TcpProxy;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.turn.TurnPolicy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a call does, its caller waits for a storage that hangs once: a turn that failed is not waited for again. */
@Timeout(300)
class HangingStorageTest {

    private static final Duration LIMIT = Duration.ofSeconds(2);

    /** Waits are counted. Only a driver's own wait is not, and none of those that there were took less than 11 seconds. */
    private static final Duration LONGEST = Duration.ofSeconds(10);

    private static final String NOT_KEPT = "how a turn ended could not be kept";
    private static final String NOT_RELEASED = "could not be released";

    @TempDir
    Path directory;

    /** The ways in which a storage hangs. */
    enum Fault {
        SQLITE_LOCKED,
        POSTGRESQL_ROWS_LOCKED,
        POSTGRESQL_TABLES_LOCKED,
        POSTGRESQL_SILENT,
        POSTGRESQL_UNREACHABLE;

        boolean stopsReads() {
            return this != SQLITE_LOCKED && this != POSTGRESQL_ROWS_LOCKED;
        }
    }

    interface Assistant {
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);

        TokenStream stream(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    /** A public call. All that it needs is made before the storage hangs. */
    private interface Call {
        Step prepare(Case of) throws Exception;
    }

    private interface Step {
        void run() throws Exception;
    }

    /** One call on a memory of its own. What the thread with the memory's name waits for is counted. */
    private static final class Case {
        private final String id;
        private final CountDownLatch ready;
        private final CountDownLatch hanging;
        private final AtomicInteger waits = new AtomicInteger();
        private final Keepsake keepsake;

        Case(String id, MessageLog log, CountDownLatch ready, CountDownLatch hanging) {
            this.id = id;
            this.ready = ready;
            this.hanging = hanging;
            this.keepsake = Keepsake.builder().messageLog(counted(log)).build();
        }

        private MessageLog counted(MessageLog log) {
            return Watched.log(log, call -> {
                try {
                    return call.proceed();
                } catch (StorageUnavailableException e) {
                    if (Thread.currentThread().getName().equals(id)) {
                        waits.incrementAndGet();
                    }
                    throw e;
                }
            });
        }

        void untilItHangs() {
            ready.countDown();
            try {
                hanging.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        ChatMemory memory() {
            return keepsake.chatMemory(id);
        }

        Assistant service(boolean attached, ChatModel model) {
            AiServices<Assistant> services = attached
                    ? keepsake.aiServices(Assistant.class)
                    : AiServices.builder(Assistant.class).chatMemoryProvider(keepsake.chatMemoryProvider());
            return services.chatModel(model).tools(new Tools(this)).build();
        }
    }

    public record Tools(Case of) {
        @Tool
        String first() {
            return "found";
        }

        @Tool
        String second() {
            of.untilItHangs();
            return "found too";
        }
    }

    /** Returns a model that waits for the moment, and then answers or throws. */
    private static ChatModel model(Step before) {
        return Script.playing(request -> {
            try {
                before.run();
            } catch (Exception e) {
                throw new IllegalStateException("model");
            }
            return Script.response(ai("answer"));
        });
    }

    private static ChatModel callsTools() {
        return Script.answering(
                request -> request.messages().stream().anyMatch(ToolExecutionResultMessage.class::isInstance)
                        ? ai("answer")
                        : AiMessage.from(call("a", "first", "{}"), call("b", "second", "{}")));
    }

    private static Step streamed(Case of) {
        StreamingChatModel model = new StreamingChatModel() {
            @Override
            public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
                handler.onPartialResponse("answer");
                of.untilItHangs();
                handler.onCompleteResponse(Script.response(ai("answer")));
            }
        };
        Assistant assistant = of.keepsake
                .aiServices(Assistant.class)
                .streamingChatModel(model)
                .build();
        return () -> {
            CompletableFuture<Object> ended = new CompletableFuture<>();
            assistant.stream(of.id, "asked")
                    .onPartialResponse(token -> {})
                    .onCompleteResponse(ended::complete)
                    .onError(ended::completeExceptionally)
                    .start();
            ended.get();
        };
    }

    /** Returns the calls of the public API that a storage may keep waiting, by what they are. */
    private static Map<String, Call> calls() {
        Map<String, Call> calls = new TreeMap<>();
        for (boolean attached : List.of(true, false)) {
            String service = attached ? "attached service" : "service with listeners";
            calls.put(service, of -> {
                Assistant assistant = of.service(attached, model(() -> {}));
                return late(of, () -> assistant.chat(of.id, "asked"));
            });
            calls.put(service + ", answer", of -> {
                Assistant assistant = of.service(attached, model(of::untilItHangs));
                return () -> assistant.chat(of.id, "asked");
            });
            calls.put(service + ", error", of -> {
                Assistant assistant = of.service(attached, model(() -> {
                    of.untilItHangs();
                    throw new IllegalStateException();
                }));
                return () -> assistant.chat(of.id, "asked");
            });
            calls.put(service + ", tools", of -> {
                Assistant assistant = of.service(attached, callsTools());
                return () -> assistant.chat(of.id, "asked");
            });
        }
        calls.put("attached service, stream", HangingStorageTest::streamed);
        calls.put("memory.add", of -> late(of, () -> of.memory().add(user("asked"))));
        calls.put("memory.add of several", of -> late(of, () -> of.memory().add(List.of(user("asked"), ai("yes")))));
        calls.put("memory.messages (reads)", of -> late(of, () -> of.memory().messages()));
        calls.put("memory.set", of -> late(of, () -> of.memory().set(List.of(user("asked")))));
        calls.put("memory.clear", of -> late(of, () -> of.memory().clear()));
        calls.put(
                "store.getMessages (reads)",
                of -> late(of, () -> of.keepsake.chatMemoryStore().getMessages(of.id)));
        calls.put(
                "store.updateMessages",
                of -> late(of, () -> of.keepsake.chatMemoryStore().updateMessages(of.id, List.of(user("asked")))));
        calls.put(
                "store.deleteMessages",
                of -> late(of, () -> of.keepsake.chatMemoryStore().deleteMessages(of.id)));
        calls.put("window over the store, add", of -> {
            ChatMemory window = Dialogue.window(of.id, 10, of.keepsake.chatMemoryStore());
            return late(of, () -> window.add(user("asked")));
        });
        calls.put(
                "conversation.append",
                of -> late(of, () -> of.keepsake.conversation(of.id).append(Parent.head(), "new", user("asked"))));
        calls.put(
                "conversation.history (reads)",
                of -> late(of, () -> of.keepsake.conversation(of.id).history(HistoryQuery.newest(10))));
        calls.put(
                "conversation.setTitle",
                of -> late(of, () -> of.keepsake.conversation(of.id).setTitle("new")));
        calls.put(
                "conversation.erase",
                of -> late(of, () -> of.keepsake.conversation(of.id).erase()));
        calls.put(
                "keepsake.turn",
                of -> late(
                        of,
                        () -> of.keepsake.turn(of.id, TurnPolicy.REJECT, () -> {
                            of.memory().add(user("asked"));
                            return true;
                        })));
        calls.put(
                "keepsake.turn, body",
                of -> () -> of.keepsake.turn(of.id, TurnPolicy.REJECT, () -> {
                    of.untilItHangs();
                    of.memory().add(user("asked"));
                    return true;
                }));
        return calls;
    }

    private static Step late(Case of, Step step) {
        return () -> {
            of.untilItHangs();
            step.run();
        };
    }

    /** What ends a call: how often it waited for the storage, how long after that hung, and its error. */
    private record End(int waits, Duration took, Throwable error) {}

    @ParameterizedTest
    @EnumSource
    @ExpectedLog(maybe = {NOT_KEPT, NOT_RELEASED, "marked as broken", "Failed to validate", "Pool stats"})
    void a_storage_that_hangs_is_waited_for_once(Fault fault) throws Exception {
        try (Hanging storage = fault == Fault.SQLITE_LOCKED ? new Locked(directory) : new Server(fault)) {
            Map<String, Call> calls = calls();
            CountDownLatch ready = new CountDownLatch(calls.size());
            CountDownLatch hanging = new CountDownLatch(1);
            Map<String, Case> cases = new TreeMap<>();
            Map<String, End> ends = new ConcurrentHashMap<>();
            List<Thread> threads = new ArrayList<>();
            long[] begun = {0};
            for (Map.Entry<String, Call> call : calls.entrySet()) {
                String name = call.getKey();
                Case of = new Case("case" + cases.size(), storage.open(), ready, hanging);
                cases.put(name, of);
                of.memory().add(List.of(user("one"), ai("two")));
                Step step = call.getValue().prepare(of);
                threads.add(new Thread(
                        () -> {
                            Throwable error = null;
                            try {
                                step.run();
                            } catch (Exception e) {
                                error = e instanceof ExecutionException ? e.getCause() : e;
                            }
                            ends.put(
                                    name,
                                    new End(of.waits.get(), Duration.ofNanos(System.nanoTime() - begun[0]), error));
                        },
                        of.id));
            }
            threads.forEach(Thread::start);
            assertThat(ready.await(2, TimeUnit.MINUTES)).isTrue();
            storage.hang();
            begun[0] = System.nanoTime();
            hanging.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
            storage.goOn();

            SoftAssertions softly = new SoftAssertions();
            for (Map.Entry<String, End> end : new TreeMap<>(ends).entrySet()) {
                String name = end.getKey();
                int waits = fault.stopsReads() || !name.contains("(reads)") ? 1 : 0;
                softly.assertThat(end.getValue().waits())
                        .as("%s, waits: %s", name, end.getValue())
                        .isEqualTo(waits);
                softly.assertThat(end.getValue().took()).as(name).isLessThan(LONGEST);
            }
            for (String stored : List.of("attached service", "service with listeners", "memory.add", "memory.set")) {
                softly.assertThat(history(cases.get(stored).keepsake.conversation(cases.get(stored).id)))
                        .as("what " + stored + " left")
                        .containsExactly(user("one"), ai("two"));
            }
            softly.assertAll();
        }
    }

    /** A storage that can hang. */
    private interface Hanging extends AutoCloseable {
        MessageLog open() throws Exception;

        void hang() throws Exception;

        void goOn() throws Exception;
    }

    /** Files that another connection locks: one for each log, since threads that share one wait for each other too. */
    private static final class Locked implements Hanging {
        private final Path directory;
        private final List<MessageLog> logs = new ArrayList<>();
        private final List<Connection> locks = new ArrayList<>();

        Locked(Path directory) {
            this.directory = directory;
        }

        private Path file(int number) {
            return directory.resolve(number + ".db");
        }

        @Override
        public MessageLog open() {
            MessageLog log = ImpatientLogs.sqlite(file(logs.size()), LIMIT);
            logs.add(log);
            return log;
        }

        @Override
        public void hang() throws SQLException {
            for (int i = 0; i < logs.size(); i++) {
                Connection lock = DriverManager.getConnection("jdbc:sqlite:" + file(i));
                lock.createStatement().execute("BEGIN IMMEDIATE");
                locks.add(lock);
            }
        }

        @Override
        public void goOn() throws SQLException {
            for (Connection lock : locks) {
                lock.close();
            }
        }

        @Override
        public void close() throws Exception {
            for (MessageLog log : logs) {
                log.close();
            }
        }
    }

    /** A server that is locked, silent or not there, and the log's own pool. */
    private static final class Server implements Hanging {
        private final Fault fault;
        private final Postgres server = Postgres.newest();
        private final String database = server.newDatabase();
        private final TcpProxy proxy = new TcpProxy(server.port());
        private final Connection other = server.database(database).getConnection();
        private final MessageLog log;

        Server(Fault fault) throws Exception {
            this.fault = fault;
            try (MessageLog made = Postgres.log(server.database(database))) {
                made.read(KEY, ReadQuery.newest(1));
            }
            log = JdbcMessageLog.builder()
                    .url("jdbc:postgresql://127.0.0.1:" + proxy.port() + "/" + database, "postgres", "")
                    .maxPoolSize(30)
                    .statementTimeout(LIMIT)
                    .build();
        }

        @Override
        public MessageLog open() {
            return log;
        }

        @Override
        public void hang() throws SQLException {
            switch (fault) {
                case POSTGRESQL_ROWS_LOCKED -> lock("SELECT * FROM keepsake_memory FOR UPDATE");
                case POSTGRESQL_TABLES_LOCKED ->
                    lock("LOCK TABLE keepsake_memory, keepsake_message IN ACCESS EXCLUSIVE MODE");
                case POSTGRESQL_SILENT -> proxy.fallSilent();
                default -> proxy.refuse();
            }
        }

        private void lock(String sql) throws SQLException {
            other.setAutoCommit(false);
            other.createStatement().execute(sql);
        }

        /** A busy server cancels a statement late, and its client may have given up before: nothing may be left to run. */
        @Override
        public void goOn() throws SQLException {
            if (fault == Fault.POSTGRESQL_ROWS_LOCKED || fault == Fault.POSTGRESQL_TABLES_LOCKED) {
                await().until(() -> running() == 0);
            }
            other.close();
            proxy.letThrough();
        }

        private int running() throws SQLException {
            try (Connection own = server.database(database).getConnection();
                    ResultSet row = own.createStatement()
                            .executeQuery("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                    + " AND state = 'active' AND pid <> pg_backend_pid()")) {
                row.next();
                return row.getInt(1);
            }
        }

        @Override
        public void close() throws Exception {
            log.close();
            proxy.close();
        }
    }

    @Test
    void callers_of_a_locked_file_do_not_wait_one_behind_the_other() throws Exception {
        try (Locked storage = new Locked(directory)) {
            MessageLog log = storage.open();
            ChatMemory memory = Keepsake.builder().messageLog(log).build().chatMemory("made");
            memory.add(user("one"));
            storage.hang();
            long begun = System.nanoTime();
            List<Thread> threads = new ArrayList<>();
            List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
            for (int i = 0; i < 4; i++) {
                ChatMemory other = Keepsake.builder().messageLog(log).build().chatMemory("alice" + i);
                Thread thread = new Thread(() -> {
                    try {
                        other.add(user("asked"));
                    } catch (RuntimeException e) {
                        errors.add(e);
                    }
                });
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            Duration took = Duration.ofNanos(System.nanoTime() - begun);
            storage.goOn();

            assertThat(took).isLessThan(LONGEST);
            assertThat(errors).hasSize(4).allMatch(StorageUnavailableException.class::isInstance);
            memory.add(ai("two"));
            assertThat(memory.messages()).hasSize(2);
        }
    }

    /** Work that the test runs when it wants. */
    private final Deque<Runnable> later = new ArrayDeque<>();

    private Keepsake keepsake(WatchedLog log) {
        return Keepsake.builder().messageLog(log.log()).executor(later::add).build();
    }

    private static Assistant service(boolean attached, Keepsake keepsake, ChatModel model, Object... tools) {
        AiServices<Assistant> services = attached
                ? keepsake.aiServices(Assistant.class)
                : AiServices.builder(Assistant.class).chatMemoryProvider(keepsake.chatMemoryProvider());
        return services.chatModel(model).tools(tools).build();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_end_of_a_turn_that_stored_nothing_writes_nothing(boolean attached) {
        WatchedLog log = new WatchedLog(new InMemoryMessageLog());
        Assistant assistant = service(attached, keepsake(log), model(() -> {}));
        log.fail("append", new StorageUnavailableException("planned", null));

        assertThatThrownBy(() -> assistant.chat("alice", "asked")).isInstanceOf(StorageUnavailableException.class);

        assertThat(log.calls()).endsWith("append");
        assertThat(log.calls("append")).isOne();
        assertThat(later).isEmpty();
    }

    /** Fails appends from its second tool's run on. */
    public record Failing(WatchedLog log) {
        @Tool
        String first() {
            return "found";
        }

        @Tool
        String second() {
            log.fail("append", new StorageUnavailableException("planned", null));
            return "found too";
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void what_a_turn_had_accepted_is_written_behind_the_call_with_how_it_ended(boolean attached) {
        WatchedLog log = new WatchedLog(new InMemoryMessageLog());
        Keepsake keepsake = keepsake(log);
        Assistant assistant = service(attached, keepsake, callsTools(), new Failing(log));

        assertThatThrownBy(() -> assistant.chat("alice", "asked")).isInstanceOf(StorageUnavailableException.class);

        // The question, the calls, and the results, which failed.
        assertThat(log.calls("append")).isEqualTo(3);
        assertThat(log.calls()).endsWith("append");
        log.fail("append", null);
        while (!later.isEmpty()) {
            later.poll().run();
        }
        List<LoggedMessage> stored =
                keepsake.conversation("alice").history(HistoryQuery.newest(10)).messages();
        assertThat(stored).hasSize(4);
        assertThat(stored.subList(2, 4)).extracting(LoggedMessage::message).allSatisfy(message -> assertThat(message)
                .isInstanceOf(ToolExecutionResultMessage.class));
        assertThat(stored.get(0).outcome()).isEqualTo(Outcome.failed(StorageUnavailableException.class.getName()));
    }
}
