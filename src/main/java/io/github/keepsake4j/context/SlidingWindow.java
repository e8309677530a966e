package io.github.keepsake4j.context;

import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.context.Turn.Standing;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.function.Function;

/**
 * Shows the newest messages or turns. Whole turns leave, oldest first; an assistant message with tool calls and its
 * results stay together. Immutable.
 */
public final class SlidingWindow implements ContextStrategy {

    private final Bound bound;
    private final boolean countsTurns;

    private SlidingWindow(Bound bound, boolean countsTurns) {
        this.bound = bound;
        this.countsTurns = countsTurns;
    }

    /**
     * A window of messages. The system message and the summary count.
     *
     * @param maxMessages how many messages are shown at most, 1 or more
     * @return the strategy
     * @throws InvalidInputException if the limit is less than 1
     */
    public static SlidingWindow withMaxMessages(int maxMessages) {
        return new SlidingWindow(Bound.of("maxMessages", maxMessages), false);
    }

    /**
     * A window of messages whose size depends on the memory. The system message and the summary count.
     *
     * @param maxMessages gives the limit, 1 or more, for a memory's id as LangChain4j gave it; fast, since it is asked
     *     whenever the memory is read
     * @return the strategy, whose use throws {@link InvalidInputException} if the function gives null or less than 1
     */
    public static SlidingWindow withDynamicMaxMessages(Function<Object, Integer> maxMessages) {
        return new SlidingWindow(Bound.of("maxMessages", maxMessages), false);
    }

    /**
     * A window of turns. A turn is a user message and what followed it.
     *
     * @param maxTurns how many turns are shown at most, 1 or more
     * @return the strategy
     * @throws InvalidInputException if the limit is less than 1
     */
    public static SlidingWindow withMaxTurns(int maxTurns) {
        return new SlidingWindow(Bound.of("maxTurns", maxTurns), true);
    }

    /**
     * Lets the window move in steps: when it is full, up to this much more than needed leaves at once. Until the next step
     * what is shown only grows at its end, so that a provider's prompt cache holds.
     *
     * @param step messages (or turns, in a window of turns), 1 or more and at most half the window
     * @return a copy
     * @throws InvalidInputException if the step is out of its range
     */
    public SlidingWindow step(int step) {
        return new SlidingWindow(bound.stepping(step), countsTurns);
    }

    @Override
    public Context select(Context context) {
        Object id = context.memoryId();
        Limit.Weight weight = countsTurns
                ? (turn, message) ->
                        message.id().equals(turn.user().id()) && turn.standing() != Standing.REPEATED ? 1 : 0
                : (turn, message) -> 1;
        return new Limit(weight, bound.limit(id), bound.step(id), Reason.MESSAGE_LIMIT)
                .apply(context, countsTurns ? 0 : context.beside().size());
    }

    @Override
    public Reach reach(Object memoryId) {
        int limit = bound.limit(memoryId);
        // One turn more, so that it is the log that says where the newest ones begin.
        return countsTurns
                ? new Reach(Integer.MAX_VALUE, (int) Math.min(Integer.MAX_VALUE, limit + 1L), Long.MAX_VALUE, 0, false)
                : Reach.ofMessages(limit);
    }
}
