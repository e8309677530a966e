package io.github.keepsake4j.summary;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lease of a summary whose end met an outage. It lasts an hour, so a test that waits for it fails. */
@Timeout(60)
class SummaryLeaseTest {

    private final WatchedLog log = new WatchedLog(new InMemoryMessageLog());

    @Test
    void an_outage_at_the_end_of_a_job_does_not_block_summarizeNow_of_the_same_process() {
        SummaryWorker worker = worker(log.log());
        failAtTheEnd(worker);

        assertThat(worker.summarizeNow(KEY, Optional::empty)).isZero();
    }

    @Test
    void an_outage_at_the_end_of_a_job_does_not_block_summarizeNow_of_another_process() throws Exception {
        failAtTheEnd(worker(log.log()));
        SummaryWorker other = worker(log.log());

        assertThat(CompletableFuture.supplyAsync(() -> other.summarizeNow(KEY, Optional::empty))
                        .get(30, TimeUnit.SECONDS))
                .isZero();
    }

    private void failAtTheEnd(SummaryWorker worker) {
        log.log().append(KEY, batch("a", "b"));
        log.fail("releaseLease", new StorageUnavailableException("down", null));
        worker.due(KEY, Optional::empty);
        ImpatientWorker.awaitIdle(worker);
        assertThat(log.calls()).contains("acquireLease", "releaseLease");
        log.fail("releaseLease", null);
    }

    private static SummaryWorker worker(MessageLog log) {
        return new SummaryWorker(
                key -> log,
                (previous, messages) -> "short",
                TokenCounter.standard(),
                work -> new Thread(work).start(),
                Metrics.NONE,
                SummaryWorker.Options.of(Duration.ofHours(1), answer -> false));
    }
}
