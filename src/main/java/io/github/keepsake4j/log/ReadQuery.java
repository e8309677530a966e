package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;
import org.jspecify.annotations.Nullable;

/**
 * The bounds of a read. Made by {@link #newest(int)} and narrowed by the other methods.
 *
 * @param from the id of the message that the branch ends in, or null for the head
 * @param after the id of an ancestor to stop behind, or null for none
 * @param maxMessages how many messages at most; 0 reads only what stands beside them
 * @param maxTokens stop as soon as the messages read so far hold this many tokens
 * @param toSummary whether to stop behind the message that the newest summary on the branch covers up to
 * @param oldest how many of the branch's oldest messages to return beside them; see {@link #alsoOldest}
 */
public record ReadQuery(
        @Nullable String from, @Nullable String after, int maxMessages, long maxTokens, boolean toSummary, int oldest) {

    /** Checks the parts. */
    public ReadQuery {
        if (maxMessages < 0) {
            throw new InvalidInputException("maxMessages", "must not be negative");
        }
        if (maxTokens < 0) {
            throw new InvalidInputException("maxTokens", "must not be negative");
        }
        if (oldest < 0) {
            throw new InvalidInputException("oldest", "must not be negative");
        }
    }

    /**
     * Reads the newest messages of the current branch.
     *
     * @param maxMessages how many at most, 0 or more
     * @return the query
     */
    public static ReadQuery newest(int maxMessages) {
        return new ReadQuery(null, null, maxMessages, Long.MAX_VALUE, false, 0);
    }

    /**
     * Reads the whole current branch.
     *
     * @return the query
     */
    public static ReadQuery wholeBranch() {
        return newest(Integer.MAX_VALUE);
    }

    /**
     * Reads the branch that ends in a message.
     *
     * @param messageId the message's id
     * @return a copy
     */
    public ReadQuery endingIn(String messageId) {
        return new ReadQuery(messageId, after, maxMessages, maxTokens, toSummary, oldest);
    }

    /**
     * Stops behind an ancestor.
     *
     * @param messageId the ancestor's id, or null for none
     * @return a copy
     */
    public ReadQuery after(@Nullable String messageId) {
        return new ReadQuery(from, messageId, maxMessages, maxTokens, toSummary, oldest);
    }

    /**
     * Stops when enough tokens are read: the oldest message is the one that reaches the limit.
     *
     * @param limit tokens, 0 or more
     * @return a copy
     */
    public ReadQuery upToTokens(long limit) {
        return new ReadQuery(from, after, maxMessages, limit, toSummary, oldest);
    }

    /**
     * Stops at the newest summary on the branch.
     *
     * @return a copy
     */
    public ReadQuery upToSummary() {
        return new ReadQuery(from, after, maxMessages, maxTokens, true, oldest);
    }

    /**
     * Sets how many messages at most.
     *
     * @param limit 0 or more
     * @return a copy
     */
    public ReadQuery atMost(int limit) {
        return new ReadQuery(from, after, limit, maxTokens, toSummary, oldest);
    }

    /**
     * Also returns the oldest messages, as {@link Tail#oldest()}: those with which the branch begins, or which follow the
     * ancestor that {@link #after} names. The other bounds do not touch them: not {@code maxMessages}, not
     * {@code maxTokens}, not {@code toSummary}. They may be messages that the read returns as newest ones too. Beside what
     * is returned this costs a look-up or two for each fork on the branch, however long the branch is.
     *
     * @param n how many at most, 0 or more; 0, which is what a query begins with, for none
     * @return a copy
     */
    public ReadQuery alsoOldest(int n) {
        return new ReadQuery(from, after, maxMessages, maxTokens, toSummary, n);
    }
}
