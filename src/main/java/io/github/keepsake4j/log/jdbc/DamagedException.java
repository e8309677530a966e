package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.UnreadableDataException;
import org.jspecify.annotations.Nullable;

/** Stored rows contradict each other, or hold what no row may hold. {@link Connections} adds the memory's name. */
final class DamagedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DamagedException(String problem) {
        this(problem, null);
    }

    DamagedException(String problem, @Nullable Throwable cause) {
        super(problem, cause);
    }

    /** Returns the sentence that says what is wrong, without message text. */
    String problem() {
        return String.valueOf(getMessage());
    }

    /** Returns the error for the caller. */
    KeepsakeException during(String what) {
        return new UnreadableDataException(
                what + ": the stored data is damaged: " + problem()
                        + ". Nothing is written over it: check() lists the damage, repair() mends it",
                this);
    }
}
