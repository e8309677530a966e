package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import io.github.keepsake4j.codec.RequestCodec;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.KeptRequest;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a memory that a model was shown when it gave an answer. Immutable.
 *
 * @param messages the messages as they are stored, in the order in which they were shown, with the question. Earlier
 *     questions have the form in which they were shown: without what was retrieved for them
 * @param shortened the ids of the tool results that were shown shortened or cleared
 * @param summary the summary that was shown in the place of older messages, or null if there was none
 * @param altered whether the request differed from these messages, for example by retrieved texts or additions of a
 * transformer
 * @param request the whole request as the model received it, or null if it was not kept; {@code keepRequests()} of
 *     {@code Keepsake.Builder}, or of {@code WorkflowMemories.Builder} for nodes, stores it if the other components are
 *     not sufficient: if it was altered or results were shortened
 * @param memories the ids of the memories that were shown in one message before the turns, in order; {@code Keepsake.longTermMemories()}
 *     finds them
 */
public record SeenMessages(
        List<LoggedMessage> messages,
        Set<String> shortened,
        @Nullable Summary summary,
        boolean altered,
        @Nullable KeptRequest request,
        List<String> memories) {

    /** The number of messages that one read returns at most. */
    private static final int PAGE = 1_000;

    /** Copies the collections. */
    public SeenMessages {
        messages = List.copyOf(messages);
        shortened = Set.copyOf(shortened);
        memories = List.copyOf(memories);
    }

    static SeenMessages read(MessageLog log, MemoryKey key, String answerId, Seen seen, @Nullable String request) {
        List<LoggedMessage> messages = new ArrayList<>();
        seen.shown().forEach(range -> add(log, key, range, messages));
        if (messages.isEmpty() || messages.get(messages.size() - 1).message() instanceof AiMessage) {
            // A request ends with a question or a tool's result. A node's question is stored with its answer, so only
            // the branch contains it.
            TurnPosition.questionOf(log, key, answerId).ifPresent(messages::add);
        }
        if (seen.later() && messages.stream().anyMatch(LoggedMessage::hasLaterForm)) {
            String own = Reads.message(log, key, answerId)
                    .map(LoggedMessage::question)
                    .orElse(null);
            messages.replaceAll(message -> message.id().equals(own) || !message.hasLaterForm()
                    ? message
                    : message.withMessage(message.later()));
        }
        Set<Long> shortened = new HashSet<>(seen.shortened());
        List<Summary> summaries = seen.summary() == 0 ? List.of() : Reads.summaries(log, key);
        Summary summary = summaries.stream()
                .filter(stored -> stored.version() == seen.summary())
                .findFirst()
                .orElse(null);
        return new SeenMessages(
                messages,
                messages.stream()
                        .filter(message -> shortened.contains(message.sequence()))
                        .map(LoggedMessage::id)
                        .collect(Collectors.toSet()),
                summary,
                seen.altered(),
                request == null ? null : RequestCodec.decode(request),
                seen.memories());
    }

    /** Adds the messages of a run, in pages. */
    private static void add(MessageLog log, MemoryKey key, Seen.Range range, List<LoggedMessage> messages) {
        long after = range.first() - 1;
        while (after < range.last()) {
            int limit = (int) Math.min(PAGE, range.last() - after);
            HistoryPage page = log.history(key, HistoryQuery.after(after, limit));
            page.messages().stream()
                    .filter(message -> message.sequence() <= range.last())
                    .forEach(messages::add);
            after = page.messages().isEmpty()
                    ? range.last()
                    : page.messages().get(page.messages().size() - 1).sequence();
        }
    }
}
