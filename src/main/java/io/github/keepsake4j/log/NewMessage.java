package io.github.keepsake4j.log;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message to append.
 *
 * @param id its id, unique within its memory; appending it again is recognised by it
 * @param message the message
 * @param tokens its size in tokens, 0 or more
 * @param tokenCounter the name of the counter that counted them
 * @param createdAt when it was made, for imports, truncated to microseconds as {@link InputRules#time} does; null for the
 *     store's clock
 */
public record NewMessage(String id, ChatMessage message, int tokens, String tokenCounter, @Nullable Instant createdAt) {

    /** Checks the parts and truncates the time. */
    public NewMessage {
        Ids.check("message id", id);
        if (id.equals(Ids.BEFORE_IN_TIME)) {
            throw new InvalidInputException("message id", "the all-zero UUID is no id: as a parent it has a meaning");
        }
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(tokenCounter, "tokenCounter");
        if (tokens < 0) {
            throw new InvalidInputException("tokens", "must not be negative");
        }
        createdAt = createdAt == null ? null : InputRules.time("createdAt", createdAt);
    }

    /**
     * Makes a message with an id of our own.
     *
     * @param message the message
     * @param tokens its size in tokens, 0 or more
     * @param tokenCounter the name of the counter that counted them
     * @return the message to append
     */
    public static NewMessage of(ChatMessage message, int tokens, String tokenCounter) {
        return new NewMessage(Ids.next(), message, tokens, tokenCounter, null);
    }

    /** Leaves the message's text out, so that it can stand in logs. */
    @Override
    public String toString() {
        return "NewMessage[id=" + id + ", type=" + message.type() + ", tokens=" + tokens + "]";
    }
}
