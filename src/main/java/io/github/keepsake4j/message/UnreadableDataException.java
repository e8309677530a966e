package io.github.keepsake4j.message;

import org.jspecify.annotations.Nullable;

/** Stored data cannot be read. The bytes are kept and nothing is written over them: repair them. Not retryable. */
public class UnreadableDataException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes an error that says what cannot be read.
     *
     * @param message what cannot be read, where, and what to do; never message text
     * @param cause what caused it, or null
     */
    public UnreadableDataException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
