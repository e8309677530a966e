package io.github.keepsake4j.log;

import io.github.keepsake4j.message.LoggedMessage;
import java.util.List;
import java.util.Optional;

/**
 * One page of a memory's history, all branches.
 *
 * @param messages in order of sequence, oldest first, whichever way the pages go
 * @param next the next page's query, or empty if this was the last one when it was read
 */
public record HistoryPage(List<LoggedMessage> messages, Optional<HistoryQuery> next) {

    /** Copies the parts. */
    public HistoryPage {
        messages = List.copyOf(messages);
    }

    /**
     * Makes a page of what a backend read.
     *
     * @param query the page that was asked for
     * @param found up to one message more than the limit, in order of sequence: the surplus one tells that there is more
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
        return new HistoryPage(page, Optional.of(new HistoryQuery(query.limit(), edge, query.forward())));
    }
}
