package io.github.keepsake4j.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class MicrometerMetricsTest {

    @Test
    void everything_is_counted_by_backend() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        MicrometerMetrics metrics = new MicrometerMetrics(registry);
        metrics.appended("sqlite", 3);
        metrics.appended("sqlite", 2);
        metrics.read("sqlite", 7);
        metrics.conflict("postgresql");
        metrics.retried("postgresql");
        metrics.tokensDropped("sqlite", 100);
        metrics.summaryMade("sqlite", 3000, 3600);
        metrics.summaryFailed("sqlite", "timeout");
        metrics.memoryRemoved("s3");
        metrics.passagePassedBy("file");
        metrics.turnsDropped("s3", 4);
        metrics.historyOverflow("s3");
        metrics.recalledByWordsAlone("sqlite");

        Map<String, Double> counts = new TreeMap<>();
        registry.getMeters()
                .forEach(meter -> counts.put(
                        name(meter), meter.measure().iterator().next().getValue()));
        assertThat(counts)
                .containsOnly(
                        Map.entry("keepsake.appends [sqlite]", 2.0),
                        Map.entry("keepsake.appends.messages [sqlite]", 5.0),
                        Map.entry("keepsake.reads [sqlite]", 1.0),
                        Map.entry("keepsake.reads.messages [sqlite]", 7.0),
                        Map.entry("keepsake.conflicts [postgresql]", 1.0),
                        Map.entry("keepsake.retries [postgresql]", 1.0),
                        Map.entry("keepsake.tokens.dropped [sqlite]", 100.0),
                        Map.entry("keepsake.summaries.made [sqlite]", 1.0),
                        Map.entry("keepsake.summaries.tokens.folded [sqlite]", 3000.0),
                        Map.entry("keepsake.summaries.tokens.sent [sqlite]", 3600.0),
                        Map.entry("keepsake.summaries.failed [sqlite, timeout]", 1.0),
                        Map.entry("keepsake.memories.removed [s3]", 1.0),
                        Map.entry("keepsake.passages.passed [file]", 1.0),
                        Map.entry("keepsake.turns.dropped [s3]", 4.0),
                        Map.entry("keepsake.histories.overflowed [s3]", 1.0),
                        Map.entry("keepsake.recalls.by.words.alone [sqlite]", 1.0));
    }

    private static String name(Meter meter) {
        return meter.getId().getName() + " "
                + meter.getId().getTags().stream().map(Tag::getValue).toList();
    }
}
