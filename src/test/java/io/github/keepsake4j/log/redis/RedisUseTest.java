package io.github.keepsake4j.log.redis;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.log.LogTesting.history;
import static io.github.keepsake4j.log.LogTesting.ids;
import static io.github.keepsake4j.log.LogTesting.list;
import static io.github.keepsake4j.log.LogTesting.listByActivity;
import static io.github.keepsake4j.log.LogTesting.user;
import static io.github.keepsake4j.log.LogTesting.users;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.LogClosedException;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.StorageUnavailableException;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is special about Redis: commands, time to live, the tenant's list in another slot, eviction, a full memory. */
class RedisUseTest {

    interface Assistant {
        String chat(@MemoryId Object id, @UserMessage String text);
    }

    static class Calculator {
        @Tool
        int add(int a, int b) {
            return a + b;
        }
    }

    @TempDir
    static Path directory;

    private static RedisServer server;

    private final RespCommands direct = new RespCommands(server.port());
    private final RespCommands counted = new RespCommands(server.port());
    private MessageLog log;

    @BeforeAll
    static void start() throws Exception {
        server = RedisServer.start(directory, RedisServer.DURABLE);
    }

    @AfterAll
    static void stop() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    @BeforeEach
    void open() throws Exception {
        direct.call("FLUSHALL");
        log = builder(counted).build();
        // The scripts are there, as they are after the first minutes of a server.
        log.append(ConversationKey.of("warm", "up"), batch("a"));
    }

    @AfterEach
    void close() {
        log.close();
        direct.close();
    }

    private static RedisMessageLog.Builder builder(RespCommands commands) {
        return RedisMessageLog.builder().commands(commands);
    }

    private static MessageLog another() {
        return builder(new RespCommands(server.port()))
                .lag(Duration.ofMillis(20))
                .build();
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
        assertThat(count(() -> log.find(KEY, List.of("a", "b", "nowhere")))).isOne();

        MemoryKey unread = ConversationKey.of("acme", "43");
        assertThat(count(() -> log.append(unread, batch("a"))))
                .as("not known to be new")
                .isEqualTo(3);
        try (MessageLog other = another()) {
            assertThat(other.append(KEY, batch("e")).lastSequence()).isEqualTo(5);
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
    void what_a_call_costs_does_not_depend_on_what_is_stored() throws Exception {
        int many = Counts.of(5_000, 1_000_000);
        List<Long> few = List.of();
        for (int stored : new int[] {1_000, many}) {
            fill(stored);
            List<Long> calls = List.of(
                    inside(() -> log.read(KEY, ReadQuery.newest(20))),
                    inside(() -> log.find(KEY, List.of("m10"))),
                    inside(() -> log.append(KEY, batch("one more " + stored))),
                    inside(() -> log.append(KEY, batchUnder("m20", "below " + stored))));
            Tell.line("%d messages: commands inside a read of 20, find, append, fork: %s", stored, calls);
            assertThat(calls).allMatch(made -> made > 0);
            assertThat(few.isEmpty() ? calls : few).isEqualTo(calls);
            few = calls;
            log.moveHead(KEY, "one more " + stored, null);
        }
    }

    private void fill(int stored) {
        int last = (int) log.history(KEY, HistoryQuery.newest(1)).messages().stream()
                .mapToLong(m -> m.sequence())
                .sum();
        for (int from = last; from < stored; from += 500) {
            String[] ids = IntStream.range(from, Math.min(stored, from + 500))
                    .mapToObj(i -> "m" + i)
                    .toArray(String[]::new);
            log.append(KEY, batch(ids));
        }
    }

    @Test
    void long_reads_go_in_parts() {
        int stored = 1_230;
        fill(stored);
        List<String> expected =
                IntStream.range(0, stored).mapToObj(i -> "m" + i).toList();

        assertThat(branch(log, KEY)).isEqualTo(expected);
        assertThat(ids(history(log, KEY))).isEqualTo(expected);
        assertThat(ids(history(log, KEY, HistoryQuery.newest(10_000)))).isEqualTo(expected);
        assertThat(ids(log.find(KEY, expected))).isEqualTo(expected);
        assertThat(ids(log.read(KEY, ReadQuery.wholeBranch().after("m9")).messages()))
                .isEqualTo(expected.subList(10, stored));
        assertThat(log.read(KEY, ReadQuery.newest(stored - 1)).complete()).isFalse();
        assertThat(log.read(KEY, ReadQuery.newest(stored)).complete()).isTrue();
        assertThat(log.read(KEY, new ReadQuery(null, null, Integer.MAX_VALUE, 7_000, false, 0, null))
                        .messages())
                .hasSize(700);
    }

    @Test
    void a_memory_that_is_used_stays_and_one_that_is_not_expires_as_a_whole() throws Exception {
        try (MessageLog expiring = builder(new RespCommands(server.port()))
                .timeToLive(Duration.ofHours(1))
                .build()) {
            expiring.append(KEY, batch("a").withView(View.of(null, List.of())));
            for (String key : memoryKeys()) {
                direct.call("PEXPIRE", key, "1000");
            }
            expiring.read(KEY, ReadQuery.newest(1));
            assertThat(memoryKeys()).hasSize(2).allSatisfy(key -> assertThat((Long) direct.call("PTTL", key))
                    .isGreaterThan(1_000_000));

            for (String key : memoryKeys()) {
                direct.call("PEXPIRE", key, "1");
            }
            await().until(() -> memoryKeys().isEmpty());
            assertThat(expiring.read(KEY, ReadQuery.newest(1)).messages()).isEmpty();
            assertThat(list(expiring, "acme", 10)).isEmpty();
            assertThat((Long) direct.call("HEXISTS", tenantKey(), "m" + Keys.hash(KEY)))
                    .as("nothing is left in the list")
                    .isZero();

            expiring.append(KEY, batch("a"));
            assertThat(list(expiring, "acme", 10)).extracting(MemoryInfo::key).containsExactly(KEY);
        }
    }

    @Test
    void a_memory_that_was_registered_and_not_created_is_not_listed_and_not_lost() {
        TenantList tenants = new TenantList(direct, new Keys("keepsake:"), Duration.ofHours(1));
        long number = tenants.register(KEY, Text.stamp(Instant.EPOCH), 0);
        assertThat(list(log, "acme", 10)).isEmpty();
        assertThat(tenants.before("acme", Long.MAX_VALUE, 10)).isEmpty();

        // The registration from before is not valid any more.
        Request late = new Request("describe")
                .with("number", number)
                .with("now", "2026-01-01T00:00:00Z")
                .with("active", "0")
                .text("{}");
        List<byte[]> keys = new Keys("keepsake:").memory(KEY);
        assertThat(Reply.of(Script.MEMORY.run(direct, "test", keys, late.arguments()))
                        .kind())
                .isEqualTo("unregistered");
        log.append(KEY, batch("a"));
        assertThat(list(log, "acme", 10)).extracting(MemoryInfo::key).containsExactly(KEY);
        tenants.close();
    }

    @Test
    void an_erasure_that_was_interrupted_before_the_list_leaves_nothing_there() throws Exception {
        log.append(KEY, batch("a"));
        Script.MEMORY.run(direct, "test", new Keys("keepsake:").memory(KEY), new Request("erase").arguments());
        assertThat(list(log, "acme", 10)).isEmpty();

        log.append(KEY, batch("b"));
        assertThat(list(log, "acme", 10)).extracting(MemoryInfo::key).containsExactly(KEY);
    }

    @Test
    void the_order_by_activity_reaches_other_processes_soon() {
        MemoryKey other = ConversationKey.of("acme", "other");
        try (MessageLog writer = another()) {
            writer.append(KEY, batch("a"));
            writer.append(other, batch("a"));
            assertThat(listByActivity(log, "acme", 5)).containsExactly(other, KEY);
            writer.append(KEY, batch("b"));
            await().until(() -> listByActivity(log, "acme", 5).equals(List.of(KEY, other)));
        }
        assertThat(TenantList.LAG).isLessThanOrEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void what_is_left_to_be_sent_is_sent_at_the_end() {
        MemoryKey other = ConversationKey.of("acme", "other");
        try (MessageLog writer = builder(new RespCommands(server.port()))
                .lag(Duration.ofHours(1))
                .build()) {
            writer.append(KEY, batch("a"));
            writer.append(other, batch("a"));
            writer.append(KEY, batch("b"));
        }
        assertThat(listByActivity(log, "acme", 5)).containsExactly(KEY, other);
        log.close();
        assertThatThrownBy(() -> log.read(KEY, ReadQuery.newest(1))).isInstanceOf(LogClosedException.class);
    }

    @Test
    void a_part_that_was_evicted_is_damage_and_not_empty() throws Exception {
        log.append(KEY, batch("a").withView(View.of(null, List.of())));
        byte[] views = new Keys("keepsake:").memory(KEY).get(1);
        assertThat(direct.call("DEL", Text.of(views))).isEqualTo(1L);

        assertThatThrownBy(() -> log.read(KEY, ReadQuery.newest(1)))
                .isInstanceOf(UnreadableDataException.class)
                .hasMessageContaining(KEY.canonical())
                .hasMessageContaining("evicted");
        assertThatThrownBy(() -> log.append(KEY, batch("b"))).isInstanceOf(UnreadableDataException.class);
        assertThat(log.check(KEY)).hasSize(1);
        assertThat(log.list("acme", ListQuery.first(5)).damaged()).hasSize(1);
        log.erase(KEY);
        log.append(KEY, batch("b"));
        assertThat(branch(log, KEY)).containsExactly("b");
    }

    @Test
    void a_head_that_is_gone_is_told_and_mended() throws Exception {
        log.append(KEY, batch("a", "b", "c"));
        log.append(KEY, batch("d").onBranch("side").withView(View.of(null, List.of(new View.Run(null, "b")))));
        String memory = Text.of(new Keys("keepsake:").memory(KEY).get(0));
        direct.call("HDEL", memory, "n3");

        assertThatThrownBy(() -> log.read(KEY, ReadQuery.newest(1)))
                .isInstanceOf(UnreadableDataException.class)
                .hasMessageContaining(KEY.canonical());
        assertThatThrownBy(() -> log.append(KEY, batch("e"))).isInstanceOf(UnreadableDataException.class);
        assertThat(log.check(KEY)).extracting(Damage::kind).contains(Damage.Kind.SEQUENCE, Damage.Kind.HEAD);
        assertThat(direct.call("HGET", memory, ".head")).isEqualTo(Text.bytes("3"));

        Repair repair = log.repair(KEY);
        assertThat(repair.head()).isEqualTo("b");
        assertThat(repair.droppedReferences()).isOne();
        assertThat(repair.droppedViews()).isOne();
        log.append(KEY, batch("e"));
        assertThat(branch(log, KEY)).containsExactly("a", "b", "e");
    }

    @Test
    void a_full_memory_is_an_outage_that_loses_nothing() throws Exception {
        log.append(KEY, batch("a"));
        direct.call("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThatThrownBy(() -> log.append(KEY, batch("b")))
                    .isInstanceOf(StorageUnavailableException.class)
                    .hasMessageContaining("maxmemory");
            assertThat(branch(log, KEY)).as("reading goes on").containsExactly("a");
            assertThat(log.erase(ConversationKey.of("warm", "up")))
                    .as("and erasing makes room")
                    .isEqualTo(2);
        } finally {
            direct.call("CONFIG", "SET", "maxmemory", "0");
        }
        log.append(KEY, batch("b"));
        assertThat(branch(log, KEY)).containsExactly("a", "b");
        assertThat(log.check(KEY)).isEmpty();
    }

    @Test
    void usage_that_no_number_holds_stays_at_the_largest_one_and_breaks_no_append() {
        Usage most = new Usage(Long.MAX_VALUE - 1, 7, 0);
        for (String id : List.of("a", "b")) {
            log.append(KEY, Append.under(Parent.head(), List.of(user(id).withUsage(most))));
        }
        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        assertThat(log.usage("acme", today.minusDays(1), today.plusDays(2)))
                .extracting(DailyUsage::usage)
                .containsExactly(new Usage(Long.MAX_VALUE, 14, 0));
        assertThat(branch(log, KEY)).containsExactly("a", "b");
    }

    @Test
    void a_server_that_forgot_the_scripts_gets_them_again() throws Exception {
        log.append(KEY, batch("a"));
        direct.call("SCRIPT", "FLUSH");
        assertThat(count(() -> log.append(KEY, batch("b")))).isEqualTo(2);
        assertThat(count(() -> log.append(KEY, batch("c")))).isOne();
        assertThat(branch(log, KEY)).containsExactly("a", "b", "c");
    }

    @Test
    void the_settings_that_may_lose_messages_are_named() throws Exception {
        Map<String, String> safe = Map.of(
                "maxmemory",
                "100",
                "maxmemory-policy",
                "noeviction",
                "appendonly",
                "yes",
                "appendfsync",
                "always",
                "min-replicas-to-write",
                "0");
        assertThat(ServerSettings.warnings(safe, Optional.of(0), true)).isEmpty();
        assertThat(warnings(safe, "maxmemory-policy", "allkeys-lru", false))
                .contains("maxmemory-policy is allkeys-lru");
        assertThat(warnings(safe, "maxmemory-policy", "volatile-lru", true))
                .contains("maxmemory-policy is volatile-lru");
        assertThat(warnings(safe, "maxmemory-policy", "volatile-lru", false)).isEmpty();
        assertThat(warnings(safe, "appendonly", "no", false)).contains("appendonly is no");
        assertThat(warnings(safe, "appendfsync", "everysec", false)).contains("appendfsync is everysec");
        assertThat(ServerSettings.warnings(safe, Optional.of(1), false).toString())
                .contains("min-replicas-to-write is 0");
        assertThat(ServerSettings.warnings(Map.of(), Optional.empty(), false).toString())
                .contains("maxmemory-policy, appendonly, appendfsync")
                .contains("number of replicas");
        assertThat(direct.setting("appendfsync")).contains("always");
        assertThat(direct.replicas()).contains(0);
    }

    private static String warnings(Map<String, String> safe, String name, String value, boolean memoriesExpire) {
        Map<String, String> settings = new HashMap<>(safe);
        settings.put(name, value);
        return String.join("", ServerSettings.warnings(settings, Optional.of(0), memoriesExpire));
    }

    @Test
    void wrong_settings_are_refused_by_name() {
        assertThatThrownBy(() -> RedisMessageLog.builder().prefix("a{b}"))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("prefix");
        assertThatThrownBy(() -> RedisMessageLog.builder().timeToLive(Duration.ZERO))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("timeToLive");
        assertThatThrownBy(() -> RedisMessageLog.builder().build()).isInstanceOf(InvalidInputException.class);
    }

    @Test
    void two_prefixes_share_nothing() {
        try (MessageLog other =
                builder(new RespCommands(server.port())).prefix("other:").build()) {
            log.append(KEY, batch("a"));
            other.append(KEY, Append.under(Parent.head(), users("b")));
            assertThat(branch(log, KEY)).containsExactly("a");
            assertThat(branch(other, KEY)).containsExactly("b");
            other.erase(KEY);
            assertThat(list(log, "acme", 5)).hasSize(1);
            assertThat(list(other, "acme", 5)).isEmpty();
        }
    }

    private List<String> memoryKeys() throws Exception {
        List<String> keys = new ArrayList<>();
        for (Object key : (List<?>) direct.call("KEYS", "keepsake:{" + Keys.hash(KEY) + "}*")) {
            keys.add(Text.of((byte[]) key));
        }
        return keys;
    }

    private static String tenantKey() {
        return Text.of(new Keys("keepsake:").tenant("acme").get(0));
    }

    private long count(Runnable call) {
        long before = counted.sent();
        call.run();
        return counted.sent() - before;
    }

    /** How many commands the server runs for a call, also inside a script. */
    private long inside(Runnable call) throws Exception {
        direct.call("CONFIG", "RESETSTAT");
        call.run();
        return Text.of((byte[]) direct.call("INFO", "commandstats"))
                .lines()
                .filter(line -> line.startsWith("cmdstat_h") || line.startsWith("cmdstat_z"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("^[^:]+:calls=(\\d+),.*", "$1")))
                .sum();
    }
}
