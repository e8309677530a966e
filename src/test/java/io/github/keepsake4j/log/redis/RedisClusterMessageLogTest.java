package io.github.keepsake4j.log.redis;

import static org.awaitility.Awaitility.await;

import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.TcpProxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.HostAndPortMapper;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

/** The contract on a cluster of three nodes. A memory and its tenant's list mostly lie on different ones. */
class RedisClusterMessageLogTest extends RedisContract {

    private static final int NODES = 3;
    private static final int SLOTS = 16_384;
    private static final String HOST = "127.0.0.1";

    @TempDir
    static Path directory;

    private static final List<Redis> SERVERS = new ArrayList<>();
    private static final Map<Integer, TcpProxy> LINES = new HashMap<>();
    private static RedisClusterClient direct;
    private static RedisClusterClient client;

    @BeforeAll
    static void start() throws Exception {
        for (int i = 0; i < NODES; i++) {
            Path home = Files.createDirectory(directory.resolve("node" + i));
            Redis server = Redis.keepingNothing(home, "cluster-enabled yes");
            SERVERS.add(server);
            LINES.put(server.port(), new TcpProxy(server.port()));
        }
        for (int i = 0; i < NODES; i++) {
            int[] slots =
                    IntStream.range(i * SLOTS / NODES, (i + 1) * SLOTS / NODES).toArray();
            try (Jedis node = SERVERS.get(i).console()) {
                node.clusterAddSlots(slots);
                node.clusterMeet(HOST, SERVERS.get(0).port());
            }
        }
        for (Redis server : SERVERS) {
            await().atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> {
                        try (Jedis node = server.console()) {
                            String info = node.clusterInfo();
                            return info.contains("cluster_state:ok") && info.contains("cluster_size:" + NODES);
                        }
                    });
        }
        direct = client(node -> node);
        client = client(node -> LINES.containsKey(node.getPort())
                ? new HostAndPort(HOST, LINES.get(node.getPort()).port())
                : node);
    }

    @AfterAll
    static void stop() throws Exception {
        if (client != null) {
            client.close();
            direct.close();
        }
        for (Redis server : SERVERS) {
            LINES.get(server.port()).close();
            server.close();
        }
    }

    private static RedisClusterClient client(HostAndPortMapper routes) {
        return RedisClusterClient.builder()
                .nodes(Set.of(routes.getHostAndPort(
                        new HostAndPort(HOST, SERVERS.get(0).port()))))
                .clientConfig(DefaultJedisClientConfig.builder()
                        .socketTimeoutMillis(Redis.TIMEOUT_MILLIS)
                        .hostAndPortMapper(routes)
                        .build())
                .maxAttempts(2)
                .build();
    }

    @Override
    UnifiedJedis client() {
        return client;
    }

    @Override
    UnifiedJedis direct() {
        return direct;
    }

    @Override
    List<Redis> nodes() {
        return SERVERS;
    }

    @Override
    public Outage breakStorage() {
        LINES.values().forEach(TcpProxy::refuse);
        return () -> {
            LINES.values().forEach(TcpProxy::letThrough);
            client.getClusterNodes().values().forEach(ConnectionPool::clear);
        };
    }
}
