package io.github.keepsake4j.context;

import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Optional;

/**
 * Decides what a model sees of a memory: a pure function from what was read to what is shown. The log is not touched.
 * Strategies are immutable and safe across threads.
 *
 * <p>A strategy of one's own is a lambda, such as {@code context -> context.keepTurns(turn -> …)}.
 */
@FunctionalInterface
public interface ContextStrategy {

    /**
     * Selects what is shown.
     *
     * @param context the turns of a branch, as far as {@link #reach(Object)} asks for
     * @return a context that shows the same or less
     */
    Context select(Context context);

    /**
     * Marks what every limit of a combination must know before it decides, such as pinned turns. Marking twice is the same
     * as marking once.
     *
     * @param context the context before any limit
     * @return the context with its marks; the same unless a strategy says otherwise
     */
    default Context mark(Context context) {
        return context;
    }

    /**
     * Says what should be summarized, after all limits of a combination have decided. It changes nothing: somebody makes
     * the summary in the background, and a later context has it.
     *
     * @param selected the context that {@link #select} gave
     * @return the id of the message up to which everything should be covered by a summary, or empty if nothing is due;
     *     empty unless a strategy says otherwise
     */
    default Optional<String> foldUpTo(Context selected) {
        return Optional.empty();
    }

    /**
     * Tells whether this strategy shows summaries, so that somebody must make them.
     *
     * @return whether it does; false unless a strategy says otherwise
     */
    default boolean summarizes() {
        return false;
    }

    /**
     * Says how far back this strategy ever looks, so that no more is read.
     *
     * @param memoryId the memory's id as LangChain4j gave it
     * @return the reach; everything unless a strategy says otherwise
     */
    default Reach reach(Object memoryId) {
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
     * Combines two strategies: what both show is shown, so that the limits of both hold, in either order.
     *
     * @param other the other strategy
     * @return the combination
     */
    default ContextStrategy and(ContextStrategy other) {
        return new CombinedStrategy(this, other);
    }
}
