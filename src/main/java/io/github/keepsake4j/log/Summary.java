package io.github.keepsake4j.log;

import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A text that replaces the beginning of a branch. It applies to every branch through the message that it covers up to.
 *
 * @param coversUpTo the id of the newest message that it covers
 * @param text the summary
 * @param tokens its size in tokens, 0 or more
 * @param tokenCounter the name of the counter that counted them
 * @param replacedMessages the number of messages that it replaces, 0 or more
 * @param replacedTokens the number of tokens of these messages, 0 or more
 * @param model the name of the model that wrote it, or null
 * @param createdAt when it was made, truncated to microseconds as {@link InputRules#time} does
 * @param version its number in the order in which the memory's summaries were stored, from 1; 0 for a summary that is not
 *     stored yet
 */
public record Summary(
        String coversUpTo,
        String text,
        int tokens,
        String tokenCounter,
        long replacedMessages,
        long replacedTokens,
        @Nullable String model,
        Instant createdAt,
        long version) {

    /** Checks the components and truncates the time. */
    public Summary {
        Ids.check("coversUpTo", coversUpTo);
        InvalidInputException.given("text", text);
        InvalidInputException.given("tokenCounter", tokenCounter);
        createdAt = InputRules.time("createdAt", createdAt);
        if (tokens < 0 || version < 0 || replacedMessages < 0 || replacedTokens < 0) {
            throw new InvalidInputException("summary", "counts must not be negative");
        }
    }

    /**
     * Creates a summary that is not stored yet.
     *
     * @param coversUpTo the id of the newest message that it covers
     * @param text the summary
     * @param tokens its size in tokens, 0 or more
     * @param tokenCounter the name of the counter that counted them
     * @param replacedMessages the number of messages that it replaces, 0 or more
     * @param replacedTokens the number of tokens of these messages, 0 or more
     * @param model the name of the model that wrote it, or null
     * @param createdAt when it was made
     */
    public Summary(
            String coversUpTo,
            String text,
            int tokens,
            String tokenCounter,
            long replacedMessages,
            long replacedTokens,
            @Nullable String model,
            Instant createdAt) {
        this(coversUpTo, text, tokens, tokenCounter, replacedMessages, replacedTokens, model, createdAt, 0);
    }

    /**
     * Sets the version.
     *
     * @param number the number in the order of storing, from 1
     * @return a copy
     */
    public Summary withVersion(long number) {
        return new Summary(
                coversUpTo, text, tokens, tokenCounter, replacedMessages, replacedTokens, model, createdAt, number);
    }

    /** Returns the covered message's id and the counts. The text is left out, so that the result may be logged. */
    @Override
    public String toString() {
        return "Summary[coversUpTo=" + coversUpTo + ", tokens=" + tokens + ", replacedMessages=" + replacedMessages
                + ", replacedTokens=" + replacedTokens + "]";
    }
}
