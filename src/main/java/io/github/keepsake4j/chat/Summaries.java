package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextTurn;
import io.github.keepsake4j.context.Turns;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.summary.SummaryTask;
import io.github.keepsake4j.summary.SummaryWorker;
import io.github.keepsake4j.view.ViewReader;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Determines the messages for the next summary. The strategy decides which messages should be summarized, and the
 * worker creates the summary. Messages that no summary covers are taken in order, oldest first. So a summary never
 * replaces messages from which it was not created. Thread-safe.
 */
record Summaries(SharedParts memories, @Nullable SummaryWorker worker) {

    /**
     * The maximum number of messages for one summary. A conversation that was never summarized requires several
     * summaries.
     */
    private static final int MOST_MESSAGES = 200;

    private static final long MOST_TOKENS = 8_000;

    /** Starts the creation of a summary in the background if one is due. Neither waits nor reads. */
    void check(Object id, MemoryKey key, Tail tail, Supplier<Context> selected) {
        if (worker == null || !memories.strategy().summarizes()) {
            return;
        }
        // A running job checks again at its end, so this turn does not need to check.
        if (!worker.isIdle(key) || upTo(tail, selected.get()).isPresent()) {
            worker.due(key, () -> next(id, key));
        }
    }

    /** Creates the due summaries on the caller's thread and returns their number. */
    int now(Object id, MemoryKey key) {
        if (worker == null) {
            throw new InvalidInputException(
                    "summarizer",
                    "is required for a summary of memory " + key + "; set it with Keepsake.builder().summarizer(...)");
        }
        return worker.summarizeNow(key, () -> next(id, key));
    }

    boolean isIdle(MemoryKey key) {
        return worker == null || worker.isIdle(key);
    }

    /** Returns the messages for the next summary, if one is due. */
    private Optional<SummaryTask> next(Object id, MemoryKey key) {
        Tail tail = memories.load(id, key, 0);
        Context selected = memories.select(id, key, tail, memories.remembered(key, tail));
        return upTo(tail, selected)
                .map(last -> piece(key, tail, last))
                .filter(piece -> !piece.messages().isEmpty())
                .map(piece -> new SummaryTask(
                        tail.epoch(),
                        tail.summary(),
                        piece.messages(),
                        piece.leastMessages(),
                        piece.untold(),
                        earlier(key, tail, piece)))
                .filter(task -> tail.summary() != null || task.tellsAnything());
    }

    /** Returns the questions whose places the summary in force covers, and to which messages behind it belong. */
    private Map<String, LoggedMessage> earlier(MemoryKey key, Tail tail, Piece piece) {
        Set<String> missing = new HashSet<>();
        piece.messages().forEach(message -> missing.add(message.question()));
        piece.messages().forEach(message -> missing.remove(message.id()));
        missing.remove(null);
        if (missing.isEmpty() || tail.summary() == null) {
            return Map.of();
        }
        View view = tail.view();
        Map<String, LoggedMessage> earlier = new HashMap<>();
        for (LoggedMessage question : Reads.messages(memories.log(key), key, missing)) {
            // A list that was set may have left it out.
            if (view == null || question.sequence() > view.anchorSequence()) {
                earlier.put(question.id(), question);
            }
        }
        return earlier;
    }

    /**
     * The messages for one summary.
     *
     * @param messages the messages, oldest first
     * @param untold the ids of the messages that are left out of a view because they, or their turns, ended badly. They
     * are covered without their text, as if they did not exist
     * @param least the sequence up to which a summary does not count, or would be empty
     */
    private record Piece(List<LoggedMessage> messages, Set<String> untold, long least) {

        /** Returns a piece of messages of which some are summarized, or an empty piece. */
        static Piece of(Tail tail, List<LoggedMessage> messages) {
            Set<String> untold = Turns.badEnds(messages).stream()
                    .map(omission -> omission.message().id())
                    .collect(Collectors.toSet());
            View view = tail.view();
            long anchor = view == null ? 0 : view.anchorSequence();
            long silent = tail.summary() != null
                    ? 0
                    : messages.stream()
                            .takeWhile(message -> untold.contains(message.id()))
                            .mapToLong(LoggedMessage::sequence)
                            .max()
                            .orElse(0);
            return new Piece(messages, untold, Math.max(anchor, silent));
        }

        Piece with(List<LoggedMessage> some) {
            return new Piece(some, untold, least);
        }

        /** Returns the number of messages that a summary must cover to count. */
        int leastMessages() {
            int most = 1;
            while (most < messages.size() && messages.get(most - 1).sequence() <= least) {
                most++;
            }
            return most;
        }
    }

    /**
     * Returns the message that the next summary should cover up to. If a view is in force, a summary counts only if it
     * covers a message behind the view's anchor. If messages before that are cut off, they are covered as soon as a
     * turn behind the anchor is over.
     */
    private Optional<String> upTo(Tail tail, Context selected) {
        if (tail.messages().isEmpty()) {
            return Optional.empty();
        }
        LoggedMessage oldest = tail.messages().get(0);
        Optional<String> due = memories.strategy()
                .foldUpTo(selected)
                // Messages that were not read are not shown.
                .or(() -> tail.complete() ? Optional.empty() : Optional.ofNullable(oldest.parentId()));
        View view = tail.view();
        if (view == null
                || due.filter(message -> isBehindAnchor(tail, view, message)).isPresent()) {
            return due;
        }
        return due.filter(message -> isCut(tail, selected)).flatMap(message -> selected.ends().stream()
                .filter(end -> isBehindAnchor(tail, view, end))
                .findFirst());
    }

    private static boolean isCut(Tail tail, Context selected) {
        return !tail.complete()
                || !selected.read().headless().isEmpty()
                || selected.turns().stream().anyMatch(ContextTurn::isCut);
    }

    private static boolean isBehindAnchor(Tail tail, View view, String message) {
        LoggedMessage oldest = tail.messages().get(0);
        if (message.equals(oldest.parentId())) {
            return oldest.sequence() > view.anchorSequence() && !message.equals(view.anchor());
        }
        return tail.messages().stream()
                .anyMatch(known -> known.id().equals(message) && known.sequence() > view.anchorSequence());
    }

    private Piece piece(MemoryKey key, Tail tail, String last) {
        if (tail.complete()) {
            // All messages that are not in the tail are covered already.
            List<LoggedMessage> uncovered = tail.messages().subList(0, ViewReader.indexOf(tail.messages(), last) + 1);
            return Piece.of(tail, tail.messages()).with(uncovered);
        }
        for (int most = MOST_MESSAGES; ; most *= 2) {
            List<LoggedMessage> uncovered = oldest(key, tail, most);
            Piece all = Piece.of(tail, uncovered);
            int end = ViewReader.indexOf(uncovered, last);
            List<LoggedMessage> piece = limit(end < 0 ? uncovered : uncovered.subList(0, end + 1), all.least());
            if (piece.get(piece.size() - 1).sequence() > all.least() || uncovered.size() < most) {
                return all.with(piece);
            }
        }
    }

    /** Returns the oldest messages that no summary covers. */
    private List<LoggedMessage> oldest(MemoryKey key, Tail tail, int most) {
        ReadQuery query =
                ReadQuery.newest(0).endingIn(String.valueOf(tail.head())).alsoOldest(most);
        View view = tail.view();
        Summary summary = tail.summary();
        Tail read = summary == null || (view != null && summary.coversUpTo().equals(view.summary()))
                ? ViewReader.read(memories.log(key), key, query)
                : memories.log(key).read(key, query.after(summary.coversUpTo()));
        return memories.meter.read(key, read).oldest();
    }

    /** Limits the messages to the size of one summary, and if possible to whole turns. */
    private static List<LoggedMessage> limit(List<LoggedMessage> messages, long least) {
        long tokens = 0;
        int end = 0;
        while (end < messages.size()
                && (end == 0
                        || tokens + messages.get(end).tokens() <= MOST_TOKENS
                        || messages.get(end - 1).sequence() <= least)) {
            tokens += messages.get(end++).tokens();
        }
        for (int i = end; i > 1 && end < messages.size(); i--) {
            if (messages.get(i).message() instanceof UserMessage
                    && messages.get(i - 1).sequence() > least) {
                return messages.subList(0, i);
            }
        }
        return messages.subList(0, end);
    }
}
