package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.log.ActivityContract;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.MessageLogContract;
import io.github.keepsake4j.log.StoreClockContract;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** The contract on Redis. Each test has its own prefix. */
abstract class RedisContract extends MessageLogContract implements ActivityContract, StoreClockContract {

    private static final AtomicInteger PREFIXES = new AtomicInteger();

    private String prefix;

    /** Connects a log. */
    abstract RespCommands connect();

    /** Where the test looks and damages: one for each node, of which any leads to the others. */
    abstract List<RespCommands> nodes();

    @Override
    protected MessageLog open(Clock clock) {
        prefix = "test" + PREFIXES.incrementAndGet() + ":";
        return openAgain(clock);
    }

    @Override
    protected MessageLog openAgain(Clock clock) {
        return RedisMessageLog.builder()
                .commands(connect())
                .prefix(prefix)
                .clock(clock)
                .build();
    }

    @Override
    public MessageLog reopenAt(Clock clock) {
        return openAgain(clock);
    }

    /** The server's time goes on by itself, so the leases are moved into the past instead. */
    @Override
    public void passTime(Duration duration) throws Exception {
        clock().advance(duration);
        List<Object> keys = new ArrayList<>();
        for (RespCommands node : nodes()) {
            keys.addAll((List<?>) node.call("KEYS", prefix + "*:m"));
        }
        for (Object found : keys) {
            String key = Text.of((byte[]) found);
            for (Object field : (List<?>) direct().call("HKEYS", key)) {
                String name = Text.of((byte[]) field);
                if (name.startsWith("l")) {
                    String[] lease =
                            Text.of((byte[]) direct().call("HGET", key, name)).split(",", 2);
                    long begin = Long.parseLong(lease[0]) - duration.toNanos() / 1_000;
                    direct().call("HSET", key, name, begin + "," + lease[1]);
                }
            }
        }
    }

    @Override
    public Instant storeTime() throws Exception {
        List<?> time = (List<?>) direct().call("TIME");
        return Instant.ofEpochSecond(Long.parseLong(Text.of((byte[]) time.get(0))))
                .plus(Long.parseLong(Text.of((byte[]) time.get(1))), ChronoUnit.MICROS);
    }

    @Override
    public void corrupt(MemoryKey key, String messageId) throws Exception {
        direct().call("HSET", memory(key), text(key, messageId), "{\"at\":\"2026");
    }

    @Override
    public String rawBytes(MemoryKey key, String messageId) throws Exception {
        return Text.of((byte[]) direct().call("HGET", memory(key), text(key, messageId)));
    }

    private RespCommands direct() {
        return nodes().get(0);
    }

    private String text(MemoryKey key, String messageId) throws Exception {
        return "d" + Text.of((byte[]) direct().call("HGET", memory(key), "i" + messageId));
    }

    private String memory(MemoryKey key) {
        return Text.of(new Keys(prefix).memory(key).get(0));
    }
}
