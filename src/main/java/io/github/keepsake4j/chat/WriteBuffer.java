package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.view.Outbox;
import io.github.keepsake4j.view.Reading;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The messages that a chat memory accepts and writes later, and what it knows while a turn is open. Guarded by the memory's lock. */
final class WriteBuffer {

    /**
     * A memory that was cleared and is filled again.
     *
     * @param seen what the caller has seen: the empty memory, and the messages that it added again
     * @param linked those messages
     * @param summary the message up to which the summary covers that was shown before, or null
     * @param behindSummary whether the summary was added again too
     */
    record Refill(Reading seen, List<ChatMessage> linked, @Nullable String summary, boolean behindSummary) {
        Refill withSummary() {
            return new Refill(seen, linked, summary, true);
        }

        Refill with(Reading now, List<ChatMessage> more) {
            return new Refill(now, more, summary, behindSummary);
        }
    }

    /** The epoch that the turn began in, once it has read. */
    @Nullable
    Long epoch;

    /** A system message that waits for the next read, which tells whether it is new. */
    @Nullable
    SystemMessage heldSystem;

    /** Accepted and not written yet: tool results that wait for the last one, or a batch that failed. */
    final List<NewMessage> pending = new ArrayList<>();

    /** The messages of the last add, if that failed: the end of {@link #pending}, unless another call has written them since. */
    final Outbox adds = new Outbox();

    /** The new messages of the last list that was set, if that failed. */
    final Outbox lists = new Outbox();

    /** How many tool results the last assistant message waits for. */
    int awaited;

    /** Soft, since a turn may stay open for ever, and a memory must stay cheap. */
    private SoftReference<@Nullable Tail> tail = new SoftReference<>(null);

    private SoftReference<@Nullable Refill> refill = new SoftReference<>(null);

    /** Whether {@link #tail} is what the memory holds, because the last step was a tool round of this turn. */
    private boolean current;

    /** What was read last, with what was appended since; or null. */
    @Nullable
    Tail tail() {
        return tail.get();
    }

    /** The same, if the next read may do without a look at the log. */
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

    /** A buffer for the next turn. A repeated add is known there too. */
    WriteBuffer next() {
        return adds.isEmpty() ? new WriteBuffer() : new WriteBuffer(this);
    }

    WriteBuffer() {}

    private WriteBuffer(WriteBuffer before) {
        adds.takeOver(before.adds);
    }

    static int calls(ChatMessage message) {
        return message instanceof AiMessage ai ? ai.toolExecutionRequests().size() : 0;
    }
}
