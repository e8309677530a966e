package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;

/**
 * Thrown when a batch names a parent that is not in the memory. Not retryable: name a message that is in the memory.
 */
public class UnknownParentException extends KeepsakeException {

    /**
     * Creates the exception.
     *
     * @param key the memory
     * @param parentId the parent's id
     */
    public UnknownParentException(MemoryKey key, String parentId) {
        super("Memory " + key + ": parent " + parentId + " is not in the memory; nothing was appended");
    }
}
