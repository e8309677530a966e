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
import java.util.concurrent.TimeUnit;
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

    private static final long READS_WITHIN = TimeUnit.SECONDS.toNanos(10);

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
     * The ids of the last calls that were written and of their results, if nothing was written since. The view of a
     * turn that continues ends with them.
     */
    private List<String> round = List.of();

    /** When the round was written, in nanoseconds. */
    private long roundAt;

    /**
     * The id of the newest message that was appended, or null if a caller has got the error that its turn does not fit,
     * or if a new turn has begun.
     */
    @Nullable
    String appended;

    /** The number of tool results that the last assistant message waits for. */
    int awaited;

    /** Held softly, because a turn may stay open for ever and a memory must stay cheap. */
    private SoftReference<@Nullable Tail> tail = new SoftReference<>(null);

    private SoftReference<@Nullable Remembered> remembered = new SoftReference<>(null);

    private SoftReference<@Nullable Refill> refill = new SoftReference<>(null);

    /** Whether {@link #tail} is up to date, because the last step was a tool round of this turn. */
    private boolean current;

    /** Returns an append that is refused if the memory was erased since the turn began. */
    Append inEpoch(Append append) {
        return epoch == null ? append : append.inEpoch(epoch);
    }

    /** Returns the last read with the messages that were appended since, or null. */
    @Nullable
    Tail tail() {
        return tail.get();
    }

    /** Returns the last read if the next read does not need the log, or null. */
    @Nullable
    Tail currentTail() {
        return current ? tail.get() : null;
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

    /** Records results that were written before their round was complete. */
    void wroteEarly(List<NewMessage> results, long nanos) {
        wrote(results, nanos);
        read(null);
    }

    /** Records a write. */
    void wrote(List<NewMessage> batch, long nanos) {
        for (NewMessage message : batch) {
            if (message.message() instanceof ToolExecutionResultMessage && !round.isEmpty()) {
                round = concat(round, message.id());
                roundAt = nanos;
            } else {
                round = calls(message.message()) > 0 ? List.of(message.id()) : List.of();
            }
        }
    }

    /**
     * Records that a list was set.
     *
     * @param lastRound the assistant message, with its results, that ends the list; or none. The turn continues with it
     * if it has the calls that this turn has made, or calls without results
     */
    void set(List<String> lastRound, long nanos) {
        boolean same = lastRound.size() > 1
                && !round(nanos).isEmpty()
                && lastRound.get(0).equals(round.get(0));
        round = same || lastRound.size() == 1 ? lastRound : List.of();
        roundAt = nanos;
    }

    /**
     * Returns the round with which the turn continues, or an empty list. A turn reads right after its round. A later
     * read belongs to a new turn, because the round's turn failed or ended without an answer.
     */
    List<String> round(long nanos) {
        return nanos - roundAt > READS_WITHIN ? List.of() : round();
    }

    /** Returns whether the last message that was written has calls that wait for results. */
    boolean isCalled() {
        return awaited > 0 && !round.isEmpty();
    }

    /** Returns the round with which the turn continues, or an empty list, for a buffer that serves only one turn. */
    List<String> round() {
        boolean ended = round.size() < 2 || awaited > 0 || heldSystem != null;
        return ended ? List.of() : round;
    }

    private static List<String> concat(List<String> ids, String id) {
        List<String> all = new ArrayList<>(ids);
        all.add(id);
        return List.copyOf(all);
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
