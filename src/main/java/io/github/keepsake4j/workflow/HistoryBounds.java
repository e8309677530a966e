package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenSizes;
import io.github.keepsake4j.view.ViewReader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bounds within which a history is read. Rows are counted as in Dify: a question, its answer, and the tool calls
 * and results between them are one row.
 *
 * @param rows the maximum number of rows
 * @param tokens the number of tokens of the history
 * @param counts counts messages as the history's limit does, or null if they need not be counted
 */
record HistoryBounds(int rows, long tokens, @Nullable NodeTokenCounts counts) {

    /** The bounds of a read of only the newest message. */
    static final HistoryBounds HEAD = new HistoryBounds(0, Long.MAX_VALUE, null);

    /** The maximum number of rows from which a history is read. */
    private static final int MOST_ROWS = 500;

    /** The number of messages of a row without tool calls. */
    private static final int PLAIN_ROW = 2;

    private static final int WIDER = 4;

    /** Returns the bounds of a history. */
    static HistoryBounds of(@Nullable Integer messageLimit, int maxTokenLimit, NodeTokenCounts counts) {
        int rows = messageLimit == null || messageLimit <= 0 ? MOST_ROWS : Math.min(messageLimit, MOST_ROWS);
        return new HistoryBounds(rows, Math.max(1, maxTokenLimit), counts);
    }

    /**
     * Reads the newest messages of a branch: at least those of the rows, unless the tokens stop the read before. The
     * first read suffices for rows without tool calls, and if the stored counts are at most twice too high. Each
     * further read returns four times as many messages or tokens.
     *
     * @param end the id of the last message of the branch, or null for the head
     */
    Tail read(MessageLog log, MemoryKey key, @Nullable String end) {
        ReadQuery query = ReadQuery.newest(Math.max(1, PLAIN_ROW * rows)).upToTokens(timesAtMost(2, tokens));
        ReadQuery bounded = end == null ? query : query.endingIn(end);
        Tail tail = ViewReader.read(log, key, bounded);
        while (!tail.complete() && begin(tail.messages()) < 0) {
            if (tail.messages().size() >= bounded.maxMessages()) {
                if (bounded.maxMessages() > Integer.MAX_VALUE / WIDER) {
                    break;
                }
                bounded = bounded.atMost(bounded.maxMessages() * WIDER);
            } else if (bounded.maxTokens() < Long.MAX_VALUE && leavesRoom(key, tail)) {
                bounded = bounded.upToTokens(timesAtMost(WIDER, bounded.maxTokens()));
            } else {
                break;
            }
            tail = ViewReader.read(log, key, bounded);
        }
        return tail;
    }

    /** Returns whether more messages may fit, because another counter counted more when they were written. */
    private boolean leavesRoom(MemoryKey key, Tail tail) {
        if (counts == null) {
            return false;
        }
        TokenSizes sizes = counts.reading(key);
        return tail.messages().stream()
                        .mapToLong(logged -> sizes.of(counts.counter(), logged))
                        .sum()
                <= tokens;
    }

    private static long timesAtMost(int factor, long tokens) {
        return tokens > Long.MAX_VALUE / factor ? Long.MAX_VALUE : factor * tokens;
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
