package io.github.keepsake4j.log.redis;

import static org.awaitility.Awaitility.await;

import io.github.keepsake4j.testing.TcpProxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract on a cluster of three nodes. A memory and its tenant's list mostly lie on different ones. */
class RedisClusterMessageLogTest extends RedisContract {

    private static final int NODES = 3;
    private static final int SLOTS = 16_384;

    @TempDir
    static Path directory;

    private static final List<RedisServer> SERVERS = new ArrayList<>();
    private static final List<RespCommands> DIRECT = new ArrayList<>();
    private static final Map<Integer, TcpProxy> LINES = new HashMap<>();

    @BeforeAll
    static void start() throws Exception {
        for (int i = 0; i < NODES; i++) {
            Path home = Files.createDirectory(directory.resolve("node" + i));
            List<String> settings = new ArrayList<>(List.of(RedisServer.DURABLE));
            settings.addAll(List.of("--cluster-enabled", "yes"));
            RedisServer server = RedisServer.start(home, settings.toArray(String[]::new));
            SERVERS.add(server);
            DIRECT.add(new RespCommands(server.port()));
            LINES.put(server.port(), new TcpProxy(server.port()));
        }
        for (int i = 0; i < NODES; i++) {
            List<String> words = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
            for (int slot = i * SLOTS / NODES; slot < (i + 1) * SLOTS / NODES; slot++) {
                words.add(Integer.toString(slot));
            }
            DIRECT.get(i).call(words.toArray(String[]::new));
            DIRECT.get(0)
                    .call(
                            "CLUSTER",
                            "MEET",
                            "127.0.0.1",
                            Integer.toString(SERVERS.get(i).port()));
        }
        for (RespCommands node : DIRECT) {
            await().atMost(Duration.ofSeconds(60)).until(() -> {
                String info = Text.of((byte[]) node.call("CLUSTER", "INFO"));
                return info.contains("cluster_state:ok") && info.contains("cluster_size:" + NODES);
            });
        }
    }

    @AfterAll
    static void stop() throws Exception {
        DIRECT.forEach(RespCommands::close);
        for (RedisServer server : SERVERS) {
            LINES.get(server.port()).close();
            server.close();
        }
    }

    @Override
    RespCommands connect() {
        return new RespCommands(
                LINES.get(SERVERS.get(0).port()).port(), node -> LINES.get(node).port());
    }

    @Override
    List<RespCommands> nodes() {
        return DIRECT;
    }

    @Override
    public Outage breakStorage() {
        LINES.values().forEach(TcpProxy::refuse);
        return () -> LINES.values().forEach(TcpProxy::letThrough);
    }
}
