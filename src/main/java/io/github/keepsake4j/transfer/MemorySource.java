package io.github.keepsake4j.transfer;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The messages of a memory, page by page, for a copy. */
final class MemorySource {

    /** The maximum number of messages that are read, and appended, at once. */
    static final int PAGE = 500;

    private final MessageLog log;
    private final MemoryKey key;
    private final long before;

    /** The sequence number of the last message that was read, or 0. */
    long newest;

    /** The summaries, and those that answers name which were read since. */
    final List<Summary> summaries = new ArrayList<>();

    private final Map<Long, Long> versions = new HashMap<>();

    /** Takes a page. */
    @FunctionalInterface
    interface Pages<E extends Exception> {
        void take(List<Moved> page) throws E;
    }

    MemorySource(MessageLog log, MemoryKey key, List<Summary> summaries) {
        this.log = log;
        this.key = key;
        List<LoggedMessage> first = log.history(key, HistoryQuery.oldest(1)).messages();
        this.before = first.isEmpty() ? 0 : first.get(0).sequence() - 1;
        summaries.forEach(this::add);
    }

    private void add(Summary summary) {
        summaries.add(summary);
        versions.put(summary.version(), (long) summaries.size());
    }

    /**
     * Adds the summaries up to the newest one that a page names. They cover only messages before that page's, while
     * newer ones may cover messages that are not read.
     */
    private void addNamed(Collection<Made> page) {
        long known =
                summaries.isEmpty() ? 0 : summaries.get(summaries.size() - 1).version();
        long named = page.stream()
                .mapToLong(made -> made.seen() == null ? 0 : made.seen().summary())
                .max()
                .orElse(0);
        if (named > known) {
            Reads.summaries(log, key).stream()
                    .filter(summary -> summary.version() > known && summary.version() <= named)
                    .forEach(this::add);
        }
    }

    /** Reads the messages of all branches behind a sequence number, each page after the one before it was consumed. */
    <E extends Exception> void read(long behind, Pages<E> pages) throws E {
        for (HistoryQuery next = HistoryQuery.after(behind, PAGE); next != null; ) {
            HistoryPage page = log.history(key, next);
            page.messages().forEach(message -> newest = message.sequence());
            Map<String, Made> made = made(log, key, page.messages());
            addNamed(made.values());
            pages.take(page.messages().stream()
                    .map(message -> moved(message, made.getOrDefault(message.id(), Made.NOTHING)))
                    .toList());
            next = page.next().orElse(null);
        }
    }

    /**
     * Returns the number of a message in a log that counts from 1. In this log, the first messages may have been
     * dropped.
     */
    long number(long sequence) {
        return sequence - before;
    }

    private Moved moved(LoggedMessage message, Made made) {
        Made numbered = made.withSeen(made.seen() == null ? null : numbered(made.seen()));
        return new Moved(copy(message, id -> id).withMade(numbered), message.parentId());
    }

    private Seen numbered(Seen seen) {
        return new Seen(
                seen.shown().stream()
                        .map(range -> new Seen.Range(number(range.first()), number(range.last())))
                        .toList(),
                seen.shortened().stream().map(this::number).toList(),
                versions.getOrDefault(seen.summary(), 0L),
                seen.altered(),
                seen.memories(),
                seen.later());
    }

    /** Returns a message for an append, under ids that derive from its own. */
    static NewMessage copy(LoggedMessage message, UnaryOperator<String> ids) {
        return new NewMessage(
                        ids.apply(message.id()),
                        message.message(),
                        message.tokens(),
                        message.tokenCounter(),
                        message.createdAt())
                .withOutcome(message.outcome())
                .ofTurn(message.question() == null ? null : ids.apply(message.question()))
                .withAsked(message.asked());
    }

    /** Returns the notes of messages that were just read, by their ids. Only answers have notes. */
    static Map<String, Made> made(MessageLog log, MemoryKey key, List<LoggedMessage> messages) {
        List<String> answers = messages.stream()
                .filter(message -> message.message().type() == ChatMessageType.AI)
                .map(LoggedMessage::id)
                .toList();
        try {
            return answers.isEmpty() ? Map.of() : Reads.made(log, key, answers);
        } catch (UnknownMessageException e) {
            // It was erased since.
            long now = Reads.position(log, key).epoch();
            throw new ErasedException(key, now - 1, now);
        }
    }
}
