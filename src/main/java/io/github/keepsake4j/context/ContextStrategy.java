package io.github.keepsake4j.context;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.List;
import java.util.Optional;

/**
 * Decides what a model sees of a memory: a pure function from the messages that were read to the messages that are
 * shown. It does not change the log. Strategies are immutable and thread-safe.
 *
 * <p>A custom strategy can be a lambda, such as {@code context -> context.keepTurns(turn -> …)}.
 */
@FunctionalInterface
public interface ContextStrategy {

    /** The share of the {@linkplain #steps steps} of {@link SlidingWindow#standard} and of {@code Keepsake.Builder.steps()}. */
    double THIRD = 1.0 / 3;

    /**
     * Selects the messages that are shown.
     *
     * @param context the turns of a branch, as far back as {@link #bounds(Object)} requires
     * @return a context that shows the same messages or fewer
     */
    Context select(Context context);

    /**
     * Sets marks that every limit of a combination must know before it decides, such as pinned turns. Marking twice is
     * the same as marking once. Default: no marks.
     *
     * @param context the context before any limit
     * @return the context with its marks
     */
    default Context mark(Context context) {
        return context;
    }

    /**
     * Returns how far a summary should reach, after all limits of a combination have decided. This method changes
     * nothing: the summary is made in the background, and a later context contains it. Default: no summary is due.
     *
     * @param selected the context that {@link #select} returned
     * @return the id of the message up to which a summary should cover everything, or empty if no summary is due
     */
    default Optional<String> foldUpTo(Context selected) {
        return Optional.empty();
    }

    /**
     * Returns whether this strategy shows summaries, so that they must be created. Default: false.
     *
     * @return true if this strategy shows summaries
     */
    default boolean summarizes() {
        return false;
    }

    /**
     * Returns how far back this strategy looks, so that no more is read than necessary. Default: the whole branch.
     *
     * @param memoryId the memory's id as LangChain4j passed it
     * @return the reach
     */
    default ReadBounds bounds(Object memoryId) {
        return ReadBounds.EVERYTHING;
    }

    /**
     * Returns the place in the log before which this strategy never shows a message. {@link #bounds(Object)} bounds the
     * first read. If messages count less than expected, or turns are skipped, space is left. Then this place is not
     * known yet, and more is read. Default: -1, for a strategy that never needs more than its bounds.
     *
     * @param context the marked context before any limit
     * @return a sequence; 0 if older messages than those that were read may be shown; -1 if the bounds are sufficient
     */
    default long shownFrom(Context context) {
        return -1;
    }

    /**
     * Returns the counter on which this strategy's limits are based. Messages are counted with it when they are
     * appended. Default: empty.
     *
     * @return the counter, or empty if the strategy does not use token counts
     */
    default Optional<TokenCounter> tokenCounter() {
        return Optional.empty();
    }

    /**
     * Returns the strategies that this one combines, so that their requirements can be provided. Default: this one. A
     * strategy that contains others returns the parts of all of them.
     *
     * @return the parts, 1 or more
     */
    default List<ContextStrategy> parts() {
        return List.of(this);
    }

    /**
     * Lets the exact limits of this strategy move in steps, so that a provider's prompt cache stays valid from one step to
     * the next ({@link SlidingWindow#step}). A limit that has a step keeps it. A share of less than 1 is no step.
     * Default: this strategy, for one without limits.
     *
     * @param share the part of each limit that may be removed at once in addition to what must leave, more than 0 and
     *     at most 0.5
     * @return a copy, or this strategy if none of its limits is exact
     * @throws InvalidInputException if the share is out of range
     */
    default ContextStrategy steps(double share) {
        return this;
    }

    /**
     * Combines two strategies. A message is shown only if both strategies show it, so that the limits of both hold, in
     * either order.
     *
     * @param other the other strategy
     * @return the combination
     */
    default ContextStrategy and(ContextStrategy other) {
        return new CombinedStrategy(this, InvalidInputException.given("other", other));
    }
}
