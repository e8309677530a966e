package io.github.keepsake4j.message;

import org.jspecify.annotations.Nullable;

/**
 * Root of every error of this library. A subclass says what a caller can do: retry ({@link #isRetryable()}), fix the
 * input, or repair data. Texts name the memory and never hold message text.
 */
public class KeepsakeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes an error.
     *
     * @param message what went wrong, where, and what to do; never message text
     * @param cause what caused it, or null
     */
    public KeepsakeException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * Tells whether the same call may succeed later without any change.
     *
     * @return true if a retry makes sense; false unless a subclass says otherwise
     */
    public boolean isRetryable() {
        return false;
    }
}
