package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.answer;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.jdbc.PostgresReadSql.Part;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.CountedLog;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.view.ViewReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
        log = builder().build();
        log.append(KEY, batch("a", "b"));
        statements.clear();
    }

    private JdbcMessageLog.Builder builder() {
        return JdbcMessageLog.builder()
                .dataSource(ProxyDataSourceBuilder.create(pool)
                        .afterQuery(
                                (execution, queries) -> queries.forEach(query -> statements.add(SentText.of(query))))
                        .build())
                .schema(SchemaMode.ALWAYS);
    }

    @AfterEach
    void close() {
        log.close();
        pool.close();
    }

    /** One statement for all of them would ask all shards. */
    @Test
    void messages_of_several_memories_are_one_statement_unless_the_tables_are_distributed() {
        ConversationKey other = ConversationKey.of("acme", "other");
        log.append(other, batch("c"));
        Map<MemoryKey, List<Long>> sequences = Map.of(KEY, List.of(1L, 2L), other, List.of(1L));
        Map<MemoryKey, List<String>> ids = Map.of(KEY, List.of("a"), other, List.of("c"));
        try (MessageLog distributed = builder().distributed().build()) {
            assertThat(Logs.findAt(distributed, sequences)).isEqualTo(Logs.findAt(log, sequences));

            assertThat(count(() -> Logs.findAt(log, sequences))).isOne();
            assertThat(count(() -> Logs.find(log, ids))).isOne();
            assertThat(count(() -> Logs.findAt(distributed, sequences))).isEqualTo(2);
            assertThat(count(() -> Logs.find(distributed, ids))).isEqualTo(2);
        }
    }

    @Test
    void an_append_is_one_statement() {
        long epoch = 1;
        assertThat(count(() -> log.append(KEY, batch("c")))).isOne();
        assertThat(count(() -> log.append(KEY, batch("d", "e", "f")))).isOne();
        assertThat(count(() -> log.append(KEY, batchUnder("b", "g", "h")))).isOne();
        assertThat(count(() -> log.append(KEY, batch("i").expectingHead("h").inEpoch(epoch))))
                .isOne();
        assertThat(count(() -> log.append(KEY, batch("j").withView(View.of(null, List.of())))))
                .isOne();
        assertThat(count(() -> log.append(KEY, Append.viewOnly(View.of("j", List.of())))))
                .isOne();
        assertThat(count(() -> log.append(ConversationKey.of("acme", "new"), batch("a"))))
                .isOne();
        assertThat(count(() -> log.append(KEY, batch("c")))).as("a replay").isEqualTo(2);
    }

    @Test
    void what_is_kept_beside_a_message_costs_no_statement_and_nothing_where_nothing_is_kept() {
        NewMessage noted = answer("c")
                .withOutcome(Outcome.incomplete("cut"))
                .withSeen(new Seen(List.of(new Seen.Range(1, 2)), List.of(), 0, false))
                .withUsage(new Usage(1, 2, 3));
        assertThat(count(() -> log.append(KEY, Append.underHead(noted)))).isOne();
        assertThat(statements.get(0)).contains("keepsake_usage");
        assertThat(count(() -> log.append(
                        KEY, Append.underHead(answer("d"), answer("e").withUsage(new Usage(1, 2, 3))))))
                .isOne();
        assertThat(count(() -> log.append(
                        KEY, Append.under(Parent.of("b"), List.of(answer("f").withUsage(new Usage(1, 2, 3)))))))
                .isOne();
        assertThat(count(() -> Logs.setOutcome(log, KEY, "a", Outcome.failed("x"), 1L)))
                .isOne();
        assertThat(count(() -> Logs.made(log, KEY, "c"))).isOne();
        assertThat(count(() -> Reads.made(log, KEY, List.of("c", "d", "e")))).isOne();
        for (MemoryDetails.Part part : MemoryDetails.Part.values()) {
            assertThat(count(() -> log.details(KEY, Set.of(part))))
                    .as(part.name())
                    .isOne();
        }
        MemoryKey none = ConversationKey.of("acme", "none");
        assertThat(count(() -> log.details(none, EnumSet.allOf(MemoryDetails.Part.class))))
                .isOne();
        assertThat(count(() -> Logs.usage(log, "acme", LocalDate.EPOCH, LocalDate.EPOCH.plusDays(100_000))))
                .isOne();
        count(() -> log.append(KEY, batch("g").onBranch("tab")));
        assertThat(count(() -> log.read(KEY, ReadQuery.newest(20).onBranch("tab"))))
                .isOne();
        assertThat(count(
                        () -> log.read(KEY, ReadQuery.newest(20).onBranch("tab").alsoOldest(2))))
                .isOne();
        int named = count(() -> log.append(KEY, batch("h").onBranch("tab")));
        Tell.line("Statements of an append to a named branch: " + named);

        assertThat(PostgresSql.APPEND_ONE.text()
                        + PostgresSql.APPEND_MANY.text()
                        + PostgresSql.APPEND.text()
                        + PostgresSql.APPEND_ONE_AND_VIEW.text())
                .doesNotContain("keepsake_usage")
                .doesNotContain("outcome")
                .doesNotContain("made");
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
        log.append(KEY, batchUnder("a", "c", "d").withView(View.of(null, List.of())));
        Logs.putSummary(log, KEY, new Summary("a", "text", 1, "none", 1, 1, null, Instant.EPOCH), 1);
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
                .isOne();
        assertThat(count(() -> log.read(KEY, ReadQuery.newest(9).alsoOldest(3))))
                .isOne();
    }

    @Test
    void who_does_not_ask_for_the_oldest_sends_what_it_always_sent() {
        count(() -> log.read(KEY, ReadQuery.newest(20)));
        assertThat(statements)
                .as("nothing is known yet")
                .containsExactly(PostgresReadSql.fromHead(PostgresRead.Reach.UNKNOWN.parts())
                        .text());
        count(() -> log.read(KEY, ReadQuery.newest(20)));
        assertThat(statements)
                .containsExactly(PostgresReadSql.fromHead(Set.of()).text());
        count(() -> log.read(KEY, ReadQuery.newest(0)));
        assertThat(statements)
                .containsExactly(PostgresReadSql.fromHead(EnumSet.of(Part.SYSTEM, Part.USER, Part.VIEW))
                        .text());
    }

    @Test
    void the_oldest_of_a_view_cost_a_statement_for_each_run_that_the_first_one_does_not_tell() {
        log.append(KEY, batch("c", "d", "e", "f"));
        List<View.Run> runs = List.of(new View.Run(null, "b"), new View.Run("d", "e"));
        log.append(KEY, Append.viewOnly(View.of(null, runs)));
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
        log.append(KEY, Append.viewOnly(View.of(null, List.of())));
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
        Tell.line("Statements: first turn %d, plain turn %d, turn with two tools %d", first, plain, tools);

        assertThat(first).isLessThanOrEqualTo(4);
        assertThat(plain).isLessThanOrEqualTo(3);
        assertThat(tools).isLessThanOrEqualTo(5);
    }

    @Test
    void a_stock_window_that_slides_reads_and_writes_with_one_statement_each() {
        KeepsakeChatMemoryStore store =
                Keepsake.builder().messageLog(log).build().chatMemoryStore();
        MessageWindowChatMemory memory = MessageWindowChatMemory.builder()
                .id("alice")
                .maxMessages(20)
                .chatMemoryStore(store)
                .build();
        memory.add(SystemMessage.from("Be brief"));
        for (int i = 0; i < 100; i++) {
            memory.add(dev.langchain4j.data.message.UserMessage.from("m" + i));
        }

        for (int i = 0; i < 5; i++) {
            List<ChatMessage> list = new ArrayList<>();
            assertThat(count(() -> list.addAll(store.getMessages("alice"))))
                    .as("getMessages")
                    .isOne();
            list.remove(1);
            list.add(dev.langchain4j.data.message.UserMessage.from("next" + i));
            assertThat(count(() -> store.updateMessages("alice", list)))
                    .as("updateMessages")
                    .isOne();
            assertThat(store.getMessages("alice")).isEqualTo(list).hasSize(20);
        }
        KeepsakeChatMemoryStore cold =
                Keepsake.builder().messageLog(log).build().chatMemoryStore();
        List<ChatMessage> list = new ArrayList<>(store.getMessages("alice"));
        list.remove(1);
        assertThat(count(() -> cold.updateMessages("alice", list)))
                .as("updateMessages without a read")
                .isEqualTo(2);
        assertThat(count(() -> cold.deleteMessages("alice")))
                .as("deleteMessages")
                .isEqualTo(2);
    }

    @Test
    void a_turn_of_a_stock_window_reads_its_list_at_most_once() {
        CountedLog counted = new CountedLog();
        KeepsakeChatMemoryStore store =
                Keepsake.builder().messageLog(counted.around(log)).build().chatMemoryStore();
        MessageWindowChatMemory memory = MessageWindowChatMemory.builder()
                .id("alice")
                .maxMessages(20)
                .chatMemoryStore(store)
                .build();
        memory.add(SystemMessage.from("Be brief"));
        for (int i = 0; i < 30; i++) {
            memory.add(dev.langchain4j.data.message.UserMessage.from("m" + i));
        }

        for (int turn = 0; turn < 5; turn++) {
            boolean changed = turn == 3;
            if (changed) {
                Keepsake.builder()
                        .messageLog(log)
                        .build()
                        .chatMemory("alice")
                        .add(dev.langchain4j.data.message.UserMessage.from("by another process"));
            }
            counted.reset();
            int sent = count(() -> {
                memory.messages();
                memory.add(dev.langchain4j.data.message.UserMessage.from("question"));
                memory.add(AiMessage.from("answer"));
            });
            Tell.line(
                    "A stock window's turn%s: %d statements, %d messages read, %d characters of SQL",
                    changed ? " after another process" : "",
                    sent,
                    counted.messagesRead,
                    statements.stream().mapToInt(String::length).sum());
            assertThat(sent).isEqualTo(changed ? 6 : 5);
            assertThat(statements)
                    .filteredOn(sql -> !sql.startsWith("SELECT"))
                    .containsExactly(PostgresSql.APPEND_ONE_AND_VIEW.text(), PostgresSql.APPEND_ONE_AND_VIEW.text());
            assertThat(statements)
                    .filteredOn(sql -> sql.startsWith("SELECT n.kind"))
                    .hasSize(changed ? 4 : 3);
            assertThat(counted.messagesRead).isBetween(changed ? 20 : 0, changed ? 40 : 0);
            assertThat(counted.messagesWritten).isEqualTo(2);
        }
    }

    @Test
    void the_bytes_of_a_view_do_not_grow_with_the_list() throws SQLException {
        int small = viewBytes("small", 20);
        int large = viewBytes("large", 500);
        Tell.line("Bytes of a window's view row: %d for 20 messages, %d for 500", small, large);
        assertThat(large).isEqualTo(small);
    }

    /** How long the newest view is once a window has slid. */
    private int viewBytes(String id, int window) throws SQLException {
        KeepsakeChatMemoryStore store =
                Keepsake.builder().messageLog(log).build().chatMemoryStore();
        List<ChatMessage> list = new ArrayList<>();
        list.add(SystemMessage.from("Be brief"));
        for (int i = 0; i < window; i++) {
            list.add(dev.langchain4j.data.message.UserMessage.from(id + i));
        }
        store.updateMessages(id, list);
        list.remove(1);
        list.add(dev.langchain4j.data.message.UserMessage.from("last"));
        store.updateMessages(id, list);
        try (Connection connection = pool.getConnection();
                PreparedStatement query = connection.prepareStatement("SELECT octet_length(v.view) FROM keepsake_view v"
                        + " JOIN keepsake_memory m USING (memory_key) WHERE m.conversation_id = ?")) {
            query.setString(1, id);
            try (ResultSet rows = query.executeQuery()) {
                assertThat(rows.next()).isTrue();
                return rows.getInt(1);
            }
        }
    }

    private int count(Runnable work) {
        statements.clear();
        work.run();
        return statements.size();
    }
}
