package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;

/** A call names a message that is not in the memory, or not on the branch. Not retryable: name an existing message. */
public class UnknownMessageException extends InvalidInputException {

    private UnknownMessageException(String field, String problem) {
        super(field, problem);
    }

    /**
     * Makes the error for a message that is not in the memory.
     *
     * @param key the memory
     * @param field the field that names the message
     * @param messageId the message's id
     * @return the error to throw
     */
    public static UnknownMessageException notThere(MemoryKey key, String field, String messageId) {
        return new UnknownMessageException(field, "message " + messageId + " is not in memory " + key);
    }

    /**
     * Makes the error for a message that is no ancestor of a branch's end.
     *
     * @param key the memory
     * @param field the field that names the message
     * @return the error to throw
     */
    public static UnknownMessageException noAncestor(MemoryKey key, String field) {
        return new UnknownMessageException(
                field, "names a message that is not an ancestor of the branch's end in memory " + key);
    }
}
