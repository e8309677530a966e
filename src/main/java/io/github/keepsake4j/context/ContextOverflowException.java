package io.github.keepsake4j.context;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;

/**
 * Thrown when the turn in progress does not fit the limits of a model's view, not even with only its user message and
 * last round. Not retryable: raise the limit, send less, or clear the memory.
 */
public class ContextOverflowException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param key the memory
     */
    public ContextOverflowException(MemoryKey key) {
        super(
                "Memory " + key
                        + ": the newest turn's user message and last round exceed the strategy's limits. Raise"
                        + " the limit, send less, or clear the memory; the log keeps everything",
                null);
    }
}
