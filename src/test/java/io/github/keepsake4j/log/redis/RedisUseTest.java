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

import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Redis;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

/** What is special about Redis: time to live, the tenant's list in another slot, keys that are gone. */
class RedisUseTest {

    private static final ReadQuery BOUNDED = new ReadQuery(null, null, 5, 100, true, 0, null);

    private static Redis server;
    private static RedisClient direct;
    private static RedisClient client;

    private final String prefix = Redis.newPrefix();
    private final Keys keys = new Keys(prefix);
    private MessageLog log;

    @BeforeAll
    static void start() throws Exception {
        server = Redis.shared();
        direct = server.client();
        client = server.client();
    }

    @AfterAll
    static void stop() {
        client.close();
        direct.close();
    }

    @BeforeEach
    void open() {
        log = builder().build();
    }

    @AfterEach
    void close() {
        log.close();
    }

    private RedisMessageLog.Builder builder() {
        return RedisMessageLog.builder()
                .client(client)
                .checks(RedisMessageLog.Checks.NONE)
                .prefix(prefix);
    }

    @Test
    void long_reads_go_in_parts() {
        int stored = 1_230;
        fill(log, 0, stored);
        List<String> expected =
                IntStream.range(0, stored).mapToObj(i -> "m" + i).toList();

        assertThat(branch(log, KEY)).isEqualTo(expected);
        assertThat(ids(history(log, KEY))).isEqualTo(expected);
        assertThat(ids(history(log, KEY, HistoryQuery.newest(10_000)))).isEqualTo(expected);
        assertThat(ids(Logs.find(log, KEY, expected))).isEqualTo(expected);
        assertThat(ids(log.read(KEY, ReadQuery.wholeBranch().after("m9")).messages()))
                .isEqualTo(expected.subList(10, stored));
        assertThat(log.read(KEY, ReadQuery.newest(stored - 1)).complete()).isFalse();
        assertThat(log.read(KEY, ReadQuery.newest(stored)).complete()).isTrue();
        assertThat(log.read(KEY, new ReadQuery(null, null, Integer.MAX_VALUE, 7_000, false, 0, null))
                        .messages())
                .hasSize(700);
    }

    @Test
    void a_memory_that_is_used_stays_and_one_that_is_not_expires_as_a_whole() {
        try (MessageLog expiring = builder().timeToLive(Duration.ofHours(1)).build()) {
            expiring.append(KEY, batch("a").withView(View.of(null, List.of())));
            for (String key : memoryKeys()) {
                direct.pexpire(key, 900_000);
            }
            assertThat(list(expiring, "acme", 10)).hasSize(1);
            assertThat(memoryKeys()).as("a list is no use").allSatisfy(key -> assertThat(direct.pttl(key))
                    .isLessThanOrEqualTo(900_000));
            expiring.read(KEY, ReadQuery.newest(1));
            assertThat(memoryKeys()).hasSize(2).allSatisfy(key -> assertThat(direct.pttl(key))
                    .isGreaterThan(1_000_000));

            for (String key : memoryKeys()) {
                direct.pexpire(key, 1);
            }
            await().until(() -> memoryKeys().isEmpty());
            assertThat(expiring.read(KEY, ReadQuery.newest(1)).messages()).isEmpty();
            assertThat(list(expiring, "acme", 10)).isEmpty();
            assertThat(direct.hexists(tenantKey(), "m" + Keys.hash(KEY)))
                    .as("is left in the list")
                    .isFalse();
            assertThat(memoryKeys()).as("a tombstone").hasSize(1).allSatisfy(key -> assertThat(direct.pttl(key))
                    .isPositive());

            expiring.append(KEY, batch("a"));
            assertThat(list(expiring, "acme", 10)).extracting(MemoryInfo::key).containsExactly(KEY);
        }
    }

    @Test
    void a_memory_that_was_registered_and_not_created_is_not_listed_and_not_lost() {
        TenantList tenants =
                new TenantList(new Commands(direct, "Redis"), keys, ListedMetadata.NONE, Duration.ofHours(1));
        long number = tenants.register(KEY, Text.stamp(Instant.EPOCH), 0, Map.of());
        assertThat(list(log, "acme", 10)).isEmpty();
        assertThat(tenants.before("acme", Long.MAX_VALUE, 10)).isEmpty();

        // The registration from before is not valid any more.
        Request late = new Request("describe")
                .with("number", number)
                .with("now", "2026-01-01T00:00:00Z")
                .with("active", "0")
                .text("{}");
        assertThat(run(late).kind()).isEqualTo("unregistered");
        log.append(KEY, batch("a"));
        assertThat(list(log, "acme", 10)).extracting(MemoryInfo::key).containsExactly(KEY);
        tenants.close();
    }

    @Test
    void an_erasure_that_was_interrupted_before_the_list_leaves_nothing_there() {
        log.append(KEY, batch("a"));
        run(new Request("erase"));
        assertThat(list(log, "acme", 10)).isEmpty();

        log.append(KEY, batch("b"));
        assertThat(list(log, "acme", 10)).extracting(MemoryInfo::key).containsExactly(KEY);
    }

    @Test
    void the_order_by_activity_reaches_other_processes_soon() {
        MemoryKey other = ConversationKey.of("acme", "other");
        try (MessageLog writer = builder().lag(Duration.ofMillis(20)).build()) {
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
        try (MessageLog writer = builder().lag(Duration.ofHours(1)).build()) {
            writer.append(KEY, batch("a"));
            writer.append(other, batch("a"));
            writer.append(KEY, batch("b"));
        }
        assertThat(listByActivity(log, "acme", 5)).containsExactly(KEY, other);
        log.close();
        assertThatThrownBy(() -> log.read(KEY, ReadQuery.newest(1))).isInstanceOf(StorageClosedException.class);
    }

    @Test
    void a_summary_of_an_earlier_build_is_read_whose_numbers_are_texts() {
        Summary summary = new Summary("m5", "\"tokens\":\"7\"", 3, "none", 4, 5, "gpt", Instant.EPOCH, 2);
        String earlier = Text.CODEC.encodeStrings(Map.of(
                "covers", "m5",
                "text", summary.text(),
                "tokens", "3",
                "counter", "none",
                "replacedMessages", "4",
                "replacedTokens", "5",
                "model", "gpt",
                "at", Instant.EPOCH.toString()));
        assertThat(Contents.summary(KEY, 2, earlier)).isEqualTo(summary);
        assertThat(Contents.summary(KEY, 2, Contents.summary(summary))).isEqualTo(summary);
    }

    @Test
    void a_part_that_was_evicted_alone_is_made_again_from_the_memory() {
        try (MessageLog expiring = builder().timeToLive(Duration.ofHours(1)).build()) {
            for (MessageLog each : List.of(expiring, log)) {
                long epoch = each.erase(KEY);
                fill(each, 0, 1_200);
                for (String anchor : List.of("m5", "m900", "m1100")) {
                    each.append(KEY, batch("behind " + anchor).withView(View.of(anchor, List.of())));
                    Logs.putSummary(
                            each, KEY, new Summary(anchor, "short", 1, "none", 1, 1, null, Instant.EPOCH, 0), epoch);
                }
                Tail before = each.read(KEY, BOUNDED);
                assertThat(before.view()).isNotNull();
                assertThat(before.summary()).isNotNull();

                assertThat(direct.del(keys.memory(KEY).get(1))).isOne();
                assertThat(direct.del(keys.memory(KEY).get(2))).isOne();
                assertThat(each.list("acme", ListQuery.first(5)).memories()).hasSize(1);
                for (byte[] key : keys.memory(KEY).subList(1, 3)) {
                    assertThat(direct.zcard(key)).isEqualTo(3);
                    assertThat(direct.pttl(key) > 0).isEqualTo(each == expiring);
                }
                assertThat(each.read(KEY, BOUNDED)).isEqualTo(before);
                assertThat(each.check(KEY)).isEmpty();

                // Only these are left of a memory that was evicted.
                assertThat(direct.del(keys.memory(KEY).get(0))).isOne();
                assertThat(each.read(KEY, ReadQuery.newest(5)).messages()).isEmpty();
                assertThat(direct.exists(keys.memory(KEY).get(1))).isFalse();
                each.append(KEY, batch("a"));
                assertThat(each.read(KEY, ReadQuery.newest(5)).view()).isNull();
            }
        }
    }

    @Test
    void views_that_are_gone_from_the_memory_itself_are_damage() {
        log.append(KEY, batch("a").withView(View.of(null, List.of())));
        direct.hdel(keys.memory(KEY).get(0), Text.bytes("v1"));
        direct.del(keys.memory(KEY).get(1));

        assertThatThrownBy(() -> log.read(KEY, ReadQuery.newest(1)))
                .isInstanceOf(UnreadableDataException.class)
                .hasMessageContaining(KEY.canonical());
        assertThatThrownBy(() -> log.append(KEY, batch("b"))).isInstanceOf(UnreadableDataException.class);
        assertThat(log.check(KEY)).hasSize(1);
        assertThat(log.list("acme", ListQuery.first(5)).damaged()).hasSize(1);
        log.erase(KEY);
        log.append(KEY, batch("b"));
        assertThat(branch(log, KEY)).containsExactly("b");
    }

    @Test
    void a_head_that_is_gone_is_told_and_mended() {
        log.append(KEY, batch("a", "b", "c"));
        log.append(KEY, batch("d").onBranch("side").withView(View.of(null, List.of(new View.Run(null, "b")))));
        String memory = Text.of(keys.memory(KEY).get(0));
        direct.hdel(memory, "n3");

        assertThatThrownBy(() -> log.read(KEY, ReadQuery.newest(1)))
                .isInstanceOf(UnreadableDataException.class)
                .hasMessageContaining(KEY.canonical());
        assertThatThrownBy(() -> log.append(KEY, batch("e"))).isInstanceOf(UnreadableDataException.class);
        assertThat(log.check(KEY)).extracting(Damage::kind).contains(Damage.Kind.SEQUENCE, Damage.Kind.HEAD);
        assertThat(direct.hget(memory, ".head")).isEqualTo("3");

        Repair repair = log.repair(KEY);
        assertThat(repair.head()).isEqualTo("b");
        assertThat(repair.droppedReferences()).isOne();
        assertThat(repair.droppedViews()).isOne();
        log.append(KEY, batch("e"));
        assertThat(branch(log, KEY)).containsExactly("a", "b", "e");
        Logs.moveBranch(log, KEY, "side", "b", null);
        log.append(KEY, batchUnder("b", "f").onBranch("side"));
        assertThat(log.branches(KEY)).extracting(Branch::names).contains(List.of("side"));
    }

    @Test
    void usage_that_no_number_holds_stays_at_the_largest_one_and_breaks_no_append() {
        Usage most = new Usage(Long.MAX_VALUE - 1, 7, 0);
        for (String id : List.of("a", "b")) {
            log.append(KEY, Append.under(Parent.head(), List.of(user(id).withUsage(most))));
        }
        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        assertThat(Logs.usage(log, "acme", today.minusDays(1), today.plusDays(2)))
                .extracting(DailyUsage::usage)
                .containsExactly(new Usage(Long.MAX_VALUE, 14, 0));
        assertThat(branch(log, KEY)).containsExactly("a", "b");
    }

    @Test
    void two_prefixes_share_nothing() {
        try (MessageLog other = builder().prefix(Redis.newPrefix()).build()) {
            log.append(KEY, batch("a"));
            other.append(KEY, Append.under(Parent.head(), users("b")));
            assertThat(branch(log, KEY)).containsExactly("a");
            assertThat(branch(other, KEY)).containsExactly("b");
            other.erase(KEY);
            assertThat(list(log, "acme", 5)).hasSize(1);
            assertThat(list(other, "acme", 5)).isEmpty();
        }
    }

    @Test
    void a_memory_that_left_the_list_without_an_erasure_is_listed_again_when_it_is_used() {
        MemoryKey other = ConversationKey.of("acme", "other");
        log.append(KEY, batch("a"));
        log.append(other, batch("a"));
        log.close();
        log = builder().build();
        try (MessageLog writer = builder().lag(Duration.ofMillis(20)).build()) {
            keys.tenant("acme").forEach(direct::del);
            assertThat(list(log, "acme", 5)).isEmpty();

            writer.append(other, batch("b"));
            await().until(() -> list(log, "acme", 5).size() == 1);
            writer.append(ConversationKey.of("acme", "new"), batch("a"));
            assertThat(list(log, "acme", 5))
                    .extracting(MemoryInfo::key)
                    .containsExactly(ConversationKey.of("acme", "new"), other);
            writer.append(KEY, batch("b"));
            await().until(() -> list(log, "acme", 5).size() == 3);

            // Erased, and then put back by what another process noted before.
            writer.append(other, batch("c"));
            log.erase(other);
        }
        assertThat(list(log, "acme", 5)).hasSize(2);
        assertThat(direct.hlen(tenantKey()))
                .as("and the number of the last one")
                .isEqualTo(3);
    }

    @Test
    void a_list_of_which_a_part_was_evicted_lists_each_memory_once_when_it_is_used() {
        MemoryKey other = ConversationKey.of("acme", "other");
        for (byte[] part : keys.tenant("acme").subList(0, 3)) {
            log.append(KEY, batch(Ids.next()));
            log.append(other, batch(Ids.next()));
            assertThat(listByActivity(log, "acme", 1)).containsExactly(other, KEY);
            assertThat(direct.del(part)).isOne();
            assertThat(list(log, "acme", 1)).hasSizeLessThanOrEqualTo(2);
            log.append(other, batch(Ids.next()));
            log.append(KEY, batch(Ids.next()));
            assertThat(listByActivity(log, "acme", 1)).containsExactly(KEY, other);
            assertThat(list(log, "acme", 1)).extracting(MemoryInfo::key).containsExactlyInAnyOrder(KEY, other);
        }
    }

    @Test
    void lists_by_metadata_are_made_again_when_a_part_was_evicted() {
        try (MessageLog own = builder().listedMetadata("owner").build();
                MessageLog undeclared = builder().build()) {
            MemoryKey other = ConversationKey.of("acme", "other");
            own.append(KEY, batch("a").creating(Map.of("owner", "alice")));
            own.append(other, batch("a").creating(Map.of("owner", "bob")));
            ListQuery alice = ListQuery.first(1).withMetadata("owner", "alice");
            for (byte[] part : keys.tenant("acme")) {
                assertThat(LogTesting.list(own, "acme", alice))
                        .extracting(MemoryInfo::key)
                        .containsExactly(KEY);
                assertThat(direct.del(part)).isOne();
                own.append(KEY, batch(Ids.next()));
                own.append(other, batch(Ids.next()));
                assertThat(listByActivity(own, "acme", 1)).containsExactly(other, KEY);
                for (ListQuery query : List.of(alice, alice.byActivity())) {
                    assertThat(LogTesting.list(own, "acme", query))
                            .extracting(MemoryInfo::key)
                            .containsExactly(KEY);
                }
            }
            MemoryKey third = ConversationKey.of("acme", "third");
            undeclared.append(third, batch("a").creating(Map.of("owner", "alice")));
            assertThat(LogTesting.list(own, "acme", alice))
                    .extracting(MemoryInfo::key)
                    .containsExactly(third, KEY);
        }
    }

    @Test
    void lists_are_filled_again_if_a_process_with_other_names_wrote_meanwhile() {
        try (MessageLog own = builder().listedMetadata("owner").build();
                MessageLog others = builder().listedMetadata("owner", "project").build()) {
            MemoryKey other = ConversationKey.of("acme", "other");
            own.append(KEY, batch("a").creating(Map.of("owner", "alice")));
            TenantList tenants = new TenantList(
                    new Commands(direct, "Redis"), keys, ListedMetadata.of("owner"), Duration.ofHours(1));
            tenants.fill("fill", "acme", "token");
            others.append(other, batch("a").creating(Map.of("owner", "alice")));
            tenants.fill("complete", "acme", "token");
            assertThat(tenants.listed("acme", "n" + Keys.list("owner", "alice"), null, 5))
                    .isNull();
            for (MessageLog each : List.of(own, others, own)) {
                assertThat(LogTesting.list(each, "acme", ListQuery.first(1).withMetadata("owner", "alice")))
                        .extracting(MemoryInfo::key)
                        .containsExactly(other, KEY);
            }
        }
    }

    @Test
    void a_page_removes_a_bounded_number_of_entries_that_are_gone() {
        TenantList tenants =
                new TenantList(new Commands(direct, "Redis"), keys, ListedMetadata.NONE, Duration.ofHours(1));
        for (int i = 0; i < 520; i++) {
            tenants.register(ConversationKey.of("acme", "gone " + i), Text.stamp(Instant.EPOCH), 0, Map.of());
        }
        tenants.close();
        log.append(KEY, batch("a"));
        ListQuery first = ListQuery.first(5);
        MemoryPage page = log.list("acme", first);
        assertThat(page.memories()).hasSize(1);
        assertThat(page.next()).isPresent();
        assertThat(direct.hlen(tenantKey())).isEqualTo(22);
        MemoryPage rest = log.list("acme", page.next().orElseThrow());
        assertThat(rest.memories()).isEmpty();
        assertThat(rest.next()).isEmpty();
        assertThat(log.list("acme", first.byActivity()).memories()).hasSize(1);
    }

    @Test
    void a_memory_to_which_something_is_appended_meanwhile_is_not_idle() {
        log.append(KEY, batch("a"));
        Instant later = Instant.now().plusSeconds(60);
        assertThat(log.eraseIfIdle(KEY, Instant.EPOCH)).isFalse();
        assertThat(run(new Request("erase").with("count", 0L)).kind()).isEqualTo("changed");
        assertThat(branch(log, KEY)).containsExactly("a");
        assertThat(log.eraseIfIdle(KEY, later)).isTrue();
        assertThat(branch(log, KEY)).isEmpty();
    }

    @Test
    void a_client_that_is_given_stays_open() {
        log.close();
        log.close();
        assertThat(client.ping()).isEqualTo("PONG");
        assertThatThrownBy(() -> log.append(KEY, batch("a"))).isInstanceOf(StorageClosedException.class);
        try (MessageLog other = RedisMessageLog.connect(server.uri())) {
            assertThat(other.backend()).isEqualTo("redis");
            assertThat(other.read(KEY, ReadQuery.newest(1)).messages()).isEmpty();
        }
    }

    static void fill(MessageLog log, int from, int to) {
        for (int first = from; first < to; first += 500) {
            String[] ids = IntStream.range(first, Math.min(to, first + 500))
                    .mapToObj(i -> "m" + i)
                    .toArray(String[]::new);
            log.append(KEY, batch(ids));
        }
    }

    private Set<String> memoryKeys() {
        return direct.keys(prefix + "{" + Keys.hash(KEY) + "}*");
    }

    private Reply run(Request request) {
        return new Commands(direct, "Redis").run(LuaScript.MEMORY, "test", keys.memory(KEY), request.arguments());
    }

    private String tenantKey() {
        return Text.of(keys.tenant("acme").get(0));
    }
}
