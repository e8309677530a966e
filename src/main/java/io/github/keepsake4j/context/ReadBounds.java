package io.github.keepsake4j.context;

import io.github.keepsake4j.message.InvalidInputException;

/**
 * The part of a branch that a strategy needs: the newest messages up to the bound that is reached first, and a number
 * of messages at the branch's beginning.
 *
 * @param messages the number of newest messages, 1 or more
 * @param turns the number of newest turns, 1 or more
 * @param tokens the number of tokens, as counted when the messages were appended, 1 or more
 * @param oldest the number of the branch's oldest messages, 0 or more
 * @param toSummary whether an existing summary replaces all messages that it covers
 */
public record ReadBounds(int messages, int turns, long tokens, int oldest, boolean toSummary) {

    /** The reach that covers the whole branch. */
    public static final ReadBounds EVERYTHING =
            new ReadBounds(Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE, 0, false);

    /** Checks the bounds. */
    public ReadBounds {
        if (messages < 1 || turns < 1 || tokens < 1 || oldest < 0) {
            throw new InvalidInputException("reach", "bounds must be 1 or more, and oldest 0 or more");
        }
    }

    /**
     * Creates a reach that is bounded only by messages.
     *
     * @param messages the number of newest messages, 1 or more
     * @return the reach
     */
    public static ReadBounds ofMessages(int messages) {
        return new ReadBounds(messages, Integer.MAX_VALUE, Long.MAX_VALUE, 0, false);
    }

    /**
     * Creates a reach that is bounded only by tokens.
     *
     * @param tokens the number of tokens, 1 or more; the reach ends at the message that reaches this number
     * @return the reach
     */
    public static ReadBounds ofTokens(long tokens) {
        return new ReadBounds(Integer.MAX_VALUE, Integer.MAX_VALUE, tokens, 0, false);
    }

    /**
     * Returns the reach that two strategies need together. A message beyond the limit of one strategy is not shown,
     * regardless of the other strategy.
     *
     * @param other the other reach
     * @return a reach with the lower of each pair of bounds, and the greater number of oldest messages
     */
    public ReadBounds and(ReadBounds other) {
        return new ReadBounds(
                Math.min(messages, other.messages),
                Math.min(turns, other.turns),
                Math.min(tokens, other.tokens),
                Math.max(oldest, other.oldest),
                toSummary || other.toSummary);
    }
}
