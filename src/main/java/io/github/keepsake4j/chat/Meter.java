package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.metrics.Metrics;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Tells the metrics what chat memories do. Thread-safe.
 *
 * @param metrics what hears of it
 * @param backend the log's name
 */
record Meter(Metrics metrics, String backend) {

    static Meter of(Metrics metrics, MessageLog log) {
        return new Meter(metrics, metrics == Metrics.NONE ? "" : log.backend());
    }

    /** An append that only sets what is shown holds no messages. */
    void appended(Append append, AppendResult result) {
        int messages = append.messages().size();
        if (result.replayed()) {
            Metrics.Guard.tell(metrics, sink -> sink.retried(backend));
        } else if (messages > 0) {
            Metrics.Guard.tell(metrics, sink -> sink.appended(backend, messages));
        }
    }

    void conflict() {
        Metrics.Guard.tell(metrics, sink -> sink.conflict(backend));
    }

    Tail read(Tail tail) {
        int messages = tail.messages().size();
        Metrics.Guard.tell(metrics, sink -> sink.read(backend, messages));
        return tail;
    }

    /**
     * Counts what a limit has newly put out of sight.
     *
     * @param before what was shown last, or null if nobody remembers
     * @param now what is shown now
     * @param cut whether a limit left out anything at all
     */
    void shown(@Nullable Context before, Context now, boolean cut) {
        if (metrics == Metrics.NONE || before == null || !cut) {
            return;
        }
        long tokens = dropped(before.logged(), now);
        if (tokens > 0) {
            Metrics.Guard.tell(metrics, sink -> sink.tokensDropped(backend, tokens));
        }
    }

    /** What stands before all that is shown now and is in no summary. Another branch has nothing in common with before. */
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
