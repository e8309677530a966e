package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;
import org.jspecify.annotations.Nullable;

/** The storage cannot be reached, or is too busy, at the moment. Retryable: an append that is sent again with the same message ids is never stored twice. */
public class StorageUnavailableException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes the error.
     *
     * @param message what could not be done, and for which memory
     * @param cause what the driver said
     */
    public StorageUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean isRetryable() {
        return true;
    }
}
