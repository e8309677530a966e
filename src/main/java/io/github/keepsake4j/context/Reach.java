package io.github.keepsake4j.context;

import io.github.keepsake4j.message.InvalidInputException;

/**
 * How far back a strategy looks: up to whichever bound is met first, and at the branch's beginning.
 *
 * @param messages messages, 1 or more
 * @param turns turns, 1 or more
 * @param tokens tokens as they were counted when the messages were appended, 1 or more
 * @param oldest how many of the branch's oldest messages, 0 or more
 * @param toSummary whether a summary, where there is one, stands for everything that it covers
 */
public record Reach(int messages, int turns, long tokens, int oldest, boolean toSummary) {

    /** The whole branch. */
    public static final Reach EVERYTHING = new Reach(Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE, 0, false);

    /** Checks the bounds. */
    public Reach {
        if (messages < 1 || turns < 1 || tokens < 1 || oldest < 0) {
            throw new InvalidInputException("reach", "bounds must be 1 or more, and oldest 0 or more");
        }
    }

    /**
     * Bounds messages only.
     *
     * @param messages how many of the newest, 1 or more
     * @return the reach
     */
    public static Reach ofMessages(int messages) {
        return new Reach(messages, Integer.MAX_VALUE, Long.MAX_VALUE, 0, false);
    }

    /**
     * Bounds tokens only.
     *
     * @param tokens back to the message that reaches this count, 1 or more
     * @return the reach
     */
    public static Reach ofTokens(long tokens) {
        return new Reach(Integer.MAX_VALUE, Integer.MAX_VALUE, tokens, 0, false);
    }

    /**
     * What two strategies together need: what is beyond one limit is not shown, whatever the other one says.
     *
     * @param other the other one
     * @return the nearer bounds, and the greater number of oldest messages
     */
    public Reach and(Reach other) {
        return new Reach(
                Math.min(messages, other.messages),
                Math.min(turns, other.turns),
                Math.min(tokens, other.tokens),
                Math.max(oldest, other.oldest),
                toSummary || other.toSummary);
    }
}
