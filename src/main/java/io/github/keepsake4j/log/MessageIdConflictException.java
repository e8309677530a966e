package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;

/**
 * Thrown when a message id is already used with other content, or when only a part of a batch is stored. Not retryable:
 * use a new id, or send the original messages.
 */
public class MessageIdConflictException extends KeepsakeException {

    /** The message id. */
    private final String messageId;

    /**
     * Creates the exception.
     *
     * @param key the memory
     * @param messageId the id
     * @param problem the problem with the id
     */
    public MessageIdConflictException(MemoryKey key, String messageId, String problem) {
        super("Memory " + key + ": message id " + messageId + " " + problem + "; nothing was appended");
        this.messageId = messageId;
    }

    /**
     * Returns the id that is already used.
     *
     * @return the message id
     */
    public String messageId() {
        return messageId;
    }
}
