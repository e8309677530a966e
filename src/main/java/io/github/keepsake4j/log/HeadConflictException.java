package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import org.jspecify.annotations.Nullable;

/**
 * The memory is not where an append expected it: another writer was first. Not retryable as it is: read again and decide
 * anew.
 */
public class HeadConflictException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /** The head that is there. */
    private final @Nullable String actualHead;

    /**
     * Makes the error for a head.
     *
     * @param key the memory
     * @param expectedHead the head that was expected, or null for none
     * @param actualHead the head that is there, or null for none
     */
    public HeadConflictException(MemoryKey key, @Nullable String expectedHead, @Nullable String actualHead) {
        super(
                "Memory " + key + ": the head is " + actualHead + ", not " + expectedHead + "; nothing was appended",
                null);
        this.actualHead = actualHead;
    }

    /**
     * Makes the error for a revision.
     *
     * @param key the memory
     * @param expectedRevision the revision that was expected
     * @param actual the position that is there
     */
    public HeadConflictException(MemoryKey key, long expectedRevision, Position actual) {
        super(
                "Memory " + key + ": revision " + actual.revision() + " is in force, not " + expectedRevision
                        + "; nothing was appended",
                null);
        this.actualHead = actual.head();
    }

    /**
     * Returns the head that is there.
     *
     * @return the message id, or null if the memory has no messages
     */
    public @Nullable String actualHead() {
        return actualHead;
    }
}
