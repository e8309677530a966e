package io.github.keepsake4j.message;

import dev.langchain4j.data.message.ChatMessage;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One message as the log keeps it.
 *
 * @param id its id, unique within its memory
 * @param parentId the id of the message that it follows, or null if it starts a branch of its own
 * @param sequence its place in the memory's log, from 1, assigned by the store; the only order there is
 * @param message the message; an {@link UnknownMessage} if a newer version wrote a type that this one doesn't know
 * @param tokens its size in tokens, counted once when it was appended
 * @param tokenCounter the name of the counter that counted them
 * @param createdAt when the store appended it, in microseconds of UTC; orders nothing
 */
public record LoggedMessage(
        String id,
        @Nullable String parentId,
        long sequence,
        ChatMessage message,
        int tokens,
        String tokenCounter,
        Instant createdAt) {

    /**
     * Puts another message in its place, with the same id, place and size.
     *
     * @param other the other message
     * @return a copy; this one if it is the same message
     */
    public LoggedMessage withMessage(ChatMessage other) {
        return other == message
                ? this
                : new LoggedMessage(id, parentId, sequence, other, tokens, tokenCounter, createdAt);
    }

    /** Leaves the message's text out, so that it can stand in logs. */
    @Override
    public String toString() {
        return "LoggedMessage[id=" + id + ", parentId=" + parentId + ", sequence=" + sequence + ", type="
                + message.type() + ", tokens=" + tokens + "]";
    }
}
