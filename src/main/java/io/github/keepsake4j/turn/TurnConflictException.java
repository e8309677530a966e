package io.github.keepsake4j.turn;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import org.jspecify.annotations.Nullable;

/** Another turn of the memory is going on, so this one was not begun: nothing was read or written. Retryable. */
public class TurnConflictException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes the error.
     *
     * @param key the memory
     * @param cause what ended the wait, or null
     */
    public TurnConflictException(MemoryKey key, @Nullable Throwable cause) {
        super(
                "Memory " + key + ": another turn is going on"
                        + (cause instanceof InterruptedException ? " and the wait for its end was interrupted" : "")
                        + "; this one was not begun. Try again when it is over",
                cause);
    }

    @Override
    public boolean isRetryable() {
        return true;
    }
}
