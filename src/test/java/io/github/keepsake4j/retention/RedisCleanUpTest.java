package io.github.keepsake4j.retention;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import io.github.keepsake4j.testing.Redis;

class RedisCleanUpTest extends CleanUpContract {

    private final String prefix = Redis.newPrefix();

    @Override
    protected MessageLog open() {
        return RedisMessageLog.builder()
                .server(Redis.shared().uri())
                .prefix(prefix)
                .checks(RedisMessageLog.Checks.NONE)
                .listedMetadata(PROJECT)
                .build();
    }
}
