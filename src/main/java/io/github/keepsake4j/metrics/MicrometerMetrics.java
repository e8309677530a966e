package io.github.keepsake4j.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.Objects;

/**
 * Counts with Micrometer. Requires {@code micrometer-core} on the class path. Every meter is a counter with the tag
 * {@code backend}; {@code keepsake.summaries.failed} also has the tag {@code kind}. Thread-safe.
 */
public final class MicrometerMetrics implements Metrics {

    private final MeterRegistry registry;

    /**
     * Creates metrics that count in a registry.
     *
     * @param registry the registry; its owner remains responsible for closing it
     */
    public MicrometerMetrics(MeterRegistry registry) {
        this.registry = Objects.requireNonNull(registry, "registry");
    }

    @Override
    public void appended(String backend, int messages) {
        add("keepsake.appends", backend, 1);
        add("keepsake.appends.messages", backend, messages);
    }

    @Override
    public void read(String backend, int messages) {
        add("keepsake.reads", backend, 1);
        add("keepsake.reads.messages", backend, messages);
    }

    @Override
    public void conflict(String backend) {
        add("keepsake.conflicts", backend, 1);
    }

    @Override
    public void retried(String backend) {
        add("keepsake.retries", backend, 1);
    }

    @Override
    public void tokensDropped(String backend, long tokens) {
        add("keepsake.tokens.dropped", backend, tokens);
    }

    @Override
    public void summaryMade(String backend, long tokensFolded, long tokensSent) {
        add("keepsake.summaries.made", backend, 1);
        add("keepsake.summaries.tokens.folded", backend, tokensFolded);
        add("keepsake.summaries.tokens.sent", backend, tokensSent);
    }

    @Override
    public void summaryFailed(String backend, String kind) {
        registry.counter("keepsake.summaries.failed", "backend", backend, "kind", kind)
                .increment();
    }

    @Override
    public void memoryRemoved(String backend) {
        add("keepsake.memories.removed", backend, 1);
    }

    @Override
    public void passagePassedBy(String backend) {
        add("keepsake.passages.passed", backend, 1);
    }

    @Override
    public void turnsDropped(String backend, int turns) {
        add("keepsake.turns.dropped", backend, turns);
    }

    @Override
    public void historyOverflow(String backend) {
        add("keepsake.histories.overflowed", backend, 1);
    }

    @Override
    public void recalledByWordsAlone(String backend) {
        add("keepsake.recalls.by.words.alone", backend, 1);
    }

    private void add(String name, String backend, long amount) {
        registry.counter(name, "backend", backend).increment((double) amount);
    }
}
