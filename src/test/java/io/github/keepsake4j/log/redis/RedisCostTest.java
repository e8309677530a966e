package io.github.keepsake4j.log.redis;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.log.LogTesting.listByActivity;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.WalkWhileWriting;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;

/** What calls cost: commands, and bytes that are answered. */
class RedisCostTest {

    interface Assistant {
        String chat(@MemoryId Object id, @UserMessage String text);
    }

    static class Calculator {
        @Tool
        int add(int a, int b) {
            return a + b;
        }
    }

    private static final Pattern CALLS = Pattern.compile("cmdstat_(\\w+):calls=(\\d+),.*");
    private static final Pattern BYTES = Pattern.compile("(?s).*total_net_output_bytes:(\\d+).*");

    @TempDir
    static Path directory;

    private static Redis server;
    private static Jedis direct;
    private static RedisClient client;

    private MessageLog log;

    @BeforeAll
    static void start() throws Exception {
        server = Redis.keepingNothing(directory);
        direct = server.console();
        client = server.client();
    }

    @AfterAll
    static void stop() throws Exception {
        direct.close();
        client.close();
        server.close();
    }

    @BeforeEach
    void open() {
        direct.flushAll();
        log = builder().build();
        // The scripts are there, as they are after the first minutes of a server.
        log.append(ConversationKey.of("warm", "up"), batch("a"));
    }

    @AfterEach
    void close() {
        log.close();
    }

    /** What is sent in the background would be counted too. */
    private static RedisMessageLog.Builder builder() {
        return RedisMessageLog.builder()
                .client(client)
                .checks(RedisMessageLog.Checks.NONE)
                .listedMetadata("owner")
                .lag(Duration.ofHours(1));
    }

    @Test
    void an_append_is_one_command_and_two_the_first_time() {
        assertThat(count(() -> log.read(KEY, ReadQuery.newest(20)))).isOne();
        assertThat(count(() -> log.append(KEY, batch("a"))))
                .as("registered first")
                .isEqualTo(2);
        assertThat(count(() -> log.append(KEY, batch("b", "c")))).isOne();
        assertThat(count(() -> log.append(KEY, batch("b", "c")))).as("a replay").isOne();
        assertThat(count(() -> log.append(KEY, batchUnder("a", "d").withView(View.of(null, List.of())))))
                .isOne();
        assertThat(count(() -> log.read(KEY, ReadQuery.newest(20)))).isOne();
        assertThat(count(() -> Logs.find(log, KEY, List.of("a", "b", "nowhere"))))
                .isOne();

        MemoryKey unread = ConversationKey.of("acme", "43");
        assertThat(count(() -> log.append(unread, batch("a"))))
                .as("not known to be new")
                .isEqualTo(3);
        try (MessageLog other = builder().build()) {
            assertThat(other.append(KEY, batch("e")).lastSequence()).isEqualTo(5);
        }
    }

    @Test
    void lists_ask_the_memories_that_they_return() {
        for (int i = 0; i < 30; i++) {
            log.append(ConversationKey.of("acme", "c" + i), batch("a"));
        }
        ConversationKey conversation = ConversationKey.of("acme", "c7");
        List<NodeKey> nodes = List.of(NodeKey.of("acme", "app", "c7", "one"), NodeKey.of("acme", "app", "c7", "two"));
        nodes.forEach(node -> log.append(node, batch("a")));
        log.append(NodeKey.of("acme", "app", "c8", "one"), batch("a"));

        assertThat(log.nodes(conversation)).containsExactlyInAnyOrderElementsOf(nodes);
        assertThat(count(() -> log.nodes(conversation)))
                .as("two pages of the list, of which one is empty, and the nodes")
                .isEqualTo(4);
        log.erase(nodes.get(0));
        assertThat(log.nodes(conversation)).containsExactly(nodes.get(1));
        assertThat(count(() -> log.list("acme", ListQuery.first(10)))).isLessThanOrEqualTo(11);
        assertThat(count(() -> Logs.usage(log, "acme", LocalDate.EPOCH, LocalDate.EPOCH.plusDays(1))))
                .isEqualTo(34);
    }

    @Test
    void a_page_takes_as_many_commands_among_many_as_among_few_and_a_walk_misses_nothing_while_others_write() {
        List<ConversationKey> all = new ArrayList<>();
        List<Long> few = List.of();
        for (int count : new int[] {Counts.of(200, 2_000), Counts.of(1_000, 100_000)}) {
            for (int i = all.size(); i < count; i++) {
                all.add(ConversationKey.of("acme", "c" + i));
                log.append(all.get(i), batch("a").creating(Map.of("owner", "u" + i % 5)));
            }
            List<Long> commands = new ArrayList<>();
            for (ListQuery first : List.of(
                    ListQuery.first(20),
                    ListQuery.first(20).byActivity(),
                    ListQuery.first(20).withMetadata("owner", "u3"),
                    ListQuery.first(20).byActivity().withMetadata("owner", "u3"))) {
                ListQuery last = first;
                int size = first.metadata() == null ? count : count / 5;
                for (int skipped = 20; skipped < size; skipped += 20) {
                    last = log.list("acme", last).next().orElseThrow();
                }
                for (ListQuery query : List.of(first, last)) {
                    commands.add(count(
                            () -> assertThat(log.list("acme", query).memories()).hasSize(20)));
                }
            }
            Tell.line(
                    "%d memories: commands for the first and last page of 20, also by activity, and both of one of five owners: %s",
                    count, commands);
            assertThat(few.isEmpty() ? commands : few).isEqualTo(commands);
            assertThat(commands).allMatch(made -> made <= 22);
            if (few.isEmpty()) {
                few = commands;
                List<ConversationKey> before = List.copyOf(all);
                try (MessageLog others = builder().build()) {
                    WalkWhileWriting.check(log, others, ListQuery.first(20), before);
                    WalkWhileWriting.check(log, others, ListQuery.first(20).byActivity(), before);
                }
                List<MemoryKey> made = listByActivity(log, "acme", 1_000);
                made.stream().filter(key -> !all.contains(key)).forEach(log::erase);
            }
        }
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

        long first = count(() -> assistant.chat("alice", "hello"));
        long plain = count(() -> assistant.chat("alice", "again"));
        long tools = count(() -> assistant.chat("alice", "1+2, 3+4"));
        Tell.line("Commands: first turn %d, plain turn %d, turn with two tools %d", first, plain, tools);

        assertThat(first).as("one registers").isLessThanOrEqualTo(5);
        assertThat(plain).isLessThanOrEqualTo(3);
        assertThat(tools).isLessThanOrEqualTo(5);
    }

    @Test
    void what_a_call_costs_does_not_depend_on_what_is_stored() {
        int many = Counts.of(5_000, 1_000_000);
        int filled = 0;
        List<Long> few = List.of();
        List<Long> fewBytes = List.of();
        for (int stored : new int[] {1_000, many}) {
            RedisUseTest.fill(log, filled, stored);
            filled = stored;
            List<Long> calls = List.of(
                    inside(() -> log.read(KEY, ReadQuery.newest(20))),
                    inside(() -> log.history(KEY, HistoryQuery.newest(20))),
                    inside(() -> log.history(KEY, HistoryQuery.after(500, 20))),
                    inside(() -> Logs.find(log, KEY, List.of("m10"))),
                    inside(() -> log.append(KEY, batch("one more " + stored))),
                    inside(() -> log.append(KEY, batchUnder("m20", "below " + stored))));
            Logs.moveHead(log, KEY, "one more " + stored, null);
            List<Long> bytes = List.of(
                    answered(() -> log.read(KEY, ReadQuery.newest(20))),
                    answered(() -> Logs.find(log, KEY, List.of("m10"))),
                    answered(() -> log.append(KEY, batch("a" + stored))));
            long memory = direct.memoryUsage(new Keys("keepsake:").memory(KEY).get(0), 0);
            Tell.line(
                    "%d messages: commands inside a read of 20, a page of the history at its end, in its middle, find, append,"
                            + " fork: %s",
                    stored, calls);
            Tell.line("%d messages: bytes answered to a read of 20, find, append: %s", stored, bytes);
            Tell.line("%d messages: %d bytes of memory each", stored, memory / stored);
            assertThat(calls).allMatch(made -> made > 0);
            assertThat(few.isEmpty() ? calls : few).isEqualTo(calls);
            few = calls;
            if (!fewBytes.isEmpty()) {
                for (int i = 0; i < bytes.size(); i++) {
                    assertThat(bytes.get(i)).isLessThan(fewBytes.get(i) * 5 / 4);
                }
            }
            fewBytes = bytes;
        }
    }

    @Test
    void a_server_that_forgot_the_scripts_gets_them_again() {
        log.append(KEY, batch("a"));
        direct.scriptFlush();
        assertThat(count(() -> log.append(KEY, batch("b")))).isEqualTo(2);
        assertThat(count(() -> log.append(KEY, batch("c")))).isOne();
        assertThat(branch(log, KEY)).containsExactly("a", "b", "c");
    }

    /** How many commands are sent for a call. */
    private static long count(Runnable call) {
        return commands(call, "eval(sha)?");
    }

    /** How many commands of the store the server runs for a call, inside scripts. */
    private static long inside(Runnable call) {
        return commands(call, "h(get|set|setnx|mget|del|incrby|exists)|z.*");
    }

    private static long commands(Runnable call, String names) {
        direct.configResetStat();
        call.run();
        return direct.info("commandstats")
                .lines()
                .map(CALLS::matcher)
                .filter(line -> line.matches() && line.group(1).matches(names))
                .mapToLong(line -> Long.parseLong(line.group(2)))
                .sum();
    }

    private static long answered(Runnable call) {
        long before = bytes();
        long asking = bytes() - before;
        call.run();
        return bytes() - before - 2 * asking;
    }

    private static long bytes() {
        Matcher bytes = BYTES.matcher(direct.info("stats"));
        assertThat(bytes.matches()).isTrue();
        return Long.parseLong(bytes.group(1));
    }
}
