package io.github.keepsake4j.summary;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.text.OwnText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
 * @param earlier the questions of messages whose places the previous summary covers, by id. It waited for their answers
 */
public record SummaryTask(
        long epoch,
        @Nullable Summary previous,
        List<LoggedMessage> messages,
        int least,
        Set<String> untold,
        Map<String, LoggedMessage> earlier) {

    /** Creates a task that may be done in part. */
    SummaryTask(long epoch, @Nullable Summary previous, List<LoggedMessage> messages) {
        this(epoch, previous, messages, 1, Set.of(), Map.of());
    }

    /** Checks the components. */
    public SummaryTask {
        messages = List.copyOf(messages);
        untold = Set.copyOf(untold);
        earlier = Map.copyOf(earlier);
        if (messages.isEmpty()) {
            throw new InvalidInputException(
                    "messages", "must not be empty; a plan without a task must return an empty Optional");
        }
    }

    /** Returns the task that covers only the first messages. */
    SummaryTask first(int end) {
        return new SummaryTask(epoch, previous, messages.subList(0, end), least, untold, earlier);
    }

    /**
     * Returns the messages that the summarizer gets, turn by turn in the order in which the turns ended. The next summary
     * gets a question that has no answer yet, with its answer.
     */
    List<ChatMessage> told() {
        Map<String, List<LoggedMessage>> turns = new LinkedHashMap<>();
        for (LoggedMessage message : messages) {
            if (!untold.contains(message.id())) {
                String turn = turn(message, turns);
                List<LoggedMessage> told = turns.remove(turn);
                if (told == null) {
                    LoggedMessage question = earlier.get(turn);
                    told = new ArrayList<>(question == null ? List.of() : List.of(question));
                }
                told.add(message);
                turns.put(turn, told);
            }
        }
        return turns.values().stream()
                .filter(SummaryTask::isTold)
                .flatMap(List::stream)
                .map(SummaryTask::told)
                .toList();
    }

    /**
     * Returns whether there is anything for the summarizer.
     *
     * @return whether it gets any message
     */
    public boolean tellsAnything() {
        return !told().isEmpty();
    }

    private static String turn(LoggedMessage message, Map<String, List<LoggedMessage>> turns) {
        if (message.question() != null) {
            return message.question();
        }
        // An answer that was given to a question of a bound turn by hand.
        List<LoggedMessage> asked = turns.getOrDefault(String.valueOf(message.parentId()), List.of());
        return !asked.isEmpty() && asked.get(0).question() != null && message.message() instanceof AiMessage
                ? asked.get(0).question()
                : message.id();
    }

    /** Returns whether a turn is told: it has its question, and more than that. */
    private static boolean isTold(List<LoggedMessage> turn) {
        LoggedMessage first = turn.get(0);
        return first.question() == null || (first.id().equals(first.question()) && turn.size() > 1);
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
