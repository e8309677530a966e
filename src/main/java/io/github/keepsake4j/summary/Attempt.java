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

/** One attempt at a memory: it takes the lease, makes summaries until none is due, and releases the lease. */
final class Attempt {

    private static final Logger LOG = LoggerFactory.getLogger(SummaryWorker.class);
    private static final String LEASE = "summary";

    /** The collaborators of an attempt. */
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
     * Creates an attempt.
     *
     * @param timedOut called on a timer's thread when the summarizer hangs and another thread must continue the job
     */
    Attempt(MemoryKey key, Tools tools, Runnable timedOut) {
        this.key = key;
        this.tools = tools;
        this.timedOut = timedOut;
        this.lease = tools.options().lease();
    }

    /** Returns the number of summaries that were made so far. */
    int made() {
        return made;
    }

    /**
     * Makes the summaries that are due.
     *
     * @param first the plan to start with
     * @param more returns the next plan when nothing is due in the current one, or null if there is none
     * @return false if another process holds the lease or took it in the meantime
     * @throws AbandonedException if this thread must not access anything anymore
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

    /** Releases the lease. If that fails, the lease expires. */
    void release() {
        try {
            tools.log().releaseLease(key, LEASE, owner);
        } catch (RuntimeException e) {
            LOG.debug(
                    "The lease on memory {} could not be released and will expire: {}",
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
                // A plan that does not see the summary that was just stored would call the model forever.
                throw new SummaryFailedException(
                        Kind.PLAN, "Memory " + key + ": the plan requested the same summary twice", null);
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
                    Kind.PLAN, "Memory " + key + ": the plan that decides when a summary is due failed", e);
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

    /**
     * Calls the summarizer. Everything it throws counts as its failure: code in other languages may throw checked
     * exceptions, and errors count too.
     */
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
                    Kind.MARKED, "Memory " + key + ": the summary contains a reserved mark", null);
        }
        Summary previous = task.previous();
        TokenCounter.Count size = tools.counter().count(UserMessage.from(text));
        long source = task.foldedTokens() + (previous == null ? 0 : previous.tokens());
        if (size.tokens() >= source) {
            throw new SummaryFailedException(
                    Kind.TOO_LONG,
                    "Memory " + key + ": the summary has " + size.tokens() + " tokens, not fewer than the " + source
                            + " tokens that it replaces",
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
     * Renews the lease unless its time is over. After that time, another process may have held the lease, made this
     * very summary and released the lease, so a successful renewal would prove nothing. Time is measured with two
     * clocks: one of them stops while a machine sleeps, and the other goes back when the time is corrected.
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
