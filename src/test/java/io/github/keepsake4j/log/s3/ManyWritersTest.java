package io.github.keepsake4j.log.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.HistoryChecker;
import io.github.keepsake4j.testing.HistoryChecker.Attempt;
import io.github.keepsake4j.testing.HistoryChecker.Finding;
import io.github.keepsake4j.testing.HistoryChecker.Outcome;
import io.github.keepsake4j.testing.HistoryChecker.Stored;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.TcpProxy;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.Threads;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Many writers of one document, with failures of the connection and the server. The history checker judges the results.
 */
@Tag("landing")
@Timeout(900)
class ManyWritersTest extends BucketFixture {

    private final List<Attempt> told = Collections.synchronizedList(new ArrayList<>());

    @Test
    void two_processes_of_eight_threads_on_one_document() throws Exception {
        int count = Counts.of(6, 50);
        List<String> lines = new ArrayList<>();
        try (Child child = Child.start(S3Writer.class, server.port(), bucket, 0, 8, count)) {
            // The other process is this one, which begins when the child writes.
            lines.add(child.line());
            S3Writer.write(log, 1, 8, count, told::add);
            lines.addAll(child.awaitEnd());
        }
        String sent = lines.remove(lines.size() - 1);
        lines.stream().map(Attempt::of).forEach(told::add);
        List<Stored> stored = S3Writer.stored(log);

        assertThat(HistoryChecker.check(told, stored)).isEmpty();
        assertThat(told).extracting(Attempt::outcome).containsOnly(Outcome.ACKNOWLEDGED, Outcome.REPLAYED);
        assertThat(stored).hasSize(2 * 8 * count * 2);
        assertThat(log.branches(S3Writer.KEY)).hasSize(1);
        report("2 processes x 8 threads x " + count + " turns", stored);
        Tell.line("    a process sent " + sent);
    }

    @Test
    void nothing_acknowledged_is_lost_and_nothing_doubled_when_lines_and_servers_fail() throws Exception {
        int turns = Counts.of(120, 2_000);
        long seed = System.nanoTime();
        Random faults = new Random(seed);
        AtomicInteger errors = new AtomicInteger();
        Wire counted = new Wire();
        try (TcpProxy line = new TcpProxy(server.port());
                S3Client patient = S3Server.client(line.port(), counted);
                S3Client impatient = S3Server.impatientClient(line.port(), counted)) {
            server.before(request -> {
                int dice = dice(faults);
                if (dice < 3) {
                    errors.incrementAndGet();
                    S3Server.fail(dice == 0 ? 500 : 503);
                } else if (dice < 7) {
                    delay();
                }
            });
            server.after(request -> {
                if (dice(faults) < 2) {
                    errors.incrementAndGet();
                    S3Server.fail(500);
                }
            });
            List<MessageLog> logs = Stream.of(patient, impatient)
                    .map(each -> (MessageLog)
                            S3MessageLog.builder().client(each).bucket(bucket).build())
                    .toList();
            Threads.run(4, writer -> {
                for (int i = 0; i < turns / 4; i++) {
                    if (i % 6 == writer) {
                        line.cutNext(
                                TcpProxy.Cut.values()[
                                        ThreadLocalRandom.current().nextInt(4)],
                                i % 2 == 0 ? "PUT /" : "GET /");
                    }
                    Attempt attempt;
                    do {
                        attempt = S3Writer.send(logs.get(writer % 2), "w" + writer, writer + "-" + i);
                        told.add(attempt);
                    } while (attempt.outcome() == Outcome.UNKNOWN);
                }
            });
            server.leaveAlone();
            List<Stored> stored = S3Writer.stored(log);

            assertThat(HistoryChecker.check(told, stored)).as("seed %s", seed).isEmpty();
            assertThat(told).extracting(Attempt::outcome).doesNotContain(Outcome.REFUSED);
            assertThat(stored).hasSize(turns * 2);
            assertThat(line.cuts()).isGreaterThan(turns / 50);
            assertThat(errors.get()).isPositive();
            report(turns + " turns, " + line.cuts() + " cut lines, " + errors + " errors of the server", stored);
            Tell.line("    sent " + counted);
        }
    }

    /** Proves that the checker detects a write without its condition. */
    @Test
    void a_write_without_its_condition_is_found() throws Exception {
        AtomicInteger unconditional = new AtomicInteger();
        List<Finding> found = List.of();
        try (S3Client careless = S3Server.client(server.port(), new WithoutConditions(unconditional))) {
            // The error requires two writers at the same moment.
            for (int round = 0; round < 50 && found.isEmpty(); round++) {
                String name = round + "-";
                Threads.run(4, writer -> {
                    MessageLog own = S3MessageLog.builder()
                            .client(careless)
                            .bucket(bucket)
                            .build();
                    for (int i = 0; i < 15; i++) {
                        told.add(S3Writer.send(own, "w" + writer, name + writer + "-" + i));
                    }
                });
                found = HistoryChecker.check(told, S3Writer.stored(log));
            }
        }

        assertThat(unconditional).hasPositiveValue();
        assertThat(found).isNotEmpty();
    }

    private static int dice(Random random) {
        synchronized (random) {
            return random.nextInt(100);
        }
    }

    /** Delays the server's answer. The delay is part of the test. */
    private static void delay() {
        try {
            Thread.sleep(ThreadLocalRandom.current().nextInt(20));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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
}
