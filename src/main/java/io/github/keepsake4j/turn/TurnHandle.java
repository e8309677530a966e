package io.github.keepsake4j.turn;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A handle for a turn that ends in another place of the code than it began, such as in the callback of a streaming
 * model. Close it when the turn is over, from any thread. Until then, other turns are rejected or wait, but no longer
 * than the turn's limit. Thread-safe.
 */
public final class TurnHandle implements AutoCloseable {

    private final AtomicReference<@Nullable Runnable> end;

    TurnHandle(Runnable end) {
        this.end = new AtomicReference<>(end);
    }

    /** Ends the turn. Idempotent. Never fails: a lease that cannot be released now is released in the background. */
    @Override
    public void close() {
        Runnable first = end.getAndSet(null);
        if (first != null) {
            first.run();
        }
    }
}
