package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A process that summarizes a memory in a SQLite file and prints the texts that were passed to the summarizer.
 * Arguments: the file, the duration of a call in milliseconds, the time limit of a call, the number of the call that never
 * ends or 0 for none, and whether to wait until all summaries are made.
 */
final class SummarizingProcess {

    static final int KEEP = 4;
    static final int AT_ONCE = 3;

    private SummarizingProcess() {}

    public static void main(String[] arguments) throws Exception {
        long takes = Long.parseLong(arguments[1]);
        int hangs = Integer.parseInt(arguments[3]);
        boolean untilDone = Boolean.parseBoolean(arguments[4]);
        try (MessageLog log = SqliteMessageLog.open(Path.of(arguments[0]))) {
            // Newer JVMs warn when the driver loads its library. This library cannot prevent that.
            Logs.summaries(log, LogTesting.KEY);
            // Logs and exceptions must reach the parent process, too.
            System.setErr(System.out);
            ScriptedSummarizer summarizer = new ScriptedSummarizer();
            // The summarizer's own latch opens before this script runs.
            CountDownLatch told = new CountDownLatch(1);
            summarizer.script = () -> {
                int call = summarizer.calls.size();
                System.out.println("asked " + summarizer.calls.get(call - 1));
                told.countDown();
                Thread.sleep(call == hangs ? 3_600_000 : takes);
                return "short";
            };
            SummaryWorker worker = worker(log, summarizer, Duration.ofMillis(Long.parseLong(arguments[2])));
            worker.due(LogTesting.KEY, new AllButNewest(log, LogTesting.KEY, KEEP, AT_ONCE));
            if (untilDone) {
                ImpatientWorker.awaitIdle(worker);
            } else {
                told.await(2, TimeUnit.MINUTES);
            }
        }
    }

    static SummaryWorker worker(MessageLog log, Summarizer summarizer, Duration callTimeout) {
        return new SummaryWorker(
                key -> log,
                summarizer,
                TokenCounter.of(new WordCounter()),
                Executors.newCachedThreadPool(work -> {
                    Thread thread = new Thread(work, "summaries");
                    thread.setDaemon(true);
                    return thread;
                }),
                Metrics.NONE,
                new SummaryWorker.Options(
                        callTimeout,
                        Duration.ofMillis(500),
                        3,
                        Duration.ofMillis(100),
                        answer -> false,
                        Clock.systemUTC()));
    }
}
