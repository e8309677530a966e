package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reports the events of chat memories to the metrics sink. A failure of the sink never fails a chat. Thread-safe.
 *
 * @param metrics the metrics sink
 * @param logs returns the log that keeps a memory
 */
record Meter(Metrics metrics, Function<MemoryKey, MessageLog> logs) {

    /** Reports an append. An append that only sets a view has no messages. */
    void appended(MemoryKey key, Append append, AppendResult result) {
        int messages = append.messages().size();
        if (result.replayed()) {
            tell(key, Metrics::retried);
        } else if (messages > 0) {
            tell(key, (sink, backend) -> sink.appended(backend, messages));
        }
    }

    void conflict(MemoryKey key) {
        tell(key, Metrics::conflict);
    }

    Tail read(MemoryKey key, Tail tail) {
        tell(key, (sink, backend) -> sink.read(backend, tail.messages().size()));
        return tail;
    }

    /**
     * Reports the tokens of messages that a limit has newly left out.
     *
     * @param key the memory
     * @param before the context that was returned last, or null if it is not known
     * @param now the context that is returned now
     * @param cut whether a limit left out any message
     */
    void shown(MemoryKey key, @Nullable Context before, Context now, boolean cut) {
        if (metrics == Metrics.NONE || before == null || !cut) {
            return;
        }
        long tokens = dropped(before.logged(), now);
        if (tokens > 0) {
            tell(key, (sink, backend) -> sink.tokensDropped(backend, tokens));
        }
    }

    private void tell(MemoryKey key, BiConsumer<Metrics, String> event) {
        if (metrics != Metrics.NONE) {
            Metrics.tell(metrics, sink -> event.accept(sink, logs.apply(key).backend()));
        }
    }

    /**
     * Returns the tokens of the messages that come before all shown messages and are in no summary. Returns 0 if the
     * contexts have no message in common, as on another branch.
     */
    private static long dropped(List<LoggedMessage> before, Context now) {
        List<LoggedMessage> still = withoutSystem(now.logged());
        Set<String> ids = still.stream().map(LoggedMessage::id).collect(Collectors.toSet());
        if (before.stream().noneMatch(message -> ids.contains(message.id()))) {
            return 0;
        }
        long first = still.stream().mapToLong(LoggedMessage::sequence).min().orElse(0);
        LoggedMessage summary = now.summary();
        long covered = before.stream()
                .filter(message -> summary != null && message.id().equals(summary.id()))
                .mapToLong(LoggedMessage::sequence)
                .findFirst()
                .orElse(0);
        return withoutSystem(before).stream()
                .filter(message -> message.sequence() < first && message.sequence() > covered)
                .mapToLong(LoggedMessage::tokens)
                .sum();
    }

    private static List<LoggedMessage> withoutSystem(List<LoggedMessage> messages) {
        return messages.stream()
                .filter(message -> !(message.message() instanceof SystemMessage))
                .toList();
    }
}
