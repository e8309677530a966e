package io.github.keepsake4j.context;

import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.UnknownMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The messages that other turns added while a turn waited for its tools. The view of the continuing turn ends with its
 * results, so these messages are left out of it. The next turn shows them.
 *
 * @param isRead whether the turn's calls, and the user message before them, are among the messages; true if no turn
 * continues
 * @param messages the messages that are left out, in order
 */
record InterleavedMessages(boolean isRead, List<LoggedMessage> messages) {

    private static final InterleavedMessages NOTHING = new InterleavedMessages(true, List.of());
    private static final InterleavedMessages NOT_READ = new InterleavedMessages(false, List.of());

    /** Copies the list. */
    InterleavedMessages {
        messages = List.copyOf(messages);
    }

    /**
     * Finds the messages that are left out.
     *
     * @param messages the messages that were read, oldest first
     * @param round the ids of the calls and of the results with which the turn continues; empty if no turn continues;
     * null if that is unknown; then the turn whose results end the messages continues
     * @return the messages after the calls that are not their results
     */
    static InterleavedMessages of(List<LoggedMessage> messages, @Nullable List<String> round) {
        List<String> own = round == null ? newestRound(messages) : round;
        if (own == null) {
            return NOT_READ;
        }
        if (own.isEmpty()) {
            return NOTHING;
        }
        Set<String> ids = new HashSet<>(own);
        Turns.badEnds(messages)
                .forEach(omission -> ids.add(omission.message().id()));
        List<LoggedMessage> after = new ArrayList<>();
        boolean userAfter = false;
        for (int i = messages.size() - 1; i >= 0; i--) {
            LoggedMessage message = messages.get(i);
            if (message.id().equals(own.get(0))) {
                // Without its user message, no part of the turn can be shown.
                if (userAfter && !isBegun(messages, i, after)) {
                    break;
                }
                Collections.reverse(after);
                return new InterleavedMessages(true, after);
            }
            if (!ids.contains(message.id()) && isOfTurn(message)) {
                after.add(message);
                userAfter |= Turns.begins(message);
            }
        }
        return NOT_READ;
    }

    /**
     * Returns whether a user message before the calls is shown: neither the following messages nor their absence hide
     * it.
     */
    private static boolean isBegun(List<LoggedMessage> messages, int calls, List<LoggedMessage> after) {
        Set<LoggedMessage> left = new HashSet<>(after);
        List<LoggedMessage> rest =
                messages.stream().filter(message -> !left.contains(message)).toList();
        Set<String> hidden = new HashSet<>();
        Stream.concat(Turns.badEnds(messages).stream(), Turns.badEnds(rest).stream())
                .forEach(omission -> hidden.add(omission.message().id()));
        return messages.subList(0, calls).stream()
                .anyMatch(message -> Turns.begins(message) && !hidden.contains(message.id()));
    }

    /**
     * Returns the newest messages' calls and results, empty if they do not end with the last result of calls, or null
     * if they end with a result whose calls were not read.
     */
    private static @Nullable List<String> newestRound(List<LoggedMessage> messages) {
        LoggedMessage last = messages.isEmpty() ? null : messages.get(messages.size() - 1);
        if (last == null || last.question() != null || !(last.message() instanceof ToolExecutionResultMessage)) {
            return List.of();
        }
        Deque<OpenRound> newestFirst = new ArrayDeque<>();
        OpenRound newest = null;
        for (LoggedMessage message : messages) {
            if (ContextTurn.calls(message)) {
                newestFirst.push(new OpenRound(message));
            } else if (message.message() instanceof ToolExecutionResultMessage result) {
                newest = newestFirst.stream()
                        .filter(calls -> calls.takes(message, result))
                        .findFirst()
                        .orElse(null);
            }
        }
        if (newest == null) {
            return isAsked(last, messages) ? List.of() : null;
        }
        return newest.waiting.isEmpty()
                ? newest.messages.stream().map(LoggedMessage::id).toList()
                : List.of();
    }

    /** Returns whether the calls of the newest result were read, although they do not wait for it. */
    private static boolean isAsked(LoggedMessage last, List<LoggedMessage> messages) {
        // Without an id only the tool's name could show it, and older calls may have the same name.
        return last.message() instanceof ToolExecutionResultMessage result
                && result.id() != null
                && messages.stream()
                        .anyMatch(message -> ContextTurn.calls(message) && new OpenRound(message).takes(last, result));
    }

    private static boolean isOfTurn(LoggedMessage message) {
        return !(message.message() instanceof SystemMessage || message.message() instanceof UnknownMessage);
    }
}
