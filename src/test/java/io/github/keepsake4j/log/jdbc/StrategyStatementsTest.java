package io.github.keepsake4j.log.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.ClearToolResults;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Pinned;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How many statements a turn takes under each strategy, and how many rows {@code messages()} reads of a long history. */
class StrategyStatementsTest {

    private static final JtokkitTokenCountEstimator ESTIMATOR = JtokkitTokenCountEstimator.forModel("gpt-4o");
    private static final MemoryKey KEY = ConversationKey.of("default", "long");
    private static final int HISTORY = 3000;

    /** A strategy, and how many rows it may read at most. */
    private record Case(String name, ContextStrategy strategy, int rows) {}

    interface Assistant {
        @dev.langchain4j.service.SystemMessage("Be brief")
        String chat(@MemoryId Object id, @UserMessage String text);
    }

    static class Calculator {
        @Tool
        int add(int a, int b) {
            return a + b;
        }
    }

    private final List<String> statements = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger rows = new AtomicInteger();
    private HikariDataSource pool;
    private MessageLog log;

    @BeforeEach
    void open() throws Exception {
        Postgres server = Postgres.newest();
        pool = Postgres.pool(server.database(server.newDatabase()), 2, true);
        log = countingRows(JdbcMessageLog.builder()
                .dataSource(ProxyDataSourceBuilder.create(pool)
                        .afterQuery(
                                (execution, queries) -> queries.forEach(query -> statements.add(SentText.of(query))))
                        .build())
                .schema(SchemaMode.ALWAYS)
                .build());
        List<NewMessage> batch = new ArrayList<>();
        for (int i = 0; i < HISTORY; i++) {
            batch.add(NewMessage.of(
                    i % 2 == 0 ? Dialogue.user("question " + i) : Dialogue.ai("answer " + i), 10, ESTIMATOR.name()));
        }
        log.append(KEY, Append.under(io.github.keepsake4j.log.Parent.head(), batch));
    }

    @AfterEach
    void close() {
        log.close();
        pool.close();
    }

    @Test
    void a_turn_takes_as_many_statements_under_every_strategy_and_reads_what_the_strategy_uses() {
        ContextStrategy window = SlidingWindow.withMaxMessages(20);
        for (Case each : List.of(
                new Case("messages", window, 20),
                new Case("messages in steps", SlidingWindow.withMaxMessages(20).step(10), 20),
                // One turn more, of four messages at the most, so that the log says where the newest ones begin.
                new Case("turns", SlidingWindow.withMaxTurns(5), 24),
                new Case("tokens", TokenLimit.withMaxTokens(300, ESTIMATOR), 31),
                new Case(
                        "tokens in steps",
                        TokenLimit.withMaxTokens(300, ESTIMATOR).step(150),
                        31),
                new Case("both", window.and(TokenLimit.withMaxTokens(100, ESTIMATOR)), 20),
                new Case("cleared results", ClearToolResults.keepNewest(1).and(window), 20),
                // Five oldest, and four more so that the oldest turn is mostly read from its beginning.
                new Case("first messages pinned", Pinned.firstMessages(4).and(window), 29),
                new Case("one's own", context -> context.keepTurns(turn -> true), HISTORY + 100))) {
            turns(each);
        }
    }

    private void turns(Case each) {
        Keepsake keepsake =
                Keepsake.builder().messageLog(log).strategy(each.strategy()).build();
        AiMessage twoCalls = AiMessage.from(
                Dialogue.call("1", "add", "{\"a\":1,\"b\":2}"), Dialogue.call("2", "add", "{\"a\":3,\"b\":4}"));
        ChatModelMock model = new ChatModelMock((ChatRequest request) ->
                request.messages().get(request.messages().size() - 1).equals(Dialogue.user("calculate"))
                        ? twoCalls
                        : AiMessage.from("ok"));
        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .tools(new Calculator())
                .build();
        assistant.chat("long", "warm up");
        rows.set(0);
        assertThat(count(() -> assistant.chat("long", "hello")))
                .as(each.name() + ": plain")
                .isLessThanOrEqualTo(3);
        assertThat(rows.get()).as(each.name() + ": rows").isLessThanOrEqualTo(each.rows());
        assertThat(count(() -> assistant.chat("long", "calculate")))
                .as(each.name() + ": two tools")
                .isLessThanOrEqualTo(5);
        rows.set(0);
        keepsake.chatMemory("long").messages();
        assertThat(rows.get()).as(each.name() + ": rows").isPositive().isLessThanOrEqualTo(each.rows());
    }

    private int count(Runnable work) {
        statements.clear();
        work.run();
        return statements.size();
    }

    private MessageLog countingRows(MessageLog inner) {
        return (MessageLog) Proxy.newProxyInstance(
                MessageLog.class.getClassLoader(), new Class<?>[] {MessageLog.class}, (proxy, method, arguments) -> {
                    try {
                        Object result = method.invoke(inner, arguments);
                        if (result instanceof Tail tail) {
                            rows.addAndGet(
                                    tail.messages().size() + tail.oldest().size());
                        }
                        return result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
