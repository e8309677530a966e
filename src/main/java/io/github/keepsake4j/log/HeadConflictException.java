package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import org.jspecify.annotations.Nullable;

/** The head is not the expected one: somebody was first. Not retryable as it stands: read again and decide anew. */
public class HeadConflictException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /** The head that is there. */
    private final @Nullable String actualHead;

    /**
     * Makes the error.
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
     * Returns the head that is there.
     *
     * @return the message id, or null if the memory has no messages
     */
    public @Nullable String actualHead() {
        return actualHead;
    }
}
