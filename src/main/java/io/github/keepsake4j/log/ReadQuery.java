package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import org.jspecify.annotations.Nullable;

/**
 * The bounds of a read. Created by {@link #newest(int)} and narrowed by the other methods.
 *
 * @param from the id of the message that the branch ends in, or null for the head
 * @param after the id of an ancestor at which the read stops; the ancestor is not returned; null for none
 * @param maxMessages the maximum number of messages; with 0, only the other components of the {@link Tail} are read
 * @param maxTokens the read stops as soon as the messages read so far hold this many tokens
 * @param toSummary whether the read stops behind the message that the newest summary on the branch covers up to
 * @param oldest the number of the branch's oldest messages that are returned in addition; see {@link #alsoOldest}
 * @param reference the name of the named branch that is read instead of the current one, or null; see {@link #onBranch}
 */
public record ReadQuery(
        @Nullable String from,
        @Nullable String after,
        int maxMessages,
        long maxTokens,
        boolean toSummary,
        int oldest,
        @Nullable String reference) {

    /** Checks the components. */
    public ReadQuery {
        InvalidInputException.checkAtLeast("maxMessages", 0, maxMessages);
        InvalidInputException.checkAtLeast("maxTokens", 0, maxTokens);
        InvalidInputException.checkAtLeast("oldest", 0, oldest);
        if (reference != null) {
            Ids.check("branch name", reference);
        }
    }

    /**
     * Creates a query for the newest messages of the current branch.
     *
     * @param maxMessages the maximum number of messages, 0 or more
     * @return the query
     * @throws InvalidInputException if the number is negative
     */
    public static ReadQuery newest(int maxMessages) {
        return new ReadQuery(null, null, maxMessages, Long.MAX_VALUE, false, 0, null);
    }

    /**
     * Creates a query for the whole current branch.
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
        return new ReadQuery(messageId, after, maxMessages, maxTokens, toSummary, oldest, reference);
    }

    /**
     * Stops behind an ancestor.
     *
     * @param messageId the ancestor's id, or null for none
     * @return a copy
     */
    public ReadQuery after(@Nullable String messageId) {
        return new ReadQuery(from, messageId, maxMessages, maxTokens, toSummary, oldest, reference);
    }

    /**
     * Stops when enough tokens are read. The oldest message that is returned is the one that reaches the limit.
     *
     * @param limit the number of tokens, 0 or more
     * @return a copy
     * @throws InvalidInputException if the limit is negative
     */
    public ReadQuery upToTokens(long limit) {
        return new ReadQuery(from, after, maxMessages, limit, toSummary, oldest, reference);
    }

    /**
     * Stops at the newest summary on the branch.
     *
     * @return a copy
     */
    public ReadQuery upToSummary() {
        return new ReadQuery(from, after, maxMessages, maxTokens, true, oldest, reference);
    }

    /**
     * Sets the maximum number of messages.
     *
     * @param limit the maximum number of messages, 0 or more
     * @return a copy
     * @throws InvalidInputException if the limit is negative
     */
    public ReadQuery atMost(int limit) {
        return new ReadQuery(from, after, limit, maxTokens, toSummary, oldest, reference);
    }

    /**
     * Also returns the oldest messages, as {@link Tail#oldest()}. These are the messages with which the branch begins,
     * or those that follow the ancestor that {@link #after} names. The bounds {@code maxMessages}, {@code maxTokens}
     * and {@code toSummary} do not apply to them. A message may be returned both as one of the oldest and as one of the
     * newest. In addition to the returned messages, this costs one or two look-ups for each fork on the branch,
     * regardless of the branch's length.
     *
     * @param n the maximum number of oldest messages, 0 or more; 0 for none, which is the default
     * @return a copy
     * @throws InvalidInputException if the number is negative
     */
    public ReadQuery alsoOldest(int n) {
        return new ReadQuery(from, after, maxMessages, maxTokens, toSummary, n, reference);
    }

    /**
     * Reads a named branch. {@link Tail#position()} then has that branch's newest message as its head. As long as no
     * append went to a branch of this name, it is the current branch.
     *
     * @param name the branch's name, an id as in {@link Ids#check}, or null for the current branch
     * @return a copy
     */
    public ReadQuery onBranch(@Nullable String name) {
        return new ReadQuery(from, after, maxMessages, maxTokens, toSummary, oldest, name);
    }
}
