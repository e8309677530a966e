package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.log.ActivityContract;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.MessageLogContract;
import io.github.keepsake4j.log.MetadataListContract;
import io.github.keepsake4j.log.OutageContract;
import io.github.keepsake4j.log.StoreClockContract;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Redis;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;

/** The contract on Redis. Each test has its own prefix. */
abstract class RedisContract extends MessageLogContract
        implements ActivityContract, MetadataListContract, OutageContract, StoreClockContract {

    private String prefix;

    /** What the logs use. */
    abstract UnifiedJedis client();

    /** Where the test looks and damages, whatever node a key is on. */
    abstract UnifiedJedis direct();

    abstract List<Redis> nodes();

    @Override
    protected MessageLog open(Clock clock) {
        prefix = Redis.newPrefix();
        return openAgain(clock);
    }

    @Override
    protected MessageLog openAgain(Clock clock) {
        return RedisMessageLog.builder()
                .client(client())
                .checks(RedisMessageLog.Checks.NONE)
                .prefix(prefix)
                .listedMetadata(DECLARED)
                .clock(clock)
                .build();
    }

    @Override
    public MessageLog reopenAt(Clock clock) {
        return openAgain(clock);
    }

    /** The server's time goes on by itself, so the leases are moved into the past instead. */
    @Override
    public void passTime(Duration duration) {
        clock().advance(duration);
        for (Redis node : nodes()) {
            try (Jedis console = node.console()) {
                for (String key : console.keys(prefix + "*:m")) {
                    endEarlier(console, key, duration);
                }
            }
        }
    }

    private static void endEarlier(Jedis console, String key, Duration duration) {
        for (String field : console.hkeys(key)) {
            if (field.startsWith("l")) {
                String[] lease = console.hget(key, field).split(",", 2);
                long begin = Long.parseLong(lease[0]) - duration.toNanos() / 1_000;
                console.hset(key, field, begin + "," + lease[1]);
            }
        }
    }

    @Override
    public Instant storeTime() {
        try (Jedis console = nodes().get(0).console()) {
            List<String> time = console.time();
            return Instant.ofEpochSecond(Long.parseLong(time.get(0)))
                    .plus(Long.parseLong(time.get(1)), ChronoUnit.MICROS);
        }
    }

    @Override
    public void corrupt(MemoryKey key, String messageId) {
        direct().hset(memory(key), text(key, messageId), "{\"at\":\"2026");
    }

    @Override
    public String rawBytes(MemoryKey key, String messageId) {
        return direct().hget(memory(key), text(key, messageId));
    }

    private String text(MemoryKey key, String messageId) {
        return "d" + direct().hget(memory(key), "i" + messageId);
    }

    private String memory(MemoryKey key) {
        return Text.of(new Keys(prefix).memory(key).get(0));
    }
}
