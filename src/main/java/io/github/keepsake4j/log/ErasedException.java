package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;

/** The memory was erased after this work began, so its result is refused. Not retryable: begin afresh. */
public class ErasedException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes the error.
     *
     * @param key the memory
     * @param epoch the epoch that the work belongs to
     * @param current the epoch in force
     */
    public ErasedException(MemoryKey key, long epoch, long current) {
        super(
                "Memory " + key + " was erased: epoch " + current + " is in force, not " + epoch
                        + "; nothing was written. Read again to begin afresh",
                null);
    }
}
