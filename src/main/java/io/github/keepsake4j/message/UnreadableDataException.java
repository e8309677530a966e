package io.github.keepsake4j.message;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when stored data cannot be read. The stored bytes are kept and are not overwritten; they need repair. Not
 * retryable.
 */
public class UnreadableDataException extends KeepsakeException {

    /**
     * Creates an exception without a cause.
     *
     * @param message what cannot be read, where, and what to do about it; never the text of a message
     */
    public UnreadableDataException(String message) {
        this(message, null);
    }

    /**
     * Creates an exception that names the unreadable data.
     *
     * @param message what cannot be read, where, and what to do about it; never the text of a message
     * @param cause the cause, or null
     */
    public UnreadableDataException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
