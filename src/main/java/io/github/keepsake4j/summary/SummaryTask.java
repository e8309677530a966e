package io.github.keepsake4j.summary;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.text.OwnText;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The input of the next summary.
 *
 * @param epoch the epoch in which the messages were read
 * @param previous the summary that covers everything before the messages, or null if they are the oldest messages
 * @param messages the messages that the new summary covers in addition, oldest first, without a gap after the previous
 *     summary; at least one
 * @param least the number of messages that a summary must cover, from 1; fewer than all are covered after a summary was
 *     refused as too long
 * @param untold the ids of the messages that the summary covers and the summarizer does not get, because they, or their
 *     turns, ended badly
 */
public record SummaryTask(
        long epoch, @Nullable Summary previous, List<LoggedMessage> messages, int least, Set<String> untold) {

    /** Creates a task that may be done in part. */
    SummaryTask(long epoch, @Nullable Summary previous, List<LoggedMessage> messages) {
        this(epoch, previous, messages, 1, Set.of());
    }

    /** Checks the components. */
    public SummaryTask {
        messages = List.copyOf(messages);
        untold = Set.copyOf(untold);
        if (messages.isEmpty()) {
            throw new InvalidInputException(
                    "messages", "must not be empty; a plan without a task must return an empty Optional");
        }
    }

    /** Returns the task that covers only the first messages. */
    SummaryTask first(int end) {
        return new SummaryTask(epoch, previous, messages.subList(0, end), least, untold);
    }

    /** Returns the messages that the summarizer gets. */
    List<ChatMessage> told() {
        return messages.stream()
                .filter(message -> !untold.contains(message.id()))
                .map(SummaryTask::told)
                .toList();
    }

    /** Returns a message without what was added to a question. */
    private static ChatMessage told(LoggedMessage logged) {
        String own = logged.textForModels();
        return own != null && !own.isBlank() && logged.message() instanceof UserMessage user
                ? OwnText.with(user, own)
                : logged.message();
    }

    LoggedMessage last() {
        return messages.get(messages.size() - 1);
    }

    /** Returns the number of tokens of the newly covered messages. */
    long foldedTokens() {
        return messages.stream().mapToLong(LoggedMessage::tokens).sum();
    }
}
