package io.github.keepsake4j.transfer;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.Ids;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message of another store.
 *
 * @param message the message
 * @param createdAt when it was created, or null if the store does not have the time; it then gets the time of the
 * import
 * @param id its id in the other store, which it keeps; null if it has none. Either all messages of a conversation have
 * an id, or none
 * @param parentId the id of the message before it, or null for none; ignored for a message without an id
 */
public record ImportedMessage(
        ChatMessage message, @Nullable Instant createdAt, @Nullable String id, @Nullable String parentId) {

    /** Checks the components. */
    public ImportedMessage {
        Objects.requireNonNull(message, "message");
        if (id != null) {
            Ids.check("id", id);
        }
    }

    /**
     * Creates a message of a store that keeps only lists.
     *
     * @param message the message
     * @return the message, without a time and an id
     */
    public static ImportedMessage of(ChatMessage message) {
        return new ImportedMessage(message, null, null, null);
    }

    /** Names the type and the id. The text may be confidential. */
    @Override
    public String toString() {
        return "ImportedMessage[type=" + message.type() + ", id=" + id + "]";
    }
}
