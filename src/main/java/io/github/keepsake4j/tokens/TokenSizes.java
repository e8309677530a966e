package io.github.keepsake4j.tokens;

import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The sizes of messages during one read, by any counter. A message that the counter counted when it was appended is not
 * counted again. Thread-safe.
 */
public final class TokenSizes {

    private final @Nullable TokenCounts counts;
    private final Object memory;

    /** Whether no remote counter may be asked. */
    private final boolean local;

    /** The remote counters that have failed during this read. One time-out is enough. */
    private final Set<String> failed = ConcurrentHashMap.newKeySet();

    TokenSizes(@Nullable TokenCounts counts, Object memory, boolean local) {
        this.counts = counts;
        this.memory = memory;
        this.local = local;
    }

    /**
     * Returns sizes that ask no remote counter, for a check while a message is appended.
     *
     * @return the same sizes, in which this library's own estimator replaces a remote counter that has not counted
     */
    public TokenSizes locally() {
        return new TokenSizes(counts, memory, true);
    }

    /**
     * Returns the size of a message.
     *
     * @param counter the counter whose tokens are meant
     * @param logged the message
     * @return the number of tokens, 0 or more
     */
    public long of(TokenCounter counter, LoggedMessage logged) {
        return logged.tokenCounter().equals(counter.name())
                ? logged.tokens()
                : TokenCounts.whole(this, counter, logged);
    }

    /**
     * Shortens a tool result. The outcome depends only on the arguments.
     *
     * @param counter the counter whose tokens are meant
     * @param logged the message that holds the result
     * @param share the maximum number of tokens of the shortened result, 1 or more
     * @return the shortened result; only the mark, if that has more tokens than the share; or the same result, if it is
     *     not a tool result
     */
    public @Nullable ShortenedResult shortened(TokenCounter counter, LoggedMessage logged, long share) {
        return logged.message() instanceof ToolExecutionResultMessage result
                ? TokenCounts.shortened(this, counter, logged, result, share)
                : null;
    }

    @Nullable
    TokenCounts counts() {
        return counts;
    }

    Object memory() {
        return memory;
    }

    boolean hasFailed(TokenCounter counter) {
        return (local && counter.isRemote()) || failed.contains(counter.name());
    }

    void failed(TokenCounter counter) {
        if (counts != null) {
            failed.add(counter.name());
        }
    }
}
