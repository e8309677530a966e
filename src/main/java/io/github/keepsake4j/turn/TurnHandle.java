package io.github.keepsake4j.turn;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A turn that ends elsewhere than where it began, such as in the callback of a streaming model. Close it when the turn is
 * over, from any thread; until then, and at most until its lease expires, other turns are rejected or wait. Thread-safe.
 */
public final class TurnHandle implements AutoCloseable {

    private final AtomicReference<@Nullable Runnable> end;

    TurnHandle(Runnable end) {
        this.end = new AtomicReference<>(end);
    }

    /** Ends the turn. Idempotent; never fails, since a lease that cannot be given back expires by itself. */
    @Override
    public void close() {
        Runnable first = end.getAndSet(null);
        if (first != null) {
            first.run();
        }
    }
}
