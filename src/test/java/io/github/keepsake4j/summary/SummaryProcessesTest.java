package io.github.keepsake4j.summary;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.SECRET;
import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Logs;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real processes on one SQLite file, some of them killed. */
@Tag("landing")
@Timeout(600)
class SummaryProcessesTest {

    private static final int MESSAGES = 34;
    private static final int COVERED = MESSAGES - SummarizingProcess.KEEP;

    @TempDir
    Path directory;

    @BeforeEach
    void fill() {
        try (MessageLog log = SqliteMessageLog.open(file())) {
            log.append(
                    KEY,
                    batch(IntStream.rangeClosed(1, MESSAGES)
                            .mapToObj(i -> "m" + i)
                            .toArray(String[]::new)));
        }
    }

    @Test
    void two_processes_make_each_summary_once() throws Exception {
        List<String> asked = new ArrayList<>();
        ScriptedSummarizer summarizer = new ScriptedSummarizer();
        summarizer.script = () -> {
            Thread.sleep(50);
            return "short";
        };
        try (Child child = Child.start(SummarizingProcess.class, file(), 50, 5_000, 0, true)) {
            // The other process is this one, which begins when the child has asked.
            asked.add(child.line());
            makeAll(summarizer);
            asked.addAll(child.awaitEnd());
        }
        summarizer.calls.forEach(texts -> asked.add("asked " + texts));

        assertThat(asked).containsExactlyInAnyOrderElementsOf(ranges(1));
        assertSummaries();
    }

    @Test
    void what_a_killed_process_had_begun_is_taken_over_and_nothing_is_made_twice() throws Exception {
        List<String> asked = new ArrayList<>();
        // Its third summary never ends, and the lease is long enough to kill it before that is noticed.
        try (Child child = Child.start(SummarizingProcess.class, file(), 0, 5_000, 3, true)) {
            for (int i = 0; i < 3; i++) {
                asked.add(child.line());
            }
            asked.addAll(child.kill());
        }
        assertThat(asked).hasSize(3);

        ScriptedSummarizer summarizer = new ScriptedSummarizer();
        try (MessageLog log = SqliteMessageLog.open(file())) {
            assertThat(Logs.summaries(log, KEY)).hasSize(2);
        }
        makeAll(summarizer);

        assertThat(summarizer.calls).extracting(texts -> "asked " + texts).isEqualTo(ranges(3));
        assertSummaries();
    }

    @Test
    void a_process_ends_at_once_and_in_silence_while_a_summarizer_thinks() throws Exception {
        try (Child child = Child.start(SummarizingProcess.class, file(), 0, 600_000, 1, false)) {
            assertThat(child.awaitEnd()).isEqualTo(ranges(1).subList(0, 1));
        }
        try (MessageLog log = SqliteMessageLog.open(file())) {
            assertThat(Logs.summaries(log, KEY)).isEmpty();
        }
    }

    /** Makes the summaries that are due, as another process does. */
    private void makeAll(ScriptedSummarizer summarizer) {
        try (MessageLog log = SqliteMessageLog.open(file())) {
            SummaryWorker worker = SummarizingProcess.worker(log, summarizer, Duration.ofMillis(5_000));
            worker.due(KEY, new AllButNewest(log, KEY, SummarizingProcess.KEEP, SummarizingProcess.AT_ONCE));
            ImpatientWorker.awaitIdle(worker);
        }
    }

    private void assertSummaries() {
        try (MessageLog log = SqliteMessageLog.open(file())) {
            List<Long> sizes = new ArrayList<>();
            for (long end = SummarizingProcess.AT_ONCE; end <= COVERED; end += SummarizingProcess.AT_ONCE) {
                sizes.add(end);
            }
            assertThat(Logs.summaries(log, KEY))
                    .extracting(Summary::replacedMessages)
                    .isEqualTo(sizes);
        }
    }

    /** Returns the ranges that the summarizer is asked to summarize, from the n-th summary on. */
    private static List<String> ranges(int from) {
        List<String> ranges = new ArrayList<>();
        for (int first = (from - 1) * SummarizingProcess.AT_ONCE + 1;
                first <= COVERED;
                first += SummarizingProcess.AT_ONCE) {
            ranges.add("asked "
                    + IntStream.range(first, first + SummarizingProcess.AT_ONCE)
                            .mapToObj(i -> SECRET + " m" + i)
                            .toList());
        }
        return ranges;
    }

    private Path file() {
        return directory.resolve("chat.db");
    }
}
