package io.github.keepsake4j.log.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.HistoryChecker;
import io.github.keepsake4j.testing.HistoryChecker.Attempt;
import io.github.keepsake4j.testing.HistoryChecker.Finding;
import io.github.keepsake4j.testing.HistoryChecker.Outcome;
import io.github.keepsake4j.testing.HistoryChecker.Stored;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.SwitchedDataSource;
import io.github.keepsake4j.testing.TcpProxy;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.Threads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many writers, killed servers, cut lines: judged by the history checker. */
@Tag("landing")
@Timeout(900)
class PostgresDurabilityTest {

    @TempDir
    Path directory;

    private final List<Attempt> told = Collections.synchronizedList(new ArrayList<>());

    @Test
    void two_processes_of_eight_threads_that_repeat_each_others_batches() throws Exception {
        int count = Counts.of(20, 500);
        Postgres server = Postgres.newest();
        String database = server.newDatabase();
        try (MessageLog log = always(server.kept(database))) {
            log.history(PostgresWriter.KEY, HistoryQuery.newest(1));
            try (Child child = Child.start(PostgresWriter.class, server.port(), database, 0, 8, count)) {
                // The other process is this one, which begins when the child writes.
                told.add(Attempt.of(child.line()));
                PostgresWriter.write(log, 1, 8, count, told::add);
                child.awaitEnd().stream().map(Attempt::of).forEach(told::add);
            }
            List<Stored> stored = PostgresWriter.stored(log);

            assertThat(HistoryChecker.check(told, stored)).isEmpty();
            assertThat(log.branches(PostgresWriter.KEY)).hasSize(1);
            report("2 processes x 8 threads x " + count, stored);
        }
    }

    /** The checker is no use if it does not see what a tempting statement does. */
    @Test
    void a_planted_on_conflict_do_nothing_is_found() throws Exception {
        Postgres server = Postgres.newest();
        try (HikariDataSource pool = Postgres.pool(server.database(server.newDatabase()), 8, true);
                MessageLog log = always(ProxyDataSourceBuilder.create(pool)
                        .queryTransformer(info -> info.getQuery()
                                .replace("user_place, place)\n", "user_place, place)\nON CONFLICT DO NOTHING\n"))
                        .build())) {
            List<Finding> found = List.of();
            // It takes two writers at the same moment.
            for (int round = 0; round < 50 && found.isEmpty(); round++) {
                PostgresWriter.write(log, round, 8, 10, told::add);
                found = HistoryChecker.check(told, PostgresWriter.stored(log));
            }
            assertThat(found).isNotEmpty();
            Tell.line(found.size() + " findings with a planted ON CONFLICT DO NOTHING, such as " + found.get(0));
        }
    }

    /** Fails with {@code -Dkeepsake.synchronous_commit=off}, as it must. */
    @Test
    @ExpectedLog({"marked as broken because of SQLSTATE", "Could not stop postmaster"})
    void nothing_acknowledged_is_lost_when_the_server_is_killed() throws Exception {
        int kills = Counts.of(1, 20);
        String commit = System.getProperty("keepsake.synchronous_commit", "on");
        Random random = new Random();
        SwitchedDataSource source = new SwitchedDataSource();
        AtomicBoolean done = new AtomicBoolean();
        Postgres server = Postgres.on(directory, commit);
        HikariDataSource pool = Postgres.pool(server.database("postgres"), 8, true);
        source.use(pool);
        try (MessageLog log = always(source)) {
            log.history(PostgresWriter.KEY, HistoryQuery.newest(1));
            Thread writers = inBackground(log, done);
            for (int kill = 0; kill < kills; kill++) {
                awaitMore(100 + random.nextInt(400));
                server.kill(directory);
                pool.close();
                server.close();
                server = Postgres.on(directory, commit);
                pool = Postgres.pool(server.database("postgres"), 8, true);
                source.use(pool);
            }
            awaitMore(50);
            done.set(true);
            writers.join();
            List<Stored> stored = PostgresWriter.stored(log);

            assertThat(HistoryChecker.check(told, stored)).isEmpty();
            report(kills + " kills of the server", stored);
        } finally {
            done.set(true);
            pool.close();
            server.close();
        }
    }

    @Test
    @ExpectedLog("marked as broken because of SQLSTATE")
    void nothing_acknowledged_is_lost_and_nothing_doubled_when_lines_are_cut() throws Exception {
        int cuts = Counts.of(10, 200);
        Postgres server = Postgres.newest();
        String database = server.newDatabase();
        AtomicBoolean done = new AtomicBoolean();
        try (TcpProxy proxy = new TcpProxy(server.port());
                HikariDataSource pool = Postgres.pool(Postgres.database(database, proxy.port()), 4, true);
                MessageLog log = always(pool)) {
            log.history(PostgresWriter.KEY, HistoryQuery.newest(1));
            Thread writers = inBackground(log, done);
            for (int cut = 0; proxy.cuts() < cuts; cut++) {
                // In between some get through.
                awaitMore(10);
                proxy.cutNext(TcpProxy.Cut.values()[cut % 3], "Text of ");
            }
            awaitMore(10);
            done.set(true);
            writers.join();
            List<Stored> stored = PostgresWriter.stored(log);

            assertThat(HistoryChecker.check(told, stored)).isEmpty();
            assertThat(told).filteredOn(a -> a.outcome() == Outcome.UNKNOWN).hasSizeGreaterThanOrEqualTo(cuts * 9 / 10);
            assertThat(told).filteredOn(a -> a.outcome() == Outcome.REPLAYED).isNotEmpty();
            report(proxy.cuts() + " cut lines", stored);
        }
    }

    /** Each thread sends a batch until it is acknowledged, and then the next one. */
    private Thread inBackground(MessageLog log, AtomicBoolean done) {
        Thread thread = new Thread(() -> {
            try {
                Threads.run(4, writer -> {
                    for (int i = 0; !done.get(); i++) {
                        Attempt attempt;
                        do {
                            attempt = PostgresWriter.send(log, "w" + writer, writer + "-" + i);
                            told.add(attempt);
                            if (attempt.outcome() == Outcome.UNKNOWN) {
                                Thread.sleep(5);
                            }
                        } while (attempt.outcome() == Outcome.UNKNOWN && !done.get());
                    }
                });
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
        return thread;
    }

    /** Waits until some more attempts were made, whatever became of them. */
    private void awaitMore(int attempts) {
        int target = told.size() + attempts;
        await().atMost(Duration.ofMinutes(5)).until(() -> told.size() >= target);
    }

    private void report(String what, List<Stored> stored) {
        Tell.line(
                "%s: %d attempts (%d acknowledged, %d replayed, %d unknown), %d messages, nothing found",
                what,
                told.size(),
                told.stream().filter(a -> a.outcome() == Outcome.ACKNOWLEDGED).count(),
                told.stream().filter(a -> a.outcome() == Outcome.REPLAYED).count(),
                told.stream().filter(a -> a.outcome() == Outcome.UNKNOWN).count(),
                stored.size());
    }

    private static MessageLog always(DataSource source) {
        return JdbcMessageLog.builder()
                .dataSource(source)
                .schema(SchemaMode.ALWAYS)
                .build();
    }
}
