package io.github.keepsake4j.benchmark;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Redis;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import redis.clients.jedis.Jedis;

/**
 * What an append and a read of the newest 20 messages take on each backend, on this machine and with each write synced to the
 * device where there is one. Prints a table. Arguments: how many messages the memory has (default 100,000; a bucket has at
 * most 1,000; files are measured with a hundredth and a tenth of them too), and how many calls are measured (default 1,000).
 */
public final class BackendBenchmark {

    private static final MemoryKey KEY = ConversationKey.of("default", "benchmark");
    private static final int BATCH = 500;
    private static final int BUCKET = 1_000;

    private final int messages;
    private final int calls;

    private BackendBenchmark(int messages, int calls) {
        this.messages = messages;
        this.calls = calls;
    }

    public static void main(String[] arguments) throws Exception {
        new BackendBenchmark(
                        arguments.length > 0 ? Integer.parseInt(arguments[0]) : 100_000,
                        arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1_000)
                .run();
        // Servers that are kept for other tests would keep the JVM.
        System.exit(0);
    }

    private void run() throws Exception {
        Path directory = Files.createTempDirectory("keepsake-benchmark");
        System.out.println("| backend | messages | append, median and p99 | read of the newest 20, median and p99 |");
        System.out.println("|---|---|---|---|");
        try (Server postgres = new Server(directory.resolve("postgres"));
                HikariDataSource pool = Postgres.trustingPool(postgres.newDatabase(), 5, true);
                MessageLog log = PostgresMessageLog.open(pool)) {
            measure("PostgreSQL", log, messages);
        }
        try (MessageLog log = SqliteMessageLog.open(directory.resolve("chat.db"))) {
            measure("SQLite", log, messages);
        }
        for (int stored : new int[] {messages / 100, messages / 10, messages}) {
            Path files = directory.resolve("files" + stored);
            try (MessageLog log = FileMessageLog.in(files)) {
                measure("files", log, stored);
            }
            firstUse(files);
        }
        redis(directory, "Redis, appendfsync always", true);
        redis(directory, "Redis without files", false);
        try (Home.Storage bucket = Home.S3.storage();
                MessageLog log = bucket.open()) {
            measure("S3", log, Math.min(BUCKET, messages));
        }
        try (MessageLog log = new InMemoryMessageLog()) {
            measure("in memory", log, messages);
        }
    }

    private void redis(Path directory, String name, boolean durable) throws Exception {
        Path home = Files.createDirectory(directory.resolve("redis" + durable));
        try (Redis server = durable ? Redis.durable(home) : Redis.keepingNothing(home);
                MessageLog log = RedisMessageLog.builder()
                        .server(server.uri())
                        .checks(RedisMessageLog.Checks.NONE)
                        .build()) {
            measure(name, log, messages);
            try (Jedis console = server.console()) {
                long bytes = console.keys("*").stream()
                        .mapToLong(key -> console.memoryUsage(key, 0))
                        .sum();
                System.out.printf("(%d bytes of memory for each message)%n", bytes / (messages + 2 * calls));
            }
        }
    }

    /** Another log that opens the directory reads the file at its first use, as a new process does whose JVM is warm. */
    private static void firstUse(Path files) {
        Measured first = new Measured("first use");
        for (int i = 0; i < 10; i++) {
            try (MessageLog log = FileMessageLog.in(files)) {
                long begin = System.nanoTime();
                log.read(KEY, ReadQuery.newest(20));
                first.add(System.nanoTime() - begin);
            }
        }
        System.out.printf(Locale.ROOT, "(first use: %.0f ms)%n", first.median() / 1_000);
    }

    private void measure(String name, MessageLog log, int stored) {
        for (int i = 0; i < stored; i += BATCH) {
            List<NewMessage> batch =
                    Stream.generate(Payload::ordered).limit(BATCH).toList();
            log.append(KEY, Append.under(Parent.head(), batch));
        }
        Measured appends = new Measured("append");
        Measured reads = new Measured("read");
        int warm = calls;
        for (int i = 0; i < warm + calls; i++) {
            if (i == warm) {
                appends.clear();
                reads.clear();
            }
            long begin = System.nanoTime();
            log.append(KEY, Append.underHead(Payload.ordered()));
            long middle = System.nanoTime();
            log.read(KEY, ReadQuery.newest(20));
            reads.add(System.nanoTime() - middle);
            appends.add(middle - begin);
        }
        if (log.history(KEY, HistoryQuery.newest(1)).messages().get(0).sequence() != stored + warm + calls) {
            throw new IllegalStateException("not every append is there");
        }
        System.out.printf(
                Locale.ROOT,
                "| %s | %,d | %.2f ms, %.2f ms | %.2f ms, %.2f ms |%n",
                name,
                stored,
                appends.median() / 1_000,
                appends.p99() / 1_000,
                reads.median() / 1_000,
                reads.p99() / 1_000);
    }
}
