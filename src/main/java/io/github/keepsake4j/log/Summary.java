package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.time.Instant;
import java.util.Objects;
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
 */
public record Summary(
        String coversUpTo,
        String text,
        int tokens,
        String tokenCounter,
        long replacedMessages,
        long replacedTokens,
        @Nullable String model,
        Instant createdAt) {

    /** Checks the components and truncates the time. */
    public Summary {
        Ids.check("coversUpTo", coversUpTo);
        Objects.requireNonNull(text, "text");
        Objects.requireNonNull(tokenCounter, "tokenCounter");
        createdAt = InputRules.time("createdAt", createdAt);
        if (tokens < 0 || replacedMessages < 0 || replacedTokens < 0) {
            throw new InvalidInputException("summary", "counts must not be negative");
        }
    }

    /** Returns the covered message's id and the counts. The text is left out, so that the result may be logged. */
    @Override
    public String toString() {
        return "Summary[coversUpTo=" + coversUpTo + ", tokens=" + tokens + ", replacedMessages=" + replacedMessages
                + ", replacedTokens=" + replacedTokens + "]";
    }
}
