package io.github.keepsake4j.context;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;

/**
 * The turn that is going on does not fit the limits of what a model sees, not even its user message and last round. Not
 * retryable: raise the limit, send less, or clear the memory.
 */
public class ContextOverflowException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes the error.
     *
     * @param key the memory
     */
    public ContextOverflowException(MemoryKey key) {
        super(
                "Memory " + key
                        + ": the newest turn's user message and last round are over the strategy's limits. Raise"
                        + " the limit, send less, or clear the memory; the log keeps everything",
                null);
    }
}
