package io.github.keepsake4j.tokens;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The sizes of messages during one read, by any counter. A message that the counter counted when it was appended is not
 * counted again. Thread-safe.
 */
public final class TokenSizes {

    /** Sizes without a memory, which are not kept. */
    public static final TokenSizes NOT_KEPT = new TokenSizes(null, "", false, null);

    final @Nullable TokenCounts counts;
    final Object memory;

    /** Whether no remote counter may be asked. */
    private final boolean local;

    /** The remote counters that have failed during this read. One time-out is enough. */
    private final Set<String> failed = ConcurrentHashMap.newKeySet();

    /** The time for all calls, or null if each has its own. */
    private final @Nullable RemoteTime time;

    TokenSizes(@Nullable TokenCounts counts, Object memory, boolean local, @Nullable RemoteTime time) {
        this.counts = counts;
        this.memory = memory;
        this.local = local;
        this.time = time;
    }

    /**
     * Keeps the sizes of many memories' messages, within a bound. Remote counters are called on threads of their own.
     *
     * @return returns new sizes for one read of a memory
     */
    public static Function<Object, TokenSizes> kept() {
        return kept(RemoteTime::onNewThread, System::nanoTime);
    }

    /**
     * Keeps the sizes of many memories' messages, within a bound.
     *
     * @param executor calls remote counters
     * @param nanoTime the clock of the pause of a remote counter that did not answer in time
     * @return returns new sizes for one read of a memory; if a remote counter fails, they do not call it again
     */
    public static Function<Object, TokenSizes> kept(Executor executor, LongSupplier nanoTime) {
        return new TokenCounts(executor, nanoTime)::of;
    }

    /**
     * Returns sizes that call no remote counter, for a check while a message is appended.
     *
     * @return the same sizes, in which this library's own estimator replaces a remote counter that has not counted
     */
    public TokenSizes locally() {
        return new TokenSizes(counts, memory, true, time);
    }

    /**
     * Returns the size of a message.
     *
     * @param counter the counter of the tokens
     * @param logged the message
     * @return the number of tokens, 0 or more
     */
    public long of(TokenCounter counter, LoggedMessage logged) {
        return logged.tokenCounter().equals(counter.name())
                ? logged.tokens()
                : TokenCounts.whole(this, counter, logged);
    }

    /**
     * Returns the size of a message that is not stored in this form.
     *
     * @param counter the counter of the tokens
     * @param message the message
     * @return the number of tokens, 0 or more
     */
    public long of(TokenCounter counter, ChatMessage message) {
        return size(counter, asked(counter).count(message, time()));
    }

    /**
     * Returns the size of a text.
     *
     * @param counter the counter of the tokens
     * @param text the text
     * @return the number of tokens, 0 or more
     */
    public long of(TokenCounter counter, String text) {
        return size(counter, asked(counter).count(text, time()));
    }

    /**
     * Returns the tokens of a list of messages in addition to the messages.
     *
     * @param counter the counter of the tokens
     * @return the number of tokens, 0 or more
     */
    public long perList(TokenCounter counter) {
        return asked(counter).tokensPerList(time());
    }

    private TokenCounter asked(TokenCounter counter) {
        return local ? counter.forAppends() : counter;
    }

    /** Returns a count as a size. If another counter replaced one that failed, the size is an upper estimate. */
    static long size(TokenCounter counter, TokenCounter.Count count) {
        return count.counter().equals(counter.name())
                ? count.tokens()
                : (long) TokenCounter.STAND_IN_FACTOR * count.tokens();
    }

    /**
     * Shortens a tool result. The outcome depends only on the arguments.
     *
     * @param counter the counter of the tokens
     * @param logged the message with the result
     * @param share the maximum number of tokens of the shortened result, 1 or more
     * @return the shortened result; only the mark, if that has more tokens than the share; or the same result, if it is
     *     not a tool result
     */
    public @Nullable ShortenedResult shortened(TokenCounter counter, LoggedMessage logged, long share) {
        return logged.message() instanceof ToolExecutionResultMessage result
                ? TokenCounts.shortened(this, counter, logged, result, share)
                : null;
    }

    RemoteTime time() {
        return time == null ? RemoteTime.alone() : time;
    }

    boolean hasFailed(TokenCounter counter) {
        return counter.isRemote() && (local || failed.contains(counter.name()) || time().isPaused(counter));
    }

    void failed(TokenCounter counter) {
        if (counts != null) {
            failed.add(counter.name());
        }
    }
}
