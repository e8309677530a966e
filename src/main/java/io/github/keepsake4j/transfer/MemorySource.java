package io.github.keepsake4j.transfer;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The messages of a memory, page by page, as they are moved. */
final class MemorySource {

    /** The maximum number of messages that are read, and appended, at once. */
    static final int PAGE = 500;

    private final MessageLog log;
    private final MemoryKey key;
    private final Numbers numbers;

    /** Takes a page. */
    @FunctionalInterface
    interface Pages<E extends Exception> {
        void take(List<Moved> page) throws E;
    }

    MemorySource(MessageLog log, MemoryKey key, List<Summary> summaries) {
        this.log = log;
        this.key = key;
        this.numbers = new Numbers(log, key, summaries);
    }

    /** Reads the messages of all branches behind a sequence number, each page when the one before it was taken. */
    <E extends Exception> void read(long behind, Pages<E> pages) throws E {
        Optional<HistoryQuery> next = Optional.of(new HistoryQuery(PAGE, behind, true));
        while (next.isPresent()) {
            HistoryPage page = log.history(key, next.get());
            Map<String, Made> made = made(log, key, page.messages());
            pages.take(page.messages().stream()
                    .map(message -> moved(message, made.getOrDefault(message.id(), Made.NOTHING)))
                    .toList());
            next = page.next();
        }
    }

    /** Returns the number of a message, from 1. */
    long number(long sequence) {
        return numbers.of(sequence);
    }

    private Moved moved(LoggedMessage message, Made made) {
        NewMessage copy = new NewMessage(
                        message.id(), message.message(), message.tokens(), message.tokenCounter(), message.createdAt())
                .withOutcome(message.outcome())
                .ofTurn(message.question());
        return new Moved(
                copy.withMade(made.withSeen(made.seen() == null ? null : numbers.of(made.seen()))), message.parentId());
    }

    /** Returns what is kept beside messages, by their ids. Only answers have that. */
    static Map<String, Made> made(MessageLog log, MemoryKey key, List<LoggedMessage> messages) {
        List<String> answers = messages.stream()
                .filter(message -> message.message().type() == ChatMessageType.AI)
                .map(LoggedMessage::id)
                .toList();
        return answers.isEmpty() ? Map.of() : Reads.made(log, key, answers);
    }
}
