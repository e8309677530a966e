package io.github.keepsake4j.summary;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.backend.LeaseReturns;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.SummaryFailedException.Kind;
import io.github.keepsake4j.summary.TimeLimitedCall.AbandonedException;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One attempt at a memory: it takes the lease, creates summaries until none is due, and releases the lease. */
final class SummaryAttempt {

    private static final String LEASE = "summary";

    /** The collaborators of an attempt. */
    record Tools(
            Function<MemoryKey, MessageLog> logs,
            Summarizer summarizer,
            TokenCounter counter,
            Metrics metrics,
            Refusals refusals,
            SummaryWorker.Options options,
            LeaseReturns returns) {}

    private final SummaryJobs jobs;
    private final SummaryJobs.Job job;
    private final MemoryKey key;
    private final MessageLog log;
    private final Tools tools;
    private final Consumer<SummaryAttempt> timedOut;
    private final LeaseReturns.Owned owned = new LeaseReturns.Owned(LEASE, Ids.next());
    private final Duration lease;
    private Instant leasedAt = Instant.EPOCH;
    private long leasedAtNanos;
    private int made;

    /**
     * Creates an attempt.
     *
     * @param job the memory's job, which is running
     * @param timedOut called with this attempt on a timer's thread when the summarizer hangs and another thread must continue the job
     */
    SummaryAttempt(SummaryJobs jobs, SummaryJobs.Job job, Tools tools, Consumer<SummaryAttempt> timedOut) {
        this.jobs = jobs;
        this.job = job;
        this.key = job.key;
        this.log = tools.logs().apply(key);
        this.tools = tools;
        this.timedOut = timedOut;
        this.lease = tools.options().lease();
    }

    /** Returns the number of summaries that were created so far. */
    int made() {
        return made;
    }

    /**
     * Makes the summaries that are due.
     *
     * @return false if another process holds the lease or took it in the meantime
     * @throws AbandonedException if this thread must not access anything anymore
     */
    boolean run() throws AbandonedException {
        if (!takeLease()) {
            return false;
        }
        try {
            Supplier<Optional<SummaryTask>> plan = jobs.plan(job);
            while (plan != null && finish(plan)) {
                plan = jobs.again(job);
            }
            release();
            return plan == null;
        } catch (RuntimeException | Error e) {
            release();
            throw e;
        }
    }

    /** Releases the lease. If that fails, it is released in the background. */
    void release() {
        tools.returns().release(log, key, owned, lease, () -> {});
    }

    private boolean finish(Supplier<Optional<SummaryTask>> plan) throws AbandonedException {
        Set<String> covered = new HashSet<>();
        while (true) {
            Optional<SummaryTask> next = next(plan);
            if (next.isEmpty()) {
                return true;
            }
            SummaryTask task = tools.refusals().level(key).of(next.get());
            if (!covered.add(task.last().id())) {
                // A plan that does not see the summaries that were stored would call the model forever.
                throw failure(Kind.PLAN, "the plan requested the same summary twice", null);
            }
            if (!fold(task)) {
                return false;
            }
        }
    }

    private Optional<SummaryTask> next(Supplier<Optional<SummaryTask>> plan) {
        try {
            return plan.get();
        } catch (KeepsakeException e) {
            throw e;
        } catch (RuntimeException e) {
            throw failure(Kind.PLAN, "the plan failed to decide when a summary is due", e);
        }
    }

    private SummaryFailedException failure(Kind kind, String problem, @Nullable Throwable cause) {
        return new SummaryFailedException(kind, "Memory " + key + ": " + problem, cause);
    }

    private boolean fold(SummaryTask task) throws AbandonedException {
        Written written = ask(task);
        Summary summary = checked(task, written);
        if (!renewLease()) {
            return false;
        }
        log.change(key, new Change.PutSummary(summary, task.epoch()));
        made++;
        long folded = task.foldedTokens();
        Metrics.tell(tools.metrics(), sink -> sink.summaryMade(log.backend(), folded, written.tokensSent()));
        return true;
    }

    private record Written(@Nullable String text, @Nullable String model, long tokensSent) {}

    /**
     * Calls the summarizer. Everything it throws counts as its failure: code in other languages may throw checked
     * exceptions, and errors count too.
     */
    private Written ask(SummaryTask task) throws AbandonedException {
        try {
            return TimeLimitedCall.run(() -> write(task), tools.options().callTimeout(), () -> timedOut.accept(this));
        } catch (AbandonedException e) {
            throw e;
        } catch (SummaryFailedException e) {
            if (e.kind() == Kind.TOO_LONG) {
                tools.refusals().tooLong(key, task.messages().size());
            }
            throw failure(e.kind(), String.valueOf(e.getMessage()), e.getCause());
        } catch (Throwable e) {
            if (isInterrupt(e)) {
                Thread.currentThread().interrupt();
                throw failure(Kind.INTERRUPTED, "the summarizer's thread was interrupted", e);
            }
            throw failure(Kind.THROWN, "the summarizer failed", e);
        }
    }

    private Written write(SummaryTask task) {
        Summary before = task.previous();
        List<ChatMessage> messages = task.told();
        if (messages.isEmpty() && before != null) {
            // There is no text to summarize: the previous summary covers more than before.
            return new Written(before.text(), before.model(), 0);
        }
        String previous = before == null ? null : before.text();
        Summarizer summarizer = tools.summarizer();
        ModelSummarizer.Answer answer = summarizer instanceof ModelSummarizer ours
                ? ours.answer(previous, messages, tools.refusals().level(key))
                : new ModelSummarizer.Answer(summarizer.summarize(previous, messages), 0);
        return new Written(answer.text(), summarizer.model(), answer.tokensSent());
    }

    private static boolean isInterrupt(Throwable error) {
        return Thread.currentThread().isInterrupted()
                || Stream.iterate(error, Objects::nonNull, Throwable::getCause)
                        .limit(10)
                        .anyMatch(InterruptedException.class::isInstance);
    }

    private Summary checked(SummaryTask task, Written written) {
        if (written.text() == null || written.text().isBlank()) {
            throw failure(Kind.BLANK, "the summary has no text", null);
        }
        String text = written.text().strip();
        if (tools.options().reserved().test(text)) {
            throw failure(Kind.MARKED, "the summary contains a reserved mark", null);
        }
        Summary previous = task.previous();
        TokenCounter.Count size = tools.counter().count(UserMessage.from(text));
        long source = task.foldedTokens() + (previous == null ? 0 : previous.tokens());
        if (size.tokens() >= source) {
            tools.refusals().notShorter(key, task.messages().size());
            throw failure(
                    Kind.TOO_LONG,
                    "the summary has " + size.tokens() + " tokens, not fewer than the " + source
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
                tools.options().clock().instant().truncatedTo(ChronoUnit.MICROS));
    }

    /**
     * Renews the lease unless its time is over. After that time, another process may have held the lease, made this
     * very summary and released the lease, so a successful renewal would prove nothing. Time is measured with two
     * clocks: one of them stops while a machine sleeps, and the other goes back when the time is corrected.
     */
    private boolean renewLease() {
        long byClock =
                Duration.between(leasedAt, tools.options().clock().instant()).toNanos();
        long elapsed = Math.max(byClock, System.nanoTime() - leasedAtNanos);
        return elapsed < lease.toNanos() && takeLease();
    }

    private boolean takeLease() {
        Instant now = tools.options().clock().instant();
        long nanos = System.nanoTime();
        if (!tools.returns().acquire(log, key, owned, lease)) {
            return false;
        }
        leasedAt = now;
        leasedAtNanos = nanos;
        return true;
    }
}
