package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.view.ViewReader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bounds within which a history is read. Rows are counted as in Dify: a question, its answer, and the tool calls
 * and results between them are one row.
 *
 * @param rows the maximum number of rows
 * @param tokens the number of stored tokens at which the read stops
 */
record HistoryBounds(int rows, long tokens) {

    /** The bounds of a read that only looks for the newest message. */
    static final HistoryBounds HEAD = new HistoryBounds(0, Long.MAX_VALUE);

    /** The maximum number of rows from which a history is read. */
    private static final int MOST_ROWS = 500;

    /** The number of messages of a row without tool calls. */
    private static final int PLAIN_ROW = 2;

    private static final int WIDER = 4;

    /**
     * Returns the bounds of a history. Up to twice the tokens are read, because stored counts may come from another
     * counter.
     */
    static HistoryBounds of(@Nullable Integer messageLimit, int maxTokenLimit) {
        int rows = messageLimit == null || messageLimit <= 0 ? MOST_ROWS : Math.min(messageLimit, MOST_ROWS);
        return new HistoryBounds(rows, Math.max(1, 2L * maxTokenLimit));
    }

    /**
     * Reads the newest messages of a branch: at least those of the rows, unless the tokens stop the read before. The
     * first read suffices for rows without tool calls. Each further read returns four times as many messages.
     *
     * @param end the id of the message that the branch ends in, or null for the head
     */
    Tail read(MessageLog log, MemoryKey key, @Nullable String end) {
        ReadQuery query = ReadQuery.newest(Math.max(1, PLAIN_ROW * rows)).upToTokens(tokens);
        ReadQuery bounded = end == null ? query : query.endingIn(end);
        Tail tail = ViewReader.read(log, key, bounded);
        while (!tail.complete()
                && tail.messages().size() >= bounded.maxMessages()
                && begin(tail.messages()) < 0
                && bounded.maxMessages() <= Integer.MAX_VALUE / WIDER) {
            bounded = bounded.atMost(bounded.maxMessages() * WIDER);
            tail = ViewReader.read(log, key, bounded);
        }
        return tail;
    }

    /** Returns the newest rows of a thread. */
    List<LoggedMessage> newest(List<LoggedMessage> thread) {
        return thread.subList(Math.max(0, begin(thread)), thread.size());
    }

    /** Returns the index at which the newest rows begin, or -1 if there are fewer rows. */
    private int begin(List<LoggedMessage> thread) {
        int begun = 0;
        int at = thread.size();
        while (at > 0 && begun < rows) {
            at--;
            begun += thread.get(at).message() instanceof UserMessage ? 1 : 0;
        }
        return begun < rows ? -1 : at;
    }
}
