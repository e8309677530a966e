package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.TcpProxy;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/** The contract on one server. */
class RedisMessageLogTest extends RedisContract {

    private static Redis server;
    private static RedisClient direct;
    private static RedisClient client;
    private static TcpProxy line;

    @BeforeAll
    static void start() throws Exception {
        server = Redis.shared();
        direct = server.client();
        line = new TcpProxy(server.port());
        client = Redis.client(line.port());
    }

    @AfterAll
    static void stop() throws Exception {
        client.close();
        line.close();
        direct.close();
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
        return List.of(server);
    }

    @Override
    public Outage breakStorage() {
        line.refuse();
        return () -> {
            line.letThrough();
            client.getPool().clear();
        };
    }
}
