package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a memory is not at the position that an append expects, because another writer was first. Do not retry it
 * unchanged: read again and decide again.
 */
public class HeadConflictException extends KeepsakeException {

    /** The actual head. */
    private final @Nullable String actualHead;

    /**
     * Creates the exception for a head.
     *
     * @param key the memory
     * @param expectedHead the expected head, or null for none
     * @param actualHead the actual head, or null for none
     */
    public HeadConflictException(MemoryKey key, @Nullable String expectedHead, @Nullable String actualHead) {
        super("Memory " + key + ": the head is " + actualHead + ", not " + expectedHead + "; nothing was appended");
        this.actualHead = actualHead;
    }

    /**
     * Creates the exception for a revision.
     *
     * @param key the memory
     * @param expectedRevision the expected revision
     * @param actual the actual position
     */
    public HeadConflictException(MemoryKey key, long expectedRevision, Position actual) {
        super("Memory " + key + ": revision " + actual.revision() + " is in force, not " + expectedRevision
                + "; nothing was appended");
        this.actualHead = actual.head();
    }

    /**
     * Returns the actual head.
     *
     * @return the message id, or null if the memory has no messages
     */
    public @Nullable String actualHead() {
        return actualHead;
    }
}
