package io.github.keepsake4j.context;

import io.github.keepsake4j.message.InvalidInputException;

/**
 * How far back a strategy looks: up to whichever bound is met first.
 *
 * @param messages messages, 1 or more
 * @param turns turns, 1 or more
 * @param tokens tokens as they were counted when the messages were appended, 1 or more
 */
public record Reach(int messages, int turns, long tokens) {

    /** The whole branch. */
    public static final Reach EVERYTHING = new Reach(Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE);

    /** Checks the bounds. */
    public Reach {
        if (messages < 1 || turns < 1 || tokens < 1) {
            throw new InvalidInputException("reach", "bounds must be 1 or more");
        }
    }

    /**
     * The nearer of two.
     *
     * @param other the other one
     * @return the smaller bounds
     */
    public Reach and(Reach other) {
        return new Reach(
                Math.min(messages, other.messages), Math.min(turns, other.turns), Math.min(tokens, other.tokens));
    }
}
