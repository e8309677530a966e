package io.github.keepsake4j.log.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.HistoryChecker;
import io.github.keepsake4j.testing.HistoryChecker.Attempt;
import io.github.keepsake4j.testing.HistoryChecker.Stored;
import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One server, several processes, and some of them killed, the server too. */
@Timeout(1200)
class RedisProcessesTest {

    private static final int PROCESSES = 2;
    private static final int THREADS = 8;

    @TempDir
    Path directory;

    private Redis server;

    @BeforeEach
    void start() throws Exception {
        server = Redis.durable(directory);
    }

    @AfterEach
    void stop() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    @Test
    @Tag("landing")
    void two_processes_of_eight_threads_lose_and_double_nothing() throws Exception {
        int count = Counts.of(10, 500);
        List<Attempt> attempts = Collections.synchronizedList(new ArrayList<>());
        try (Child child = Child.start(RedisWriter.class, server.port(), "p0", THREADS, count)) {
            // The other process is this one, which begins when the child writes.
            attempts.add(Attempt.of(child.line()));
            RedisWriter.append(server.port(), "p1", THREADS, count, attempts::add);
            child.awaitEnd().forEach(line -> attempts.add(Attempt.of(line)));
        }

        try (MessageLog log = RedisWriter.open(server.port())) {
            List<Stored> stored = stored(log);
            assertThat(HistoryChecker.check(attempts, stored)).isEmpty();
            assertThat(new HashSet<>(attempts.stream().map(Attempt::ids).toList()))
                    .hasSize(PROCESSES * THREADS * count);
            assertIsWhole(log);
            Tell.line("%d messages of %d writers, none lost or doubled", stored.size(), PROCESSES * THREADS);
        }
    }

    @Test
    @Tag("full")
    void what_was_acknowledged_survives_a_kill_of_the_writer_and_batches_are_whole() throws Exception {
        int kills = 50;
        List<Attempt> attempts = new ArrayList<>();
        for (int kill = 0; kill < kills; kill++) {
            try (Child child = Child.start(RedisWriter.class, server.port(), "k" + kill, 4, 1_000_000)) {
                // Some way into its work, each time another.
                for (int i = 0; i < 20 + 5 * kill; i++) {
                    attempts.add(Attempt.of(child.line()));
                }
                List<String> rest = child.kill();
                // The last line may have been cut by the kill.
                rest.stream().limit(Math.max(0, rest.size() - 1L)).forEach(line -> attempts.add(Attempt.of(line)));
            }
        }

        try (MessageLog log = RedisWriter.open(server.port())) {
            assertAllThere(log, attempts);
            Tell.line("%d kills of the writer: %d batches acknowledged, all there once", kills, attempts.size());
        }
    }

    @Test
    @Tag("full")
    void what_was_acknowledged_survives_a_kill_of_the_server_in_mid_load() throws Exception {
        int kills = 20;
        Queue<Attempt> attempts = new ConcurrentLinkedQueue<>();
        AtomicBoolean ended = new AtomicBoolean();
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try (MessageLog log = RedisWriter.open(server.port())) {
            List<Future<?>> writers = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                String writer = "w" + thread;
                writers.add(pool.submit(() -> {
                    for (int i = 0; !ended.get(); i++) {
                        attempts.add(writeUntilAcknowledged(log, writer, i));
                    }
                }));
            }
            for (int kill = 0; kill < kills; kill++) {
                int before = attempts.size();
                await().atMost(Duration.ofSeconds(60)).until(() -> attempts.size() > before + 50);
                server.kill();
                server.start();
            }
            int before = attempts.size();
            await().atMost(Duration.ofSeconds(60)).until(() -> attempts.size() > before + 50);
            ended.set(true);
            for (Future<?> writer : writers) {
                writer.get();
            }

            assertAllThere(log, List.copyOf(attempts));
            Tell.line("%d kills of the server: %d batches acknowledged, all there once", kills, attempts.size());
        } finally {
            ended.set(true);
            pool.shutdown();
        }
    }

    private static Attempt writeUntilAcknowledged(MessageLog log, String writer, int number) {
        AtomicReference<Attempt> done = new AtomicReference<>();
        await().atMost(Duration.ofSeconds(60))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(20))
                .ignoreException(StorageUnavailableException.class)
                .until(() -> {
                    done.set(RedisWriter.write(log, writer, number));
                    return true;
                });
        return done.get();
    }

    private static void assertAllThere(MessageLog log, List<Attempt> attempts) {
        Set<String> ids = new HashSet<>();
        List<Stored> stored = stored(log);
        stored.forEach(message -> assertThat(ids.add(message.id())).isTrue());
        for (Attempt attempt : attempts) {
            assertThat(ids).containsAll(attempt.ids());
        }
        // What was not acknowledged is there as a whole or not at all.
        for (Stored message : stored) {
            String batch = message.id().substring(0, message.id().lastIndexOf('-'));
            int last = Integer.parseInt(batch.substring(batch.lastIndexOf('-') + 1)) % 3;
            assertThat(ids).contains(batch + "-0", batch + "-" + last);
        }
        assertIsWhole(log);
    }

    private static void assertIsWhole(MessageLog log) {
        assertThat(log.branches(RedisWriter.KEY)).hasSize(1);
        assertThat(log.check(RedisWriter.KEY)).isEmpty();
        assertThat(LogTesting.list(log, "default", 10)).hasSize(1);
    }

    private static List<Stored> stored(MessageLog log) {
        return LogTesting.history(log, RedisWriter.KEY).stream()
                .map(message -> new Stored(message.id(), message.parentId(), message.sequence()))
                .toList();
    }
}
