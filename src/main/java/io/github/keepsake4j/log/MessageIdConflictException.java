package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;

/** A message id is used already, with other content or for a part of the batch only. Not retryable: take a new id, or send what was sent before. */
public class MessageIdConflictException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /** The id. */
    private final String messageId;

    /**
     * Makes the error.
     *
     * @param key the memory
     * @param messageId the id
     * @param problem what is wrong with it
     */
    public MessageIdConflictException(MemoryKey key, String messageId, String problem) {
        super("Memory " + key + ": message id " + messageId + " " + problem + "; nothing was appended", null);
        this.messageId = messageId;
    }

    /**
     * Returns the id that is used.
     *
     * @return the message id
     */
    public String messageId() {
        return messageId;
    }
}
