package io.github.keepsake4j.log;

import io.github.keepsake4j.message.LoggedMessage;
import java.util.List;
import java.util.Optional;

/**
 * One page of a memory's history, including all branches.
 *
 * @param messages the messages in order of sequence, oldest first, in both directions of paging
 * @param next the next page's query, or empty if this was the last page when it was read
 */
public record HistoryPage(List<LoggedMessage> messages, Optional<HistoryQuery> next) {

    /** Copies the components. */
    public HistoryPage {
        messages = List.copyOf(messages);
    }

    /**
     * Creates a page from the messages that a store read.
     *
     * @param query the page that was requested
     * @param found up to one message more than the limit, in order of sequence; the additional message shows that there
     *     is a next page
     * @return the page
     */
    public static HistoryPage of(HistoryQuery query, List<LoggedMessage> found) {
        int surplus = found.size() - query.limit();
        if (surplus <= 0) {
            return new HistoryPage(found, Optional.empty());
        }
        List<LoggedMessage> page =
                query.forward() ? found.subList(0, query.limit()) : found.subList(surplus, found.size());
        long edge = (query.forward() ? page.get(page.size() - 1) : page.get(0)).sequence();
        return new HistoryPage(page, Optional.of(query.at(edge)));
    }
}
