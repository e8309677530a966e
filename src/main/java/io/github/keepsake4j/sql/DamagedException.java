package io.github.keepsake4j.sql;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.UnreadableDataException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when stored rows contradict each other, or contain invalid values. {@link Connections} add the memory's name.
 */
public final class DamagedException extends KeepsakeException {

    /**
     * Creates the exception.
     *
     * @param problem the problem, without message text
     */
    public DamagedException(String problem) {
        this(problem, null);
    }

    /**
     * Creates the exception.
     *
     * @param problem the problem, without message text
     * @param cause the reason, or null
     */
    public DamagedException(String problem, @Nullable Throwable cause) {
        super(problem, cause);
    }

    /**
     * Returns the sentence that describes the problem.
     *
     * @return the sentence, without message text
     */
    public String problem() {
        return String.valueOf(getMessage());
    }

    /** Returns the error for the caller. */
    KeepsakeException during(Object what, SqlSchema schema) {
        return new UnreadableDataException(
                what + ": the stored data is damaged: " + problem() + "; " + schema.whenDamaged(), this);
    }
}
