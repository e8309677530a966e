package io.github.keepsake4j.context;

import io.github.keepsake4j.context.Context.Omission;
import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.ArrayList;
import java.util.List;

/**
 * Shows the newest messages or turns. Whole turns leave, oldest first; an assistant message with tool calls and its
 * results stay together. Immutable.
 */
public final class SlidingWindow implements ContextStrategy {

    private final int maxMessages;
    private final int maxTurns;

    private SlidingWindow(int maxMessages, int maxTurns) {
        this.maxMessages = maxMessages;
        this.maxTurns = maxTurns;
    }

    /**
     * A window of messages. The system message counts.
     *
     * @param maxMessages how many messages are shown at most, 1 or more
     * @return the strategy
     * @throws InvalidInputException if the limit is less than 1
     */
    public static SlidingWindow withMaxMessages(int maxMessages) {
        if (maxMessages < 1) {
            throw new InvalidInputException("maxMessages", "must be 1 or more, is " + maxMessages);
        }
        return new SlidingWindow(maxMessages, Integer.MAX_VALUE);
    }

    /**
     * A window of turns. A turn is a user message and what followed it.
     *
     * @param maxTurns how many turns are shown at most, 1 or more
     * @return the strategy
     * @throws InvalidInputException if the limit is less than 1
     */
    public static SlidingWindow withMaxTurns(int maxTurns) {
        if (maxTurns < 1) {
            throw new InvalidInputException("maxTurns", "must be 1 or more, is " + maxTurns);
        }
        return new SlidingWindow(Integer.MAX_VALUE, maxTurns);
    }

    @Override
    public Context select(Context context) {
        int surplus = Math.max(0, context.turns().size() - maxTurns);
        List<Omission> omitted = new ArrayList<>(context.omitted());
        for (Turn turn : context.turns().subList(0, surplus)) {
            turn.messages().forEach(message -> omitted.add(new Omission(message, Reason.MESSAGE_LIMIT)));
        }
        List<Turn> turns = context.turns().subList(surplus, context.turns().size());
        return new Trimmer(message -> 1, maxMessages, Reason.MESSAGE_LIMIT)
                .trim(new Context(context.system(), turns, omitted, context.overflow()), 0);
    }

    @Override
    public Reach reach() {
        return new Reach(maxMessages, maxTurns, Long.MAX_VALUE);
    }
}
