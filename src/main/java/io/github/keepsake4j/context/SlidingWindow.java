package io.github.keepsake4j.context;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.Map;
import java.util.function.Function;

/**
 * Shows the newest messages or turns. Whole turns are removed, oldest first. An assistant message with tool calls and
 * the results of these calls stay together. A finished turn that alone exceeds a limit of messages is skipped: its user
 * message and its last answer are shown, and the turns before it stay. A view skips at most 1,000 messages. Immutable.
 */
public final class SlidingWindow extends LimitStrategy {

    /** The number of messages of the {@linkplain #standard standard} window. */
    public static final int STANDARD_MESSAGES = 50;

    private final Bound bound;
    private final boolean countsTurns;

    private SlidingWindow(Bound bound, boolean countsTurns) {
        this.bound = bound;
        this.countsTurns = countsTurns;
    }

    /**
     * Returns the window that holds where no limit is set: {@value #STANDARD_MESSAGES} messages that move by a third. When
     * it is full, 33 to 50 messages are shown, or fewer where a turn of several messages leaves as a whole.
     *
     * @return the strategy
     */
    public static SlidingWindow standard() {
        return withMaxMessages(STANDARD_MESSAGES).steps(THIRD);
    }

    /**
     * Creates a window of messages. The system message and the summary count towards the limit.
     *
     * @param maxMessages the maximum number of messages that are shown, 1 or more
     * @return the strategy
     * @throws InvalidInputException if the limit is less than 1
     */
    public static SlidingWindow withMaxMessages(int maxMessages) {
        return new SlidingWindow(Bound.of("maxMessages", maxMessages), false);
    }

    /**
     * Creates a window of messages whose size depends on the memory. The system message and the summary count towards
     * the limit.
     *
     * @param maxMessages returns the limit, 1 or more, for a memory's id as LangChain4j passed it; it must be fast,
     *     because it is called whenever the memory is read
     * @return the strategy; its use throws {@link InvalidInputException} if the function returns null or less than 1
     */
    public static SlidingWindow withDynamicMaxMessages(Function<Object, Integer> maxMessages) {
        return new SlidingWindow(Bound.of("maxMessages", maxMessages), false);
    }

    /**
     * Creates a window of turns. A turn is a user message and the messages that follow it.
     *
     * @param maxTurns the maximum number of turns that are shown, 1 or more
     * @return the strategy
     * @throws InvalidInputException if the limit is less than 1
     */
    public static SlidingWindow withMaxTurns(int maxTurns) {
        return new SlidingWindow(Bound.of("maxTurns", maxTurns), true);
    }

    /**
     * Lets the window move in steps. When the window is full, up to this many additional messages or turns are removed
     * at once. Until the next step, the list only grows at its end, so that a provider's prompt cache stays valid.
     * Default: no steps.
     *
     * @param step the number of messages (or of turns, in a window of turns), 1 or more and at most half the window
     * @return a copy
     * @throws InvalidInputException if the step is out of range
     */
    public SlidingWindow step(int step) {
        return new SlidingWindow(bound.stepping(step), countsTurns);
    }

    @Override
    public SlidingWindow steps(double share) {
        Bound stepping = bound.steps(share);
        return bound.isExact() ? new SlidingWindow(stepping, countsTurns) : this;
    }

    @Override
    Limit limit(Context context) {
        Object id = context.memoryId();
        Limit.Weight weight = countsTurns
                ? (turn, message) ->
                        message.id().equals(turn.user().id()) && turn.standing() != ContextTurn.Standing.REPEATED
                                ? 1
                                : 0
                : (turn, message) -> 1;
        long fixed = countsTurns ? 0 : context.opening().messages().size();
        return new Limit(weight, bound.limit(id), fixed, bound.step(id), Omission.Reason.MESSAGE_LIMIT, Map.of());
    }

    @Override
    public ReadBounds bounds(Object memoryId) {
        int limit = bound.limit(memoryId);
        // One more turn is read, so that the log determines where the newest turns begin.
        return countsTurns
                ? new ReadBounds(
                        Integer.MAX_VALUE, (int) Math.min(Integer.MAX_VALUE, limit + 1L), Long.MAX_VALUE, 0, false)
                : ReadBounds.ofMessages(limit);
    }

    /** Returns the limit and its step, for a log. */
    @Override
    public String toString() {
        return bound.toString();
    }
}
