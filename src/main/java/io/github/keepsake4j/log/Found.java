package io.github.keepsake4j.log;

import io.github.keepsake4j.message.LoggedMessage;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message that was found.
 *
 * @param message the message
 * @param made how the answer was made, or null if nothing is known or the {@link Selection} did not ask
 */
public record Found(LoggedMessage message, @Nullable Made made) {

    /** Checks the components. */
    public Found {
        Objects.requireNonNull(message, "message");
    }
}
