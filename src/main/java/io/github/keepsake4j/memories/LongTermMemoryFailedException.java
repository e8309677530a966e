package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.KeepsakeException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a model or a workflow created no long-term memory that can be stored. Earlier memories stay, and the next run tries
 * the same messages again, {@value Progress.Step#MAX_FAILURES} times in all. Retryable.
 */
public class LongTermMemoryFailedException extends KeepsakeException {

    /**
     * Creates the exception.
     *
     * @param message what failed and why; never the text of a message
     * @param cause the cause, or null
     */
    public LongTermMemoryFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean isRetryable() {
        return true;
    }
}
