package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.testing.Redis;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.UnifiedJedis;

/** The contract on a cluster of three nodes. A memory and its tenant's list mostly lie on different ones. */
@Tag("full")
class RedisClusterMessageLogTest extends RedisContract {

    private static RedisCluster cluster;

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        cluster = new RedisCluster(directory);
    }

    @AfterAll
    static void stop() throws Exception {
        cluster.close();
    }

    @Override
    UnifiedJedis client() {
        return cluster.client();
    }

    @Override
    UnifiedJedis direct() {
        return cluster.direct();
    }

    @Override
    List<Redis> nodes() {
        return cluster.nodes();
    }

    @Override
    public Outage breakStorage() {
        cluster.cut();
        return cluster::mend;
    }
}
