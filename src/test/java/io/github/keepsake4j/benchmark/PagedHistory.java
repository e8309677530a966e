package io.github.keepsake4j.benchmark;

import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Postgres;

/**
 * Pages through a whole history, checks its order, and prints the number of messages and the duration in milliseconds.
 */
final class PagedHistory {

    private PagedHistory() {}

    public static void main(String[] arguments) {
        var database = Postgres.database(arguments[0], Integer.parseInt(arguments[1]));
        try (var pool = Postgres.trustingPool(database, 1, true);
                MessageLog log = PostgresMessageLog.open(pool)) {
            Conversation conversation = Keepsakes.on(log).conversation(ConversationKey.of(arguments[2], arguments[3]));
            long begin = System.nanoTime();
            long last = 0;
            HistoryQuery query = HistoryQuery.oldest(1_000);
            while (query != null) {
                HistoryPage page = conversation.history(query);
                for (LoggedMessage message : page.messages()) {
                    if (message.sequence() != ++last) {
                        throw new IllegalStateException("message " + last + " is missing");
                    }
                }
                query = page.next().orElse(null);
            }
            System.out.println(last + " " + (System.nanoTime() - begin) / 1_000_000);
        }
    }
}
