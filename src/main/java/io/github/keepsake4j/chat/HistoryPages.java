package io.github.keepsake4j.chat;

import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Spliterator;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Goes through a history page by page, in the direction of its query. Keeps one page. Used by one thread. */
final class HistoryPages implements Spliterator<LoggedMessage> {

    private final Function<HistoryQuery, HistoryPage> history;
    private final Deque<LoggedMessage> page = new ArrayDeque<>();
    private Optional<HistoryQuery> next;

    HistoryPages(Function<HistoryQuery, HistoryPage> history, HistoryQuery first) {
        this.history = history;
        this.next = Optional.of(first);
    }

    @Override
    public boolean tryAdvance(Consumer<? super LoggedMessage> action) {
        while (page.isEmpty() && next.isPresent()) {
            HistoryQuery query = next.get();
            HistoryPage read = history.apply(query);
            read.messages().forEach(query.forward() ? page::addLast : page::addFirst);
            next = read.next();
        }
        LoggedMessage message = page.pollFirst();
        if (message == null) {
            return false;
        }
        action.accept(message);
        return true;
    }

    @Override
    public @Nullable Spliterator<LoggedMessage> trySplit() {
        return null;
    }

    @Override
    public long estimateSize() {
        return Long.MAX_VALUE;
    }

    @Override
    public int characteristics() {
        return ORDERED | DISTINCT | NONNULL;
    }
}
