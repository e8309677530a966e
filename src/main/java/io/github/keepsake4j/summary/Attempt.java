package io.github.keepsake4j.summary;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.SummaryFailedException.Kind;
import io.github.keepsake4j.summary.TimedCall.AbandonedException;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One go at a memory: takes the lease, makes summaries until none is due, gives the lease back. */
final class Attempt {

    private static final Logger LOG = LoggerFactory.getLogger(SummaryWorker.class);
    private static final String LEASE = "summary";

    /** What an attempt works with. */
    record Tools(
            MessageLog log,
            Summarizer summarizer,
            TokenCounter counter,
            Consumer<Consumer<Metrics>> metrics,
            SummaryWorker.Options options,
            Clock clock) {}

    private final MemoryKey key;
    private final Tools tools;
    private final Runnable timedOut;
    private final String owner = Ids.next();
    private final Duration lease;
    private Instant leasedAt = Instant.EPOCH;
    private long leasedAtNanos;
    private int made;

    /**
     * Makes an attempt.
     *
     * @param timedOut called on a timer's thread when the summarizer hangs and others must go on
     */
    Attempt(MemoryKey key, Tools tools, Runnable timedOut) {
        this.key = key;
        this.tools = tools;
        this.timedOut = timedOut;
        this.lease = tools.options().lease();
    }

    /** How many summaries were made so far. */
    int made() {
        return made;
    }

    /**
     * Does it.
     *
     * @param first what to look at
     * @param more what to look at when nothing is due there any more, or null from it for nothing
     * @return false if another process has the lease, or got it meanwhile
     * @throws AbandonedException if this thread must not touch anything any more
     */
    boolean run(SummaryPlan first, Supplier<@Nullable SummaryPlan> more) throws AbandonedException {
        if (!takeLease()) {
            return false;
        }
        boolean abandoned = false;
        try {
            for (SummaryPlan plan = first; plan != null; plan = more.get()) {
                if (!finish(plan)) {
                    return false;
                }
            }
            return true;
        } catch (AbandonedException e) {
            abandoned = true;
            throw e;
        } finally {
            if (!abandoned) {
                release();
            }
        }
    }

    /** If it fails, the lease ends by itself. */
    void release() {
        try {
            tools.log().releaseLease(key, LEASE, owner);
        } catch (RuntimeException e) {
            LOG.debug(
                    "The lease on memory {} is left to expire: {}",
                    key,
                    e.getClass().getName());
        }
    }

    private boolean finish(SummaryPlan plan) throws AbandonedException {
        String covered = null;
        while (true) {
            Optional<SummaryTask> next = next(plan);
            if (next.isEmpty()) {
                return true;
            }
            SummaryTask task = next.get();
            if (task.last().id().equals(covered)) {
                // A plan that doesn't see what was just kept would ask a model for ever.
                throw new SummaryFailedException(
                        Kind.PLAN, "Memory " + key + ": the same summary was asked for twice", null);
            }
            if (!fold(task)) {
                return false;
            }
            covered = task.last().id();
        }
    }

    private Optional<SummaryTask> next(SummaryPlan plan) {
        try {
            return plan.next();
        } catch (KeepsakeException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new SummaryFailedException(
                    Kind.PLAN, "Memory " + key + ": what says when a summary is due failed", e);
        }
    }

    private boolean fold(SummaryTask task) throws AbandonedException {
        Written written = ask(task);
        Summary summary = checked(task, written);
        if (!renewLease()) {
            return false;
        }
        tools.log().putSummary(key, summary, task.epoch());
        made++;
        long folded = task.foldedTokens();
        tools.metrics().accept(sink -> sink.summaryMade(tools.options().backend(), folded, written.tokensSent()));
        return true;
    }

    private record Written(@Nullable String text, @Nullable String model, long tokensSent) {}

    /** Whatever the summarizer throws is its failure; a checked exception or an error may come from other languages. */
    private Written ask(SummaryTask task) throws AbandonedException {
        try {
            return TimedCall.run(() -> write(task), tools.options().callTimeout(), timedOut);
        } catch (AbandonedException e) {
            throw e;
        } catch (SummaryFailedException e) {
            throw new SummaryFailedException(e.kind(), "Memory " + key + ": " + e.getMessage(), e.getCause());
        } catch (Throwable e) {
            if (isInterrupt(e)) {
                Thread.currentThread().interrupt();
                throw new SummaryFailedException(
                        Kind.INTERRUPTED, "Memory " + key + ": the summarizer's thread was interrupted", e);
            }
            throw new SummaryFailedException(Kind.THROWN, "Memory " + key + ": the summarizer failed", e);
        }
    }

    private Written write(SummaryTask task) {
        String previous = task.previous() == null ? null : task.previous().text();
        List<ChatMessage> messages =
                task.messages().stream().map(LoggedMessage::message).toList();
        if (tools.summarizer() instanceof ModelSummarizer ours) {
            ModelSummarizer.Answer answer = ours.answer(previous, messages);
            return new Written(answer.text(), ours.model(), answer.tokensSent());
        }
        return new Written(
                tools.summarizer().summarize(previous, messages),
                tools.summarizer().model(),
                0);
    }

    private static boolean isInterrupt(Throwable error) {
        if (Thread.currentThread().isInterrupted()) {
            return true;
        }
        Throwable cause = error;
        for (int depth = 0; cause != null && depth < 10; depth++) {
            if (cause instanceof InterruptedException) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    private Summary checked(SummaryTask task, Written written) {
        if (written.text() == null || written.text().isBlank()) {
            throw new SummaryFailedException(Kind.BLANK, "Memory " + key + ": the summary has no text", null);
        }
        String text = written.text().strip();
        if (tools.options().reserved().test(text)) {
            throw new SummaryFailedException(
                    Kind.MARKED, "Memory " + key + ": the summary holds a mark that is reserved", null);
        }
        Summary previous = task.previous();
        TokenCounter.Count size = tools.counter().count(UserMessage.from(text));
        long source = task.foldedTokens() + (previous == null ? 0 : previous.tokens());
        if (size.tokens() >= source) {
            throw new SummaryFailedException(
                    Kind.TOO_LONG,
                    "Memory " + key + ": the summary has " + size.tokens() + " tokens in place of " + source,
                    null);
        }
        return new Summary(
                task.last().id(),
                text,
                size.tokens(),
                size.counter(),
                task.messages().size() + (previous == null ? 0 : previous.replacedMessages()),
                task.foldedTokens() + (previous == null ? 0 : previous.replacedTokens()),
                written.model(),
                tools.clock().instant().truncatedTo(ChronoUnit.MICROS));
    }

    /**
     * Once the time is over, another process may have had the lease, made this very summary and given the lease back: to
     * get it again proves nothing. A machine that slept stops one clock, a corrected time turns back the other.
     */
    private boolean renewLease() {
        long byClock = Duration.between(leasedAt, tools.clock().instant()).toNanos();
        long elapsed = Math.max(byClock, System.nanoTime() - leasedAtNanos);
        return elapsed < lease.toNanos() && takeLease();
    }

    private boolean takeLease() {
        Instant now = tools.clock().instant();
        long nanos = System.nanoTime();
        if (tools.log().acquireLease(key, LEASE, owner, lease).isEmpty()) {
            return false;
        }
        leasedAt = now;
        leasedAtNanos = nanos;
        return true;
    }
}
