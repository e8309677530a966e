package io.github.keepsake4j.log.redis;

import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.log.LogTesting.list;
import static io.github.keepsake4j.log.LogTesting.listByActivity;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Redis;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;

/** What goes to several nodes of a cluster. The whole contract runs on one in {@link RedisClusterMessageLogTest}. */
class RedisClusterTest {

    private static RedisCluster cluster;

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        cluster = new RedisCluster(directory);
    }

    @AfterAll
    static void stop() throws Exception {
        cluster.close();
    }

    private static RedisMessageLog.Builder builder() {
        return RedisMessageLog.builder().client(cluster.client()).checks(RedisMessageLog.Checks.NONE);
    }

    @Test
    void memories_on_all_nodes_are_listed_by_one() {
        List<MemoryKey> keys = IntStream.range(0, 12)
                .<MemoryKey>mapToObj(i -> ConversationKey.of("acme", "c" + i))
                .toList();
        try (MessageLog log = builder().build()) {
            for (MemoryKey key : keys) {
                NewMessage answer = LogTesting.answer("a").withUsage(new Usage(1, 2, 0));
                log.append(key, Append.underHead(answer));
                log.append(key, batch("b").withView(View.of(null, List.of())));
            }
            assertThat(cluster.nodes()).allSatisfy(node -> {
                try (Jedis console = node.console()) {
                    assertThat(console.keys("*:m")).isNotEmpty();
                }
            });
            assertThat(list(log, "acme", 5)).extracting(MemoryInfo::key).containsExactlyInAnyOrderElementsOf(keys);
            log.append(keys.get(0), batch("c"));
            assertThat(listByActivity(log, "acme", 5)).hasSize(12).startsWith(keys.get(0));
            assertThat(branch(log, keys.get(0))).containsExactly("a", "b", "c");
            LocalDate today = LocalDate.now(ZoneOffset.UTC);
            assertThat(Logs.usage(log, "acme", today.minusDays(1), today.plusDays(2)))
                    .hasSize(12)
                    .extracting(DailyUsage::usage)
                    .containsOnly(new Usage(1, 2, 0));
            keys.subList(1, 12).forEach(log::erase);
            assertThat(list(log, "acme", 5)).extracting(MemoryInfo::key).containsExactly(keys.get(0));

            cluster.cut();
            assertThatThrownBy(() -> log.read(keys.get(0), ReadQuery.newest(1)))
                    .isInstanceOf(StorageUnavailableException.class);
            cluster.mend();
            assertThat(branch(log, keys.get(0))).hasSize(3);
        }
    }

    @Test
    void each_node_is_asked_for_its_settings() {
        Redis second = cluster.nodes().get(1);
        assertThatThrownBy(
                        () -> builder().checks(RedisMessageLog.Checks.REQUIRE).build())
                .isInstanceOf(InvalidInputException.class)
                .satisfies(e -> assertThat(cluster.nodes())
                        .allSatisfy(node -> assertThat(e).hasMessageContaining(":" + node.port())));
        try (Jedis console = second.console()) {
            console.configSet("maxmemory", "1gb");
            console.configSet("maxmemory-policy", "allkeys-lru");
            assertThatThrownBy(() ->
                            builder().checks(RedisMessageLog.Checks.REQUIRE).build())
                    .hasMessageMatching(
                            "(?s).*maxmemory-policy is allkeys-lru[^(]*\\(127.0.0.1:" + second.port() + "\\).*");
            console.configSet("maxmemory-policy", "noeviction");
            console.configSet("maxmemory", "0");
        }
    }
}
