package io.github.keepsake4j.message;

import org.jspecify.annotations.Nullable;

/**
 * The root of this library's exceptions. The subclass tells the caller what to do: retry ({@link #isRetryable()}),
 * correct the input, or repair stored data. An exception's text names the memory and never contains the text of a
 * message.
 */
public class KeepsakeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what went wrong, where, and what to do about it; never the text of a message
     * @param cause the cause, or null
     */
    public KeepsakeException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * Returns whether the same call may succeed later without any change.
     *
     * @return true if a retry makes sense. Default: false; subclasses override it.
     */
    public boolean isRetryable() {
        return false;
    }
}
