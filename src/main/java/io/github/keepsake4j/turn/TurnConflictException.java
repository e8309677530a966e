package io.github.keepsake4j.turn;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a turn cannot begin because another turn of the memory is in progress. The rejected turn has read and
 * written nothing. Retryable.
 */
public class TurnConflictException extends KeepsakeException {

    /**
     * Creates the exception.
     *
     * @param key the memory
     * @param turnWait the time for which this turn should wait for the other one, or null if it should not wait
     * @param cause the exception that ended the wait, or null
     */
    public TurnConflictException(MemoryKey key, @Nullable Duration turnWait, @Nullable Throwable cause) {
        super(
                "Memory " + key + ": another turn is in progress"
                        + (cause instanceof InterruptedException
                                ? ", and the wait for its end was interrupted"
                                : turnWait == null ? "" : ", and did not end within turnWait, " + turnWait)
                        + "; this turn was not begun. Try again when the other turn is over",
                cause);
    }

    @Override
    public boolean isRetryable() {
        return true;
    }
}
