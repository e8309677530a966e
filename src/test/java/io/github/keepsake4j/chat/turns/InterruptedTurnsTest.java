package io.github.keepsake4j.chat.turns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.MemoryId;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.Watched;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Turns whose thread is interrupted, as by {@code Future.cancel(true)}: how they ended is kept, and the flag stays set. */
@Timeout(300)
class InterruptedTurnsTest {

    private static final int POINTS = 20;

    interface Assistant {
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    private final AtomicInteger calls = new AtomicInteger();
    private int point = -1;
    private Thread turn;
    private volatile boolean flag;
    private Runnable inModel = () -> {};

    @AfterEach
    void leaveTheServerAlone() throws Exception {
        S3Server.shared().leaveAlone();
    }

    /** Interrupts the thread of the turn at one of the points. */
    private void pass() {
        if (calls.getAndIncrement() == point) {
            turn.interrupt();
        }
    }

    private MessageLog watched(MessageLog log) {
        return Watched.log(log, call -> {
            boolean ofTurn = Thread.currentThread() == turn;
            try {
                if (ofTurn) {
                    pass();
                }
                return call.proceed();
            } finally {
                if (ofTurn) {
                    pass();
                }
            }
        });
    }

    public final class Tools {
        @Tool
        String lookUp() {
            pass();
            pass();
            return "found";
        }
    }

    /** As a client of HTTP does, the model refuses an interrupted thread. */
    private final class Model implements ChatModel {
        @Override
        public ChatResponse doChat(ChatRequest request) {
            pass();
            pass();
            inModel.run();
            if (Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("interrupted");
            }
            boolean asksBack = request.messages().stream().noneMatch(ToolExecutionResultMessage.class::isInstance);
            return Script.response(asksBack ? AiMessage.from(Dialogue.call("a", "lookUp", "{}")) : Dialogue.ai("yes"));
        }
    }

    /** Takes one turn on a thread of its own and returns the history. */
    private List<LoggedMessage> turn(MessageLog log, String id) throws Exception {
        String home = log.backend();
        Keepsake keepsake = Keepsake.builder().messageLog(watched(log)).build();
        Assistant assistant = keepsake.aiServices(Assistant.class)
                .chatModel(new Model())
                .tools(new Tools())
                .build();
        calls.set(0);
        turn = new Thread(() -> {
            try {
                assistant.chat(id, "one");
            } catch (RuntimeException e) {
                assertThat(e).hasMessageContaining("interrupted");
            } finally {
                flag = Thread.currentThread().isInterrupted();
            }
        });
        turn.start();
        turn.join();
        if (calls.get() > point && point >= 0) {
            assertThat(flag).as("%s: the flag, point %d", home, point).isTrue();
        }
        return keepsake.conversation(id).history(HistoryQuery.oldest(10)).messages();
    }

    private static void assertEnded(List<LoggedMessage> history, String as) {
        assertThat(history).as(as).isNotEmpty();
        Outcome outcome = history.get(0).outcome();
        boolean failed = outcome != null && outcome.kind() == Outcome.Kind.FAILED;
        boolean answered = history.size() == 4 && history.get(3).message().equals(Dialogue.ai("yes"));
        assertThat(failed ^ answered).as("%s: %s", as, history.size()).isTrue();
    }

    @ParameterizedTest
    @Homes
    void a_turn_that_is_interrupted_anywhere_is_whole_or_has_failed(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open()) {
            turn(log, "first");
            int interrupted = 0;
            for (point = 0; point < POINTS; point++) {
                assertEnded(turn(log, "c" + point), home + " " + point);
                interrupted += calls.get() > point ? 1 : 0;
            }
            assertThat(interrupted).isEqualTo(POINTS);
        }
    }

    /** The interrupt meets the request on its way. */
    @ParameterizedTest
    @EnumSource(names = {"S3", "S3_TURNS"})
    void so_is_one_that_is_interrupted_within_a_request_to_a_bucket(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open()) {
            AtomicInteger requests = new AtomicInteger();
            AtomicInteger interrupted = new AtomicInteger();
            for (int request = 0; request < POINTS / 2; request++) {
                int at = request;
                requests.set(0);
                S3Server.shared().before(kind -> {
                    if (requests.getAndIncrement() == at && turn != null && turn.isAlive()) {
                        interrupted.incrementAndGet();
                        turn.interrupt();
                    }
                });
                assertEnded(turn(log, "c" + request), home + " " + request);
                S3Server.shared().leaveAlone();
            }
            assertThat(interrupted).hasPositiveValue();
        }
    }

    /** The only connection of the pool is busy when the turn ends. */
    @Test
    void so_is_one_whose_pool_is_busy_at_its_end() throws Exception {
        String database = Postgres.newest().newDatabase();
        try (HikariDataSource pool = Postgres.pool(Postgres.newest().database(database), 1, true);
                MessageLog log = Postgres.log(pool)) {
            for (boolean again : new boolean[] {false, true}) {
                inModel = () -> {
                    Connection busy = connection(pool);
                    new Thread(() -> {
                                await().until(() -> pool.getHikariPoolMXBean().getThreadsAwaitingConnection() > 0);
                                if (again) {
                                    turn.interrupt();
                                    await().until(() -> turn.getState() == Thread.State.TIMED_WAITING);
                                }
                                close(busy);
                            })
                            .start();
                    turn.interrupt();
                };
                assertEnded(turn(log, "c" + again), "busy " + again);
                assertThat(flag).isTrue();
            }
        }
    }

    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Connection connection(HikariDataSource pool) {
        try {
            return pool.getConnection();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
