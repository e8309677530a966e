package io.github.keepsake4j.tokens;

import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.message.LoggedMessage;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The counts of messages that another counter counted when they were appended. A message is counted once by each
 * counter that needs it, and the counts are kept within a bound. They are not written to the log. Thread-safe.
 */
final class TokenCounts {

    /** The maximum number of counts that are kept: those of about a thousand conversations, in about ten megabytes. */
    private static final int MOST = 50_000;

    /** The number of reads that call a remote counter again for a message that it could not count. */
    private static final int MOST_FAILURES = 3;

    /** The share of a message that is not shortened. */
    private static final long WHOLE = -1;

    /**
     * The key of a count. The time and the sequence distinguish messages that used an id before and after an erasure.
     *
     * @param memory the memory
     * @param id the message's id
     * @param share the number of tokens to which a tool result was shortened, or {@link #WHOLE}
     * @param later whether a question is counted as later requests show it
     */
    private record Key(
            Object memory, String id, long sequence, Instant createdAt, String counter, long share, boolean later) {
        static Key of(Object memory, LoggedMessage logged, TokenCounter counter, long share) {
            return new Key(
                    memory,
                    logged.id(),
                    logged.sequence(),
                    logged.createdAt(),
                    counter.name(),
                    share,
                    logged.hasLaterForm());
        }
    }

    /**
     * A count.
     *
     * @param tokens the number of tokens
     * @param media the places of a shortened result's contents that stay in addition to its text
     * @param chars the number of characters of a shortened result's text that are shown
     * @param failures the number of failures in which this library's own estimator replaced the counter; 0 if the
     * counter has counted
     */
    private record Known(long tokens, Set<Integer> media, int chars, int failures) {

        static Known whole(long tokens, int failures) {
            return new Known(tokens, Set.of(), 0, failures);
        }
    }

    private final Map<Key, Known> known = Collections.synchronizedMap(new LinkedHashMap<Key, Known>(16, 0.75f, true) {

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Known> eldest) {
            return size() > MOST;
        }
    });

    private final Supplier<RemoteTime> times;

    /**
     * Creates counts.
     *
     * @param executor calls remote counters
     * @param nanoTime the clock of the pause of a remote counter that did not answer in time
     */
    TokenCounts(Executor executor, LongSupplier nanoTime) {
        this.times = () -> new RemoteTime(executor, nanoTime);
    }

    /**
     * Returns the sizes for one read of a memory.
     *
     * @param memory the memory's key
     * @return new sizes; if a remote counter fails, they do not call it again
     */
    TokenSizes of(Object memory) {
        return new TokenSizes(this, memory, false, times.get());
    }

    /** Counts a whole message. */
    static long whole(TokenSizes sizes, TokenCounter counter, LoggedMessage logged) {
        TokenCounts counts = sizes.counts;
        Key key = Key.of(sizes.memory, logged, counter, WHOLE);
        Known before = counts == null ? null : counts.known.get(key);
        if (before != null
                && (before.failures() == 0 || before.failures() >= MOST_FAILURES || sizes.hasFailed(counter))) {
            return before.tokens();
        }
        Known now = sizes.hasFailed(counter)
                ? Known.whole(standIn(logged), 1)
                : count(sizes, counter, logged, before == null ? 0 : before.failures());
        if (counts != null) {
            counts.known.put(key, now);
        }
        return now.tokens();
    }

    /** Shortens a tool result to a number of tokens. */
    static ShortenedResult shortened(
            TokenSizes sizes,
            TokenCounter counter,
            LoggedMessage logged,
            ToolExecutionResultMessage whole,
            long share) {
        TokenCounts counts = sizes.counts;
        Key key = Key.of(sizes.memory, logged, counter, share);
        Known result = counts == null ? null : counts.known.get(key);
        if (result == null) {
            result = shorten(counter, whole, share, Math.max(1, sizes.of(counter, logged)));
            if (counts != null) {
                counts.known.put(key, result);
            }
        }
        return new ShortenedResult(ShortenedResult.of(whole, result.media(), result.chars()), result.tokens());
    }

    private static Known count(TokenSizes sizes, TokenCounter counter, LoggedMessage logged, int failures) {
        TokenCounter.Count count = counter.count(logged.later(), sizes.time());
        long tokens = TokenSizes.size(counter, count);
        if (count.counter().equals(counter.name())) {
            return Known.whole(tokens, 0);
        }
        // A local counter refuses the same message every time. A remote one may have been unavailable.
        if (counter.isRemote()) {
            sizes.failed(counter);
        }
        return Known.whole(tokens, counter.isRemote() ? failures + 1 : MOST_FAILURES);
    }

    /**
     * Does not call a remote counter, because the search counts several texts, and the result must not depend on a
     * server.
     */
    private static Known shorten(TokenCounter counter, ToolExecutionResultMessage whole, long share, long size) {
        Predicate<ToolExecutionResultMessage> fits = result -> tokens(counter, result) <= share;
        Set<Integer> media = ShortenedResult.media(whole, fits);
        long beside = media.isEmpty() ? 0 : tokens(counter, ShortenedResult.of(whole, media, 0));
        double part = (double) (share - beside) / Math.max(1, size - beside);
        int chars = ShortenedResult.mostChars(whole, media, fits, part);
        return new Known(tokens(counter, ShortenedResult.of(whole, media, chars)), media, chars, 0);
    }

    private static long tokens(TokenCounter counter, ToolExecutionResultMessage result) {
        return TokenSizes.size(counter, counter.forAppends().count(result));
    }

    private static long standIn(LoggedMessage logged) {
        TokenCounter standard = TokenCounter.standard();
        int tokens = logged.tokenCounter().equals(standard.name())
                ? logged.tokens()
                : standard.count(logged.later()).tokens();
        return (long) TokenCounter.STAND_IN_FACTOR * tokens;
    }
}
