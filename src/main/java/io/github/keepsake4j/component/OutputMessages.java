package io.github.keepsake4j.component;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextTurn;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The messages of an output. A model sees the same messages, with three differences. First, messages of an assistant
 * before the first user message are shown, such as a greeting, while nothing has left the window. Second, calls at the
 * end that wait for results are shown, because a host needs them. Third, the system message and the summary are left
 * out if they alone exceed a limit, because an output keeps its limits.
 *
 * @param messages the messages, oldest first
 * @param tokens their number of tokens, 0 if there are none
 */
record OutputMessages(List<ChatMessage> messages, long tokens) {

    static OutputMessages of(Context context, ComponentSettings settings, TokenCounter counter) {
        Sizes sizes = new Sizes(context, counter);
        List<LoggedMessage> shown = context.shown();
        int beside = (context.system() == null ? 0 : 1)
                + (context.summary() == null ? 0 : 1)
                + (context.remembered() == null ? 0 : 1);
        List<LoggedMessage> opening = opening(context);
        List<LoggedMessage> all = new ArrayList<>(shown.subList(0, beside));
        all.addAll(opening);
        all.addAll(shown.subList(beside, shown.size()));
        while (!opening.isEmpty() && !sizes.fit(all, settings)) {
            // A turn leaves as a whole. Otherwise the oldest messages leave, with their results.
            int leaving = context.turns().isEmpty()
                    ? 1 + results(opening.subList(1, opening.size())).size()
                    : opening.size();
            all.subList(beside, beside + leaving).clear();
            opening = opening.subList(leaving, opening.size());
        }
        List<LoggedMessage> withWaiting = new ArrayList<>(all);
        withWaiting.addAll(waiting(context));
        if (sizes.fit(withWaiting, settings)) {
            all = withWaiting;
        }
        while (!all.isEmpty() && !sizes.fit(all, settings)) {
            // The summary leaves first, because the system message applies to all following messages.
            all.remove(all.size() - 1);
        }
        return new OutputMessages(all.stream().map(LoggedMessage::message).toList(), all.isEmpty() ? 0 : sizes.of(all));
    }

    /**
     * Returns the messages before the first turn of the memory, if all turns are shown. Otherwise, messages before the
     * first shown turn may belong to a turn whose beginning was not read.
     */
    private static List<LoggedMessage> opening(Context context) {
        Set<String> beginning = context.oldest().stream().map(LoggedMessage::id).collect(Collectors.toSet());
        List<LoggedMessage> headless = context.read().headless();
        boolean known = context.turns().isEmpty()
                || headless.stream().map(LoggedMessage::id).allMatch(beginning::contains);
        if (!known || context.turns().stream().anyMatch(ContextTurn::isCut)) {
            return List.of();
        }
        List<LoggedMessage> opening = new ArrayList<>();
        for (int i = 0; i < headless.size(); i++) {
            if (!(headless.get(i).message() instanceof AiMessage ai)) {
                continue;
            }
            List<LoggedMessage> results = results(headless.subList(i + 1, headless.size()));
            boolean waits = context.turns().isEmpty() && i + 1 + results.size() == headless.size();
            if (waits || isAnswered(ai, results)) {
                opening.add(headless.get(i));
                opening.addAll(results);
            }
        }
        return opening;
    }

    /** Returns the calls at the end of the newest turn that wait for results, with the results that exist. */
    private static List<LoggedMessage> waiting(Context context) {
        List<ContextTurn> turns = context.turns();
        ContextTurn newest = turns.isEmpty() ? null : turns.get(turns.size() - 1);
        if (newest == null || newest.cut().whole() || newest.rounds().isEmpty()) {
            return List.of();
        }
        ContextTurn.Round last = newest.rounds().get(newest.rounds().size() - 1);
        return last.hidden() != Reason.UNANSWERED_CALL
                ? List.of()
                : last.messages().stream()
                        .map(message ->
                                message.withMessage(context.replaced().getOrDefault(message.id(), message.message())))
                        .toList();
    }

    private static List<LoggedMessage> results(List<LoggedMessage> following) {
        return following.stream()
                .takeWhile(message -> message.message() instanceof ToolExecutionResultMessage)
                .toList();
    }

    private static boolean isAnswered(AiMessage ai, List<LoggedMessage> results) {
        Set<String> answered = new HashSet<>();
        results.forEach(result -> answered.add(((ToolExecutionResultMessage) result.message()).id()));
        return ai.toolExecutionRequests().stream().allMatch(call -> answered.contains(call.id()));
    }

    /** The sizes of messages in the form in which they are shown. */
    private record Sizes(Context context, TokenCounter counter) {

        boolean fit(List<LoggedMessage> messages, ComponentSettings settings) {
            return messages.size() <= settings.maxMessages() && of(messages) <= settings.maxTokens();
        }

        long of(List<LoggedMessage> messages) {
            return context.sizes().perList(counter)
                    + messages.stream().mapToLong(this::of).sum();
        }

        private long of(LoggedMessage message) {
            // The stored size of a summary counts only its text.
            return message.equals(context.summary()) || context.replaced().containsKey(message.id())
                    ? context.sizes().of(counter, message.message())
                    : context.sizes().of(counter, message);
        }
    }
}
