package io.github.keepsake4j.log.redis;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.log.LogTesting.history;
import static io.github.keepsake4j.log.LogTesting.ids;
import static io.github.keepsake4j.log.LogTesting.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;

/** What is lost, and what not, when a server is full, is started again, or gives way to its replica. */
class RedisLossTest {

    private static final int MEMORIES = 20;
    private static final String TENANT = "acme";

    private static Redis full;

    @TempDir
    Path directory;

    @BeforeAll
    static void start(@TempDir Path shared) throws Exception {
        full = Redis.keepingNothing(shared);
    }

    @AfterAll
    static void stop() throws Exception {
        full.close();
    }

    @Test
    void a_server_that_is_started_again_has_what_it_acknowledged_and_the_log_goes_on() throws Exception {
        try (Redis server = Redis.durable(directory);
                MessageLog log = open(server, null)) {
            log.append(KEY, batch("a", "b").withView(View.of(null, List.of())));
            log.acquireLease(KEY, "work", "one", Duration.ofHours(1));
            server.stop();
            assertThatThrownBy(() -> log.append(KEY, batch("c"))).isInstanceOf(StorageUnavailableException.class);
            server.start();

            untilReached(() -> log.append(KEY, batch("c")));
            assertThat(branch(log, KEY)).containsExactly("a", "b", "c");
            assertThat(log.read(KEY, ReadQuery.newest(1)).view()).isNotNull();
            assertThat(log.acquireLease(KEY, "work", "two", Duration.ofHours(1)))
                    .isEmpty();
            assertThat(list(log, TENANT, 5)).hasSize(1);
            assertThat(log.check(KEY)).isEmpty();
        }
    }

    /** A replica that is promoted has the beginning of what was acknowledged, whole, and nothing else. */
    @Test
    void a_failover_to_a_replica_that_is_behind_loses_what_it_does_not_have_and_damages_nothing() throws Exception {
        Path second = Files.createDirectory(directory.resolve("replica"));
        try (Redis master = Redis.keepingNothing(directory);
                Redis replica = Redis.keepingNothing(second, "replicaof 127.0.0.1 " + master.port());
                Jedis direct = replica.console();
                MessageLog before = open(master, null);
                MessageLog after = open(replica, null)) {
            await().atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> direct.info("replication").contains("master_link_status:up"));
            before.append(KEY, batch("a", "b"));
            await().pollInterval(Duration.ofMillis(10))
                    .until(() -> branch(after, KEY).size() == 2);
            assertThatThrownBy(() -> after.append(KEY, batch("x")))
                    .as("a replica is not written to")
                    .isInstanceOf(StorageUnavailableException.class);

            direct.replicaofNoOne();
            before.append(KEY, batch("c").withView(View.of(null, List.of(new View.Run(null, "b")))));
            MemoryKey lost = ConversationKey.of(TENANT, "lost");
            before.append(lost, batch("a"));
            master.kill();

            assertThat(branch(after, KEY)).containsExactly("a", "b");
            assertThat(after.read(KEY, ReadQuery.newest(1)).view()).isNull();
            assertThat(after.read(lost, ReadQuery.newest(1)).messages()).isEmpty();
            assertThat(after.check(KEY)).isEmpty();
            assertThat(list(after, TENANT, 5)).extracting(MemoryInfo::key).containsExactly(KEY);
            after.append(KEY, batch("d"));
            after.append(lost, batch("b"));
            assertThat(branch(after, KEY)).containsExactly("a", "b", "d");
            assertThat(list(after, TENANT, 5)).hasSize(2);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "noeviction,false",
        "noeviction,true",
        "volatile-lru,false",
        "volatile-lru,true",
        "volatile-lfu,true",
        "volatile-random,true",
        "volatile-ttl,true",
        "allkeys-lru,false",
        "allkeys-lfu,true",
        "allkeys-random,false"
    })
    void a_full_server(String policy, boolean expires) throws Exception {
        try (Jedis direct = full.console();
                MessageLog log = open(full, expires ? Duration.ofHours(1) : null)) {
            direct.configSet("maxmemory", "0");
            direct.configSet("maxmemory-policy", policy);
            direct.flushAll();
            log.append(KEY, batch("a"));
            long used = used(direct);
            direct.configSet("maxmemory", Long.toString(used + Counts.of(150_000, 3_000_000)));
            Map<MemoryKey, List<String>> acknowledged = new HashMap<>();
            int refused = 0;
            // Until nothing more goes in, or twice what would.
            for (int i = 0; i < Counts.of(300, 6_000) && refused < 5; i++) {
                MemoryKey key = ConversationKey.of(TENANT, "c" + i % MEMORIES);
                String id = "m" + i;
                NewMessage message = new NewMessage(id, UserMessage.from("x".repeat(1_000)), 1, "none", null);
                try {
                    Append append = Append.underHead(message);
                    log.append(key, i % 7 == 0 ? append.withView(View.of(null, List.of())) : append);
                    acknowledged.computeIfAbsent(key, any -> new ArrayList<>()).add(id);
                } catch (StorageUnavailableException e) {
                    assertThat(e).hasMessageContaining("maxmemory").hasMessageContaining(key.canonical());
                    refused++;
                }
            }
            boolean evicts = policy.startsWith("allkeys") || expires && policy.startsWith("volatile");
            int whole = 0;
            for (Map.Entry<MemoryKey, List<String>> each : acknowledged.entrySet()) {
                List<String> all = each.getValue();
                List<String> stored = stored(log, each.getKey());
                whole += stored.equals(all) ? 1 : 0;
                // A memory that was evicted may have been begun again: what is there is the end of what was
                // acknowledged.
                assertThat(stored).isEqualTo(all.subList(all.size() - stored.size(), all.size()));
                assertThat(log.check(each.getKey())).isEmpty();
            }
            Tell.line(
                    "%s%s: %d refused; of %d memories %d whole",
                    policy, expires ? " with a time to live" : "", refused, acknowledged.size(), whole);
            if (evicts) {
                assertThat(whole).isLessThan(acknowledged.size());
                assertThat(refused).isZero();
            } else {
                assertThat(whole).isEqualTo(acknowledged.size());
                assertThat(refused).isPositive();
                assertThat(list(log, TENANT, 5).size()).isEqualTo(acknowledged.size() + 1);
                // Erasing makes room, and the refused append can be sent again.
                acknowledged.keySet().forEach(log::erase);
                log.append(KEY, batch("b"));
                assertThat(branch(log, KEY)).containsExactly("a", "b");
            }
            assertThat(list(log, TENANT, 100)).hasSizeLessThanOrEqualTo(MEMORIES + 1);
        }
    }

    private static List<String> stored(MessageLog log, MemoryKey key) {
        return ids(history(log, key));
    }

    private static long used(Jedis direct) {
        return direct.info("memory")
                .lines()
                .filter(line -> line.startsWith("used_memory:"))
                .mapToLong(line ->
                        Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
                .sum();
    }

    private static MessageLog open(Redis server, @Nullable Duration timeToLive) {
        return RedisMessageLog.builder()
                .server(server.uri())
                .checks(RedisMessageLog.Checks.NONE)
                .timeToLive(timeToLive)
                .build();
    }

    /** Each connection of the pool notices once that the server was away. */
    private static void untilReached(Runnable call) {
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(20))
                .ignoreExceptionsInstanceOf(StorageUnavailableException.class)
                .until(() -> {
                    call.run();
                    return true;
                });
    }
}
