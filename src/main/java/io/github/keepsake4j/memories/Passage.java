package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of consecutive messages from which memories are created. Two hashes identify its place. Each is the hash of
 * a message and of all messages before it. So a text that occurs twice has two places. If a message is edited or
 * deleted, the passages that cover it and those behind it no longer belong to the conversation.
 *
 * @param messageIds the ids of the messages, oldest first; empty if they have none
 * @param messages the number of messages; 0 for a memory that was made by hand
 * @param messageHash the SHA-256 of the last message's text in hexadecimal digits, which WilmerAI compares
 * @param after the chained hash of the last message before it; empty at the beginning of the conversation
 * @param upTo the chained hash of its last message; empty for a memory that was made by hand
 */
public record Passage(List<String> messageIds, int messages, String messageHash, String after, String upTo) {

    /** What a memory has that was made by hand. */
    public static final Passage NONE = new Passage(List.of(), 0, "", "", "");

    /** Checks and copies the components. */
    public Passage {
        messageIds = List.copyOf(messageIds);
        InvalidInputException.checkAtLeast("messages", 0, messages);
        Objects.requireNonNull(messageHash, "messageHash");
        Objects.requireNonNull(after, "after");
        Objects.requireNonNull(upTo, "upTo");
    }

    /** Returns the id of the last message, or null if the messages have none. */
    @Nullable
    String lastMessageId() {
        return messageIds.isEmpty() ? null : messageIds.get(messageIds.size() - 1);
    }
}
