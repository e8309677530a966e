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

    /** How many of {@link #pending}, at its end, a failed add was about: they were sent and may be stored already. */
    int unacknowledged;

    /** What a failed add was about and another call has written since: adding it again is a retry. */
    List<ChatMessage> writtenLate = List.of();

    /** How many tool results the last assistant message waits for. */
    int awaited;

    /** Whether {@link #seen} is what the memory holds, because the last thing done was a tool round of this turn. */
    boolean current;

    /** Soft, since a turn may stay open for ever, and a memory must stay cheap. */
    private SoftReference<@Nullable Seen> seen = new SoftReference<>(null);

    /** Set after a clear, until something else happens. */
    private SoftReference<@Nullable Relink> relink = new SoftReference<>(null);

    @Nullable
    Seen seen() {
        return seen.get();
    }

    void seen(@Nullable Seen newest, boolean isCurrent) {
        seen = new SoftReference<>(newest);
        current = isCurrent;
    }

    @Nullable
    Relink relink() {
        return relink.get();
    }

    void relink(@Nullable Relink newest) {
        relink = new SoftReference<>(newest);
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

    /** What the failed add was about. */
    List<ChatMessage> failed() {
        return pending.subList(pending.size() - unacknowledged, pending.size()).stream()
                .map(NewMessage::message)
                .toList();
    }

    /** Whether two lists hold the very same messages. */
    static boolean same(List<ChatMessage> one, List<ChatMessage> other) {
        if (one.isEmpty() || one.size() != other.size()) {
            return false;
        }
        for (int i = 0; i < one.size(); i++) {
            if (one.get(i) != other.get(i)) {
                return false;
            }
        }
        return true;
    }

    static int calls(ChatMessage message) {
        return message instanceof AiMessage ai ? ai.toolExecutionRequests().size() : 0;
    }
}
