package io.github.keepsake4j.message;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store cannot be reached or is too busy. Retryable: an append that is sent again with the same
 * message ids is never stored twice.
 */
public class StorageUnavailableException extends KeepsakeException {

    /**
     * Creates an exception without a cause.
     *
     * @param message the action that failed, and the memory
     */
    public StorageUnavailableException(String message) {
        this(message, null);
    }

    /**
     * Creates the exception.
     *
     * @param message the action that failed, and the memory
     * @param cause the driver's exception, or null
     */
    public StorageUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean isRetryable() {
        return true;
    }
}
