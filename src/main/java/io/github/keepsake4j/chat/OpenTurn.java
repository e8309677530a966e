package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.log.NewMessage;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a chat memory remembers while a turn is open. Guarded by the memory's lock. */
final class OpenTurn {

    /** The epoch that the turn began in, once it has read. */
    @Nullable
    Long epoch;

    /** A system message that waits for the next read, which tells whether it is new. */
    @Nullable
    SystemMessage heldSystem;

    /** Accepted and not written yet: tool results that wait for the last one, or a batch that failed. */
    final List<NewMessage> pending = new ArrayList<>();

    /** Whether {@link #pending} was sent and not acknowledged: it may be stored already. */
    boolean unacknowledged;

    /** How many tool results the last assistant message waits for. */
    int awaited;

    /** Set after a clear, until something is added that was not there before. */
    @Nullable
    Relink relink;

    /** Whether {@link #seen} is what the memory holds, because the last thing done was a tool round of this turn. */
    boolean current;

    /** Soft, since a turn may stay open for ever, and a memory must stay cheap. */
    private SoftReference<@Nullable Seen> seen = new SoftReference<>(null);

    @Nullable
    Seen seen() {
        return seen.get();
    }

    void seen(@Nullable Seen newest, boolean isCurrent) {
        seen = new SoftReference<>(newest);
        current = isCurrent;
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

    /** Whether the caller repeats the very messages whose write was not acknowledged. */
    boolean isRetry(List<ChatMessage> messages) {
        int offset = pending.size() - messages.size();
        if (!unacknowledged || offset < 0) {
            return false;
        }
        for (int i = 0; i < messages.size(); i++) {
            if (pending.get(offset + i).message() != messages.get(i)) {
                return false;
            }
        }
        return true;
    }

    static int calls(ChatMessage message) {
        return message instanceof AiMessage ai ? ai.toolExecutionRequests().size() : 0;
    }
}
