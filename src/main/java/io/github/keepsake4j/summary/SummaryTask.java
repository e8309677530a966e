package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The input of the next summary.
 *
 * @param epoch the epoch in which the messages were read
 * @param previous the summary that covers everything before the messages, or null if they are the oldest messages
 * @param messages the messages that the new summary covers in addition, oldest first, without a gap after the previous
 *     summary; at least one
 */
public record SummaryTask(long epoch, @Nullable Summary previous, List<LoggedMessage> messages) {

    /** Checks the components. */
    public SummaryTask {
        messages = List.copyOf(messages);
        if (messages.isEmpty()) {
            throw new InvalidInputException(
                    "messages", "must not be empty; a plan without a task must return an empty Optional");
        }
    }

    LoggedMessage last() {
        return messages.get(messages.size() - 1);
    }

    /** Returns the number of tokens of the newly covered messages. */
    long foldedTokens() {
        return messages.stream().mapToLong(LoggedMessage::tokens).sum();
    }
}
