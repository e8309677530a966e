package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.ViewReader;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Postgres;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How many statements things take on PostgreSQL, counted by a proxy of the data source. */
class PostgresStatementsTest {

    interface Assistant {
        String chat(@MemoryId Object id, @UserMessage String text);
    }

    static class Calculator {
        @Tool
        int add(int a, int b) {
            return a + b;
        }
    }

    private final List<String> statements = Collections.synchronizedList(new ArrayList<>());
    private HikariDataSource pool;
    private MessageLog log;

    @BeforeEach
    void open() throws Exception {
        Postgres server = Postgres.newest();
        pool = Postgres.pool(server.database(server.newDatabase()), 2, true);
        log = JdbcMessageLog.builder()
                .dataSource(ProxyDataSourceBuilder.create(pool)
                        .afterQuery((execution, queries) -> queries.forEach(query -> statements.add(query.getQuery())))
                        .build())
                .schema(JdbcMessageLog.SchemaMode.ALWAYS)
                .build();
        log.append(KEY, batch("a", "b"));
        statements.clear();
    }

    @AfterEach
    void close() {
        log.close();
        pool.close();
    }

    @Test
    void an_append_is_one_statement() {
        long epoch = 1;
        assertThat(count(() -> log.append(KEY, batch("c")))).isOne();
        assertThat(count(() -> log.append(KEY, batch("d", "e", "f")))).isOne();
        assertThat(count(() -> log.append(KEY, batchUnder("b", "g", "h")))).isOne();
        assertThat(count(() -> log.append(KEY, batch("i").expectingHead("h").inEpoch(epoch))))
                .isOne();
        assertThat(count(() -> log.append(KEY, batch("j").withView(View.of(null, List.of(), List.of())))))
                .isOne();
        assertThat(count(() -> log.append(KEY, Append.viewOnly(View.of("j", List.of(), List.of())))))
                .isOne();
        assertThat(count(() -> log.append(ConversationKey.of("acme", "new"), batch("a"))))
                .isOne();
        assertThat(count(() -> log.append(KEY, batch("c")))).as("a replay").isEqualTo(2);
    }

    @Test
    void a_read_is_one_statement() {
        assertThat(count(() -> log.read(KEY, ReadQuery.newest(20)))).isOne();
        assertThat(count(() -> log.read(KEY, ReadQuery.wholeBranch().upToTokens(1000))))
                .isOne();
        assertThat(count(() -> log.read(KEY, ReadQuery.newest(1).alsoOldest(4))))
                .isOne();
        assertThat(count(() -> log.read(KEY, ReadQuery.newest(0).alsoOldest(4))))
                .isOne();
        log.append(KEY, batchUnder("a", "c", "d").withView(View.of(null, List.of(), List.of())));
        log.putSummary(KEY, new Summary("a", "text", 1, "none", 1, 1, null, Instant.EPOCH), 1);
        log.append(KEY, batchUnder("b", "e"));
        statements.clear();
        assertThat(count(() -> log.read(KEY, ReadQuery.newest(20).upToSummary())))
                .isOne();
        assertThat(count(() -> log.read(KEY, ReadQuery.newest(20).endingIn("d").after("a"))))
                .isOne();
        assertThat(count(() -> log.read(
                        KEY, ReadQuery.newest(1).endingIn("d").after("a").alsoOldest(4))))
                .isOne();
    }

    @Test
    void the_oldest_behind_a_fork_cost_no_statement_while_the_newest_lie_in_one_run() {
        log.append(KEY, batchUnder("a", "c", "d", "e"));

        assertThat(count(() -> log.read(KEY, ReadQuery.newest(2).alsoOldest(3))))
                .isOne();
        assertThat(count(() -> log.read(KEY, ReadQuery.newest(9).alsoOldest(3))))
                .as("the first read that crosses the fork")
                .isEqualTo(2);
        assertThat(count(() -> log.read(KEY, ReadQuery.newest(9).alsoOldest(3))))
                .isOne();
    }

    @Test
    void who_does_not_ask_for_the_oldest_sends_what_it_always_sent() {
        count(() -> log.read(KEY, ReadQuery.newest(20)));
        assertThat(statements).containsExactly(PostgresSql.READ_RUN);
        count(() -> log.read(KEY, ReadQuery.newest(0)));
        assertThat(statements).containsExactly(PostgresSql.READ);
    }

    @Test
    void the_oldest_of_a_view_cost_a_statement_for_each_run_that_the_first_one_does_not_tell() {
        log.append(KEY, batch("c", "d", "e", "f"));
        List<View.Run> runs = List.of(new View.Run(null, "b"), new View.Run("d", "e"));
        log.append(KEY, Append.viewOnly(View.of(null, runs, List.of())));
        log.append(KEY, batch("g", "h", "i"));

        assertThat(count(() -> ViewReader.read(log, KEY, ReadQuery.newest(2).alsoOldest(2))))
                .as("the branch begins as the view does")
                .isOne();
        assertThat(count(() -> ViewReader.read(log, KEY, ReadQuery.newest(2).alsoOldest(3))))
                .as("and one run more")
                .isEqualTo(2);
        assertThat(count(() -> ViewReader.read(log, KEY, ReadQuery.newest(2).alsoOldest(4))))
                .as("and what follows the anchor")
                .isEqualTo(3);
        assertThat(count(() -> ViewReader.read(log, KEY, ReadQuery.newest(3).alsoOldest(2))))
                .isOne();
        log.append(KEY, Append.viewOnly(View.of(null, List.of(), runs)));
        log.append(KEY, batch("j", "k", "l"));
        assertThat(count(() -> ViewReader.read(log, KEY, ReadQuery.newest(2).alsoOldest(2))))
                .as("a cleared view")
                .isEqualTo(2);
        assertThat(count(() -> ViewReader.read(log, KEY, ReadQuery.newest(3).alsoOldest(2))))
                .as("a cleared view whose messages were all read")
                .isOne();
    }

    @Test
    void turns() {
        AiMessage calls = AiMessage.from(
                Dialogue.call("1", "add", "{\"a\":1,\"b\":2}"), Dialogue.call("2", "add", "{\"a\":3,\"b\":4}"));
        ChatModelMock model = ChatModelMock.thatAlwaysResponds(
                AiMessage.from("first"), AiMessage.from("second"), calls, AiMessage.from("10"));
        Keepsake keepsake = Keepsake.builder().messageLog(log).build();
        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(model)
                .systemMessageProvider(id -> "Be brief")
                .tools(new Calculator())
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .build();

        int first = count(() -> assistant.chat("alice", "hello"));
        int plain = count(() -> assistant.chat("alice", "again"));
        int tools = count(() -> assistant.chat("alice", "1+2, 3+4"));
        System.out.printf("Statements: first turn %d, plain turn %d, turn with two tools %d%n", first, plain, tools);

        assertThat(first).isLessThanOrEqualTo(4);
        assertThat(plain).isLessThanOrEqualTo(3);
        assertThat(tools).isLessThanOrEqualTo(5);
    }

    private int count(Runnable work) {
        statements.clear();
        work.run();
        return statements.size();
    }
}
