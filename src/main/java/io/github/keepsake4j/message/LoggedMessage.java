package io.github.keepsake4j.message;

import dev.langchain4j.data.message.ChatMessage;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message as the log stores it.
 *
 * @param id the message's id, unique within its memory
 * @param parentId the id of the message that it follows, or null if it starts a branch of its own
 * @param sequence its position in the memory's log, from 1, assigned by the store; it alone defines the order of
 *     messages
 * @param message the message; an {@link UnknownMessage} if a newer version wrote a type that this version does not know, or if a
 *     repair found the message unreadable
 * @param tokens its size in tokens, counted once when it was appended
 * @param tokenCounter the name of the counter that counted the tokens
 * @param createdAt the time when the store appended it, in UTC with microsecond precision; it does not define any order
 * @param outcome how it ended if it did not end well, or null
 * @param question the id of the question of the turn that it belongs to, its own id if it is that question; null if it was
 *     not appended by a bound turn
 */
public record LoggedMessage(
        String id,
        @Nullable String parentId,
        long sequence,
        ChatMessage message,
        int tokens,
        String tokenCounter,
        Instant createdAt,
        @Nullable Outcome outcome,
        @Nullable String question) {

    /**
     * Creates a message without an outcome.
     *
     * @param id the message's id
     * @param parentId the id of the message that it follows, or null
     * @param sequence its position in the memory's log
     * @param message the message
     * @param tokens its size in tokens
     * @param tokenCounter the name of the counter that counted the tokens
     * @param createdAt the time when the store appended it
     */
    public LoggedMessage(
            String id,
            @Nullable String parentId,
            long sequence,
            ChatMessage message,
            int tokens,
            String tokenCounter,
            Instant createdAt) {
        this(id, parentId, sequence, message, tokens, tokenCounter, createdAt, null, null);
    }

    /**
     * Returns a copy that belongs to a turn.
     *
     * @param other the id of the turn's question, or null for none
     * @return the copy
     */
    public LoggedMessage ofTurn(@Nullable String other) {
        return new LoggedMessage(id, parentId, sequence, message, tokens, tokenCounter, createdAt, outcome, other);
    }

    /**
     * Returns a copy that holds another message under the same id, position and size.
     *
     * @param other the other message
     * @return the copy, or this object if the message is the same
     */
    public LoggedMessage withMessage(ChatMessage other) {
        return other == message
                ? this
                : new LoggedMessage(id, parentId, sequence, other, tokens, tokenCounter, createdAt, outcome, question);
    }

    /**
     * Returns a copy that has another outcome.
     *
     * @param other the other outcome, or null for none
     * @return the copy
     */
    public LoggedMessage withOutcome(@Nullable Outcome other) {
        return new LoggedMessage(id, parentId, sequence, message, tokens, tokenCounter, createdAt, other, question);
    }

    /** Returns a description without the message's text, so that it can be written to logs. */
    @Override
    public String toString() {
        return "LoggedMessage[id=" + id + ", parentId=" + parentId + ", sequence=" + sequence + ", type="
                + message.type() + ", tokens=" + tokens + (outcome == null ? "" : ", outcome=" + outcome) + "]";
    }
}
