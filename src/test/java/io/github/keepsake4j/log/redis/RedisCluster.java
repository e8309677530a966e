package io.github.keepsake4j.log.redis;

import static org.awaitility.Awaitility.await;

import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.TcpProxy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.HostAndPortMapper;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClusterClient;

/** A cluster of three nodes, reached over lines that can be cut. */
final class RedisCluster implements AutoCloseable {

    private static final int NODES = 3;
    private static final int SLOTS = 16_384;
    private static final String HOST = "127.0.0.1";

    private final List<Redis> nodes = new ArrayList<>();
    private final Map<Integer, TcpProxy> lines = new HashMap<>();
    private final RedisClusterClient direct;
    private final RedisClusterClient client;

    RedisCluster(Path directory) throws IOException {
        for (int i = 0; i < NODES; i++) {
            Path home = Files.createDirectory(directory.resolve("node" + i));
            Redis node = Redis.keepingNothing(home, "cluster-enabled yes");
            nodes.add(node);
            lines.put(node.port(), new TcpProxy(node.port()));
        }
        for (int i = 0; i < NODES; i++) {
            int[] slots =
                    IntStream.range(i * SLOTS / NODES, (i + 1) * SLOTS / NODES).toArray();
            try (Jedis console = nodes.get(i).console()) {
                console.clusterAddSlots(slots);
                console.clusterMeet(HOST, nodes.get(0).port());
            }
        }
        for (Redis node : nodes) {
            await().atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> isReady(node));
        }
        direct = connect(node -> node);
        client = connect(node -> lines.containsKey(node.getPort())
                ? new HostAndPort(HOST, lines.get(node.getPort()).port())
                : node);
    }

    private static boolean isReady(Redis node) {
        try (Jedis console = node.console()) {
            String info = console.clusterInfo();
            return info.contains("cluster_state:ok") && info.contains("cluster_size:" + NODES);
        }
    }

    private RedisClusterClient connect(HostAndPortMapper routes) {
        return RedisClusterClient.builder()
                .nodes(Set.of(
                        routes.getHostAndPort(new HostAndPort(HOST, nodes.get(0).port()))))
                .clientConfig(DefaultJedisClientConfig.builder()
                        .socketTimeoutMillis(Redis.TIMEOUT_MILLIS)
                        .hostAndPortMapper(routes)
                        .build())
                .maxAttempts(2)
                .build();
    }

    List<Redis> nodes() {
        return nodes;
    }

    RedisClusterClient direct() {
        return direct;
    }

    /** Returns a client over the lines. */
    RedisClusterClient client() {
        return client;
    }

    void cut() {
        lines.values().forEach(TcpProxy::refuse);
    }

    void mend() {
        lines.values().forEach(TcpProxy::letThrough);
        client.getClusterNodes().values().forEach(ConnectionPool::clear);
    }

    @Override
    public void close() throws IOException {
        client.close();
        direct.close();
        for (Redis node : nodes) {
            lines.get(node.port()).close();
            node.close();
        }
    }
}
