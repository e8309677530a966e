package io.github.keepsake4j.spring;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import org.springframework.beans.factory.BeanFactory;
import redis.clients.jedis.UnifiedJedis;

/** The store redis, in a class of its own because Jedis may be absent. */
final class RedisStore {

    private RedisStore() {}

    static MessageLog open(KeepsakeProperties.Redis properties, String[] listedMetadata, BeanFactory beans) {
        RedisMessageLog.Builder builder = RedisMessageLog.builder()
                .prefix(properties.prefix())
                .timeToLive(properties.timeToLive())
                .listedMetadata(listedMetadata);
        if (properties.url() != null) {
            return builder.server(properties.url()).build();
        }
        UnifiedJedis client = beans.getBeanProvider(UnifiedJedis.class).getIfUnique();
        if (client == null) {
            throw new ConfigurationException(
                    "The store redis has no server.",
                    "Set keepsake4j.redis.url, such as redis://localhost:6379, or add one UnifiedJedis bean (of several, mark"
                            + " one as @Primary).");
        }
        return builder.client(client).build();
    }
}
