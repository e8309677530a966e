package io.github.keepsake4j.summary;

import static org.awaitility.Awaitility.await;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/** A worker for tests in other packages that tries again at once. */
public final class ImpatientWorker {

    private ImpatientWorker() {}

    public static SummaryWorker of(
            MessageLog log,
            Summarizer summarizer,
            Executor executor,
            Metrics metrics,
            Duration callTimeout,
            int attempts,
            Predicate<String> reserved,
            TokenCounter counter) {
        SummaryWorker.Options options = new SummaryWorker.Options(
                callTimeout, Duration.ofSeconds(10), attempts, Duration.ofMillis(1), reserved, Clock.systemUTC());
        return new SummaryWorker(key -> log, summarizer, counter, executor, metrics, options);
    }

    /** Waits until a worker has no job. */
    static void awaitIdle(SummaryWorker worker) {
        await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(5)).until(worker::isIdle);
    }
}
