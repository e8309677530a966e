package io.github.keepsake4j.context;

import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Objects;
import java.util.Optional;

/** A combination of two strategies. Both set their marks before either of them limits the context. */
record CombinedStrategy(ContextStrategy first, ContextStrategy second) implements ContextStrategy {

    CombinedStrategy {
        Objects.requireNonNull(first, "first");
        Objects.requireNonNull(second, "second");
    }

    @Override
    public Context select(Context context) {
        Context marked = mark(context);
        Context limited = moves(this) ? marked.notBefore(begin(this, marked)) : marked;
        return second.select(first.select(limited));
    }

    /**
     * Returns the place of the oldest thing that every limit of a combination can show. A limit with a step chooses its start
     * from there on. So the start does not depend on what is before, and the other limits do not move it.
     */
    private static long begin(ContextStrategy strategy, Context marked) {
        if (strategy instanceof CombinedStrategy both) {
            return Math.max(begin(both.first, marked), begin(both.second, marked));
        }
        if (strategy instanceof SlidingWindow window) {
            return window.begin(marked);
        }
        if (strategy instanceof TokenLimit limit) {
            return limit.begin(marked);
        }
        return strategy instanceof Summarization summaries ? summaries.begin(marked) : 0;
    }

    @Override
    public Context mark(Context context) {
        return second.mark(first.mark(context));
    }

    @Override
    public Optional<String> foldUpTo(Context selected) {
        return first.foldUpTo(selected).or(() -> second.foldUpTo(selected));
    }

    @Override
    public boolean summarizes() {
        return first.summarizes() || second.summarizes();
    }

    @Override
    public Reach reach(Object memoryId) {
        Reach both = both(this, memoryId);
        return moves(this) ? both.andMessages(1) : both;
    }

    private static Reach both(ContextStrategy strategy, Object memoryId) {
        return strategy instanceof CombinedStrategy both
                ? both(both.first, memoryId).and(both(both.second, memoryId))
                : strategy.reach(memoryId);
    }

    /**
     * Returns whether a limit moves in steps. It does so only if something is left out, which one more message tells where
     * the others fit exactly.
     */
    private static boolean moves(ContextStrategy strategy) {
        if (strategy instanceof CombinedStrategy both) {
            return moves(both.first) || moves(both.second);
        }
        return (strategy instanceof SlidingWindow window && window.moves())
                || (strategy instanceof TokenLimit limit && limit.moves());
    }

    @Override
    public long shownFrom(Context context) {
        return Math.max(first.shownFrom(context), second.shownFrom(context));
    }

    @Override
    public Optional<TokenCounter> tokenCounter() {
        return first.tokenCounter().or(second::tokenCounter);
    }
}
