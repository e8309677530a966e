package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;

/** A batch names a parent that is not in the memory. Not retryable: name one that is there. */
public class UnknownParentException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes the error.
     *
     * @param key the memory
     * @param parentId the id that is not there
     */
    public UnknownParentException(MemoryKey key, String parentId) {
        super("Memory " + key + ": parent " + parentId + " is not there; nothing was appended", null);
    }
}
