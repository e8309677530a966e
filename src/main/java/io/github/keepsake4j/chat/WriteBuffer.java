package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.view.Outbox;
import io.github.keepsake4j.view.Reading;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages that a chat memory accepts and writes later, and the state of an open turn. Guarded by the memory's
 * lock.
 */
final class WriteBuffer {

    /**
     * A memory that was cleared and is filled again.
     *
     * @param seen the messages that the caller has seen: the empty memory and the messages that it added again
     * @param linked the messages that the caller added again
     * @param summary the message that the previously shown summary covers up to, or null
     * @param behindSummary whether the summary was added again too
     */
    record Refill(Reading seen, List<ChatMessage> linked, @Nullable String summary, boolean behindSummary) {
        Refill withSummary() {
            return new Refill(seen, linked, summary, true);
        }

        Refill with(ChatMessage message) {
            List<ChatMessage> more = new ArrayList<>(linked);
            more.add(message);
            return new Refill(seen, more, summary, behindSummary);
        }

        Refill at(Reading now) {
            return new Refill(now, linked, summary, behindSummary);
        }
    }

    /** The epoch in which the turn began, or null before its first read. */
    @Nullable
    Long epoch;

    /** A system message that waits for the next read, which shows whether it is new. */
    @Nullable
    SystemMessage heldSystem;

    /**
     * The accepted messages that are not written yet: tool results that wait for the last one, or a batch that failed.
     */
    final List<NewMessage> pending = new ArrayList<>();

    /**
     * The messages of the last add if it failed. They are the end of {@link #pending}, unless another call has written
     * them since.
     */
    final Outbox adds = new Outbox();

    /** The new messages of the last list that was set, if that call failed. */
    final Outbox lists = new Outbox();

    /**
     * The id of the newest message that was appended, or null if a caller has got the error that its turn does not fit,
     * or if a new turn has begun.
     */
    @Nullable
    String appended;

    /** The sequence up to which the last read has all messages; higher ones may be missing in {@link #tail}. */
    long known = Long.MAX_VALUE;

    /** The number of tool results that the last assistant message waits for. */
    int awaited;

    /** Held softly, because a turn may stay open for ever and a memory must stay cheap. */
    private SoftReference<@Nullable Tail> tail = new SoftReference<>(null);

    private SoftReference<@Nullable Remembered> remembered = new SoftReference<>(null);

    private SoftReference<@Nullable Refill> refill = new SoftReference<>(null);

    /** Whether {@link #tail} is up to date, because the last step was a tool round of this turn. */
    boolean current;

    /** Returns an append that is refused if the memory was erased since the turn began. */
    Append inEpoch(Append append) {
        return epoch == null ? append : append.inEpoch(epoch);
    }

    /** Returns the last read with the messages that were appended since, or null. */
    @Nullable
    Tail tail() {
        return tail.get();
    }

    void read(@Nullable Tail newest) {
        tail = new SoftReference<>(newest);
        current = false;
    }

    void appended(@Nullable Tail newest, boolean toolRound) {
        tail = new SoftReference<>(newest);
        current = toolRound && newest != null;
    }

    /** Returns the long-term memories that this turn is shown in addition to its messages, or null. */
    @Nullable
    Remembered remembered() {
        return remembered.get();
    }

    void remembered(@Nullable Remembered loaded) {
        remembered = new SoftReference<>(loaded);
    }

    @Nullable
    Refill refill() {
        return refill.get();
    }

    void refill(@Nullable Refill newest) {
        refill = new SoftReference<>(newest);
    }

    /**
     * Accepts a message.
     *
     * @param message the message
     * @return whether it is time to write
     */
    boolean accept(NewMessage message) {
        pending.add(message);
        if (message.message() instanceof ToolExecutionResultMessage && awaited > 0) {
            awaited--;
            return awaited == 0;
        }
        awaited = calls(message.message());
        return true;
    }

    /** Returns whether the last message that was written has calls that wait for results. */
    boolean isCalled() {
        return awaited > 0 && pending.stream().noneMatch(message -> message.message() instanceof AiMessage);
    }

    /**
     * Returns whether the caller gets the error that something does not fit. For a turn, only the caller that added its
     * newest message gets the error, and only once: an AI service reads before it adds, so otherwise no later turn
     * could begin.
     *
     * @param newest the id of the newest message of the turn, or null if it is not a turn
     */
    boolean isToTell(@Nullable String newest) {
        boolean told = newest == null || newest.equals(appended);
        appended = null;
        return told;
    }

    /** Returns a buffer for the next turn. It still recognizes a repeated add. */
    WriteBuffer next() {
        WriteBuffer next = new WriteBuffer();
        next.adds.takeOver(adds);
        return next;
    }

    static int calls(ChatMessage message) {
        return message instanceof AiMessage ai ? ai.toolExecutionRequests().size() : 0;
    }
}
