package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;

/**
 * Thrown when work began before the memory was erased, so its result is refused. Not retryable: read again and start
 * over.
 */
public class ErasedException extends KeepsakeException {

    /**
     * Creates the exception.
     *
     * @param key the memory
     * @param epoch the epoch that the work belongs to
     * @param current the epoch in force
     */
    public ErasedException(MemoryKey key, long epoch, long current) {
        super("Memory " + key + " was erased: epoch " + current + " is in force, not " + epoch
                + "; nothing was written. Read again and start over");
    }
}
