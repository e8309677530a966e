package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the next summary is made from.
 *
 * @param epoch the epoch that the messages were read in
 * @param previous the summary that covers everything before the messages, or null if they are the oldest
 * @param messages what the new summary covers in addition, oldest first, without a gap behind the previous one; at least
 *     one
 */
public record SummaryTask(long epoch, @Nullable Summary previous, List<LoggedMessage> messages) {

    /** Checks the parts. */
    public SummaryTask {
        messages = List.copyOf(messages);
        if (messages.isEmpty()) {
            throw new InvalidInputException("messages", "must not be empty; a plan without a task returns none");
        }
    }

    LoggedMessage last() {
        return messages.get(messages.size() - 1);
    }

    /** Tokens of the messages that are newly covered. */
    long foldedTokens() {
        return messages.stream().mapToLong(LoggedMessage::tokens).sum();
    }
}
