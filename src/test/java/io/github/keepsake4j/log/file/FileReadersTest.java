package io.github.keepsake4j.log.file;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Readers without a lock see one state of the memory, whatever a writer does meanwhile. */
@Timeout(300)
class FileReadersTest {

    private static final int READERS = 3;

    @TempDir
    Path directory;

    /** Each change but a plain append raises the revision by one, and says the number that it raises it to. */
    @Test
    void a_reader_sees_one_state() throws Exception {
        FileFixture files = new FileFixture(directory);
        AtomicBoolean done = new AtomicBoolean();
        AtomicLong reads = new AtomicLong();
        ExecutorService threads = Executors.newFixedThreadPool(READERS);
        try (MessageLog log = files.open();
                MessageLog other = files.open()) {
            log.append(KEY, batch("a"));
            Logs.setOutcome(log, KEY, "a", Outcome.failed("2"), null);
            List<Future<?>> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                MessageLog each = i == 0 ? log : other;
                readers.add(threads.submit(() -> {
                    while (!done.get()) {
                        read(each);
                        reads.incrementAndGet();
                    }
                    return null;
                }));
            }
            long revision = 2;
            for (int i = 0; i < Counts.of(300, 20_000); i++) {
                log.append(KEY, batch("m" + i));
                revision++;
                if (i % 3 == 0) {
                    String shown = "m" + Math.max(0, i - 1);
                    View.Run run = new View.Run(null, shown);
                    log.append(KEY, Append.viewOnly(View.of(null, List.of(run))));
                    // So that each revision has its outcome.
                    revision++;
                }
                Logs.setOutcome(log, KEY, "a", Outcome.failed(Long.toString(revision)), null);
            }
            done.set(true);
            for (Future<?> reader : readers) {
                reader.get();
            }
            assertThat(log.check(KEY)).isEmpty();
        } finally {
            done.set(true);
            threads.shutdownNow();
        }
        Tell.line("%d reads while one writer changed the memory", reads.get());
        assertThat(reads.get()).isPositive();
    }

    private static void read(MessageLog log) {
        Tail tail = log.read(KEY, ReadQuery.newest(3).alsoOldest(1));
        List<LoggedMessage> messages = tail.messages();
        String head = Objects.requireNonNull(tail.head());
        assertThat(messages.get(messages.size() - 1).id()).isEqualTo(head);
        long told = Long.parseLong(String.valueOf(
                Objects.requireNonNull(tail.oldest().get(0).outcome()).reason()));
        // A view that was just set has no outcome of its number yet.
        assertThat(tail.revision() - told).isBetween(0L, 1L);
        if (tail.view() != null && tail.revision() - told == 1) {
            assertThat(tail.view().anchor()).isEqualTo(head);
        }
        assertThat(Logs.find(log, KEY, List.of(head))).hasSize(1);
        assertThat(log.append(KEY, batch("a")).replayed()).isTrue();
    }
}
