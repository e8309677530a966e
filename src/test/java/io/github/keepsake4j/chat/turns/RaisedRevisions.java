package io.github.keepsake4j.chat.turns;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import java.util.List;
import java.util.Random;

/**
 * A log on which another writer raises a memory's revision before appends that are fenced, a few times in a row. It sets
 * and removes the outcome of a message that is on a branch of its own, or it moves the head or the append's branch. It
 * moves nothing before a question, which goes wherever the head is.
 */
final class RaisedRevisions extends ForwardingMessageLog {

    /** How many tries of an append meet a conflict, at most. */
    private static final int MOST_IN_A_ROW = 2;

    private static final String MARK = "mark";

    private final MessageLog other;
    private MemoryKey key;
    private String mark;
    private Random random;
    private boolean moves;
    private boolean moved;
    private int row;

    /**
     * Creates a log without conflicts.
     *
     * @param log the log that gets the calls
     * @param other the log of the other writer
     */
    RaisedRevisions(MessageLog log, MessageLog other) {
        super(log);
        this.other = other;
    }

    static boolean isMark(LoggedMessage message) {
        return message.message() instanceof AiMessage ai && MARK.equals(ai.text());
    }

    /**
     * Raises the revision of one memory from now on.
     *
     * @param alsoMoves whether the other writer also moves the head
     */
    synchronized void raise(MemoryKey memory, Random chance, boolean alsoMoves) {
        NewMessage message = NewMessage.of(AiMessage.from(MARK), 1, "test");
        other.append(memory, Append.under(Parent.root(), List.of(message)).onBranch(MARK));
        other.flush(memory);
        key = memory;
        mark = message.id();
        random = chance;
        moves = alsoMoves;
    }

    /** Returns whether a place was moved since the last call. */
    synchronized boolean hasMoved() {
        boolean result = moved;
        moved = false;
        return result;
    }

    synchronized void calm() {
        key = null;
    }

    @Override
    public AppendResult append(MemoryKey memory, Append append) {
        if (append.revision() != null || append.expectsHead()) {
            conflict(memory, append);
        }
        return log().append(memory, append);
    }

    private synchronized void conflict(MemoryKey memory, Append append) {
        if (!memory.equals(key) || row == MOST_IN_A_ROW || random.nextInt(4) == 0) {
            row = 0;
            return;
        }
        row++;
        boolean asks = append.messages().stream().anyMatch(message -> message.message() instanceof UserMessage);
        if (moves && !asks && random.nextInt(3) == 0) {
            move(memory, append.reference());
        } else {
            other.change(memory, new Change.SetOutcome(mark, Outcome.incomplete("raised"), null));
            other.change(memory, new Change.SetOutcome(mark, null, null));
        }
        other.flush(memory);
    }

    private void move(MemoryKey memory, String branch) {
        List<LoggedMessage> all = other.history(memory, HistoryQuery.newest(1000)).messages().stream()
                .filter(message -> !isMark(message))
                .toList();
        if (all.isEmpty()) {
            return;
        }
        String to = all.get(random.nextInt(all.size())).id();
        Change<?> change = OtherTab.BRANCH.equals(branch)
                ? new Change.MoveBranch(branch, to, null)
                : new Change.MoveHead(to, null);
        other.change(memory, change);
        moved = true;
    }
}
