package io.github.keepsake4j.chat;

import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.SummaryWorker;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.turn.TurnLeases;
import io.github.keepsake4j.turn.TurnPolicy;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Makes chat memories that keep no requests, have no listener and show no long-term memories. */
public final class BareMemories {

    private BareMemories() {}

    public static ChatMemories of(
            Function<MemoryKey, MessageLog> logs,
            Function<Object, MemoryKey> ids,
            ContextStrategy strategy,
            TokenCounter counter,
            Executor executor,
            @Nullable SummaryWorker worker,
            Metrics metrics) {
        return of(logs, ids, strategy, counter, executor, worker, metrics, System::nanoTime);
    }

    public static ChatMemories of(
            Function<MemoryKey, MessageLog> logs,
            Function<Object, MemoryKey> ids,
            ContextStrategy strategy,
            TokenCounter counter,
            Executor executor,
            @Nullable SummaryWorker worker,
            Metrics metrics,
            LongSupplier nanoTime) {
        return new ChatMemories(new ChatSettings(
                logs,
                ids,
                strategy,
                counter,
                executor,
                worker,
                metrics,
                false,
                false,
                null,
                ChatSettings.Remembering.NONE,
                Duration.ofMinutes(10),
                nanoTime,
                new TurnLeases(
                        logs,
                        TurnPolicy.KEEP,
                        new TurnLeases.Times(
                                Duration.ofSeconds(30),
                                Duration.ofMinutes(10),
                                Duration.ofSeconds(30),
                                pause -> executor,
                                System::nanoTime)),
                null,
                (key, task) -> task));
    }
}
