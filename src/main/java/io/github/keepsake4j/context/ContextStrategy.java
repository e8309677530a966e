package io.github.keepsake4j.context;

import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Optional;

/**
 * Decides what a model sees of a memory: a pure function from what was read to what is shown. The log is not touched.
 * Strategies are immutable and safe across threads.
 */
@FunctionalInterface
public interface ContextStrategy {

    /**
     * Selects what is shown.
     *
     * @param context the newest turns of a branch, as far as {@link #reach()} asks for
     * @return a context with the same or fewer messages
     */
    Context select(Context context);

    /**
     * Says how far back this strategy ever looks, so that no more is read.
     *
     * @return the reach; everything unless a strategy says otherwise
     */
    default Reach reach() {
        return Reach.EVERYTHING;
    }

    /**
     * Returns the counter that this strategy's limits are meant in; messages are counted with it when they are appended.
     *
     * @return the counter, or empty if the strategy does not look at tokens
     */
    default Optional<TokenCounter> tokenCounter() {
        return Optional.empty();
    }

    /**
     * Combines two strategies: the other one selects from what this one shows, so that the limits of both hold.
     *
     * @param other the other strategy
     * @return the combination
     */
    default ContextStrategy and(ContextStrategy other) {
        return new CombinedStrategy(this, other);
    }
}
