package io.github.keepsake4j.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Reports the progress of long work on the standard error stream. A terminal gets one line that is rewritten. A file
 * gets a line from time to time, and none for short work.
 */
final class Progress implements AutoCloseable {

    private static final long TERMINAL_NANOS = Duration.ofMillis(100).toNanos();
    private static final long FILE_NANOS = Duration.ofSeconds(10).toNanos();
    private static final String CLEARED = "\r\u001b[K";

    private final PrintWriter err;
    private final boolean rewrites;
    private final LongSupplier nanoTime;
    private long last;
    private boolean shown;

    Progress(PrintWriter err, boolean rewrites, LongSupplier nanoTime) {
        this.err = err;
        this.rewrites = rewrites;
        this.nanoTime = nanoTime;
        this.last = nanoTime.getAsLong();
    }

    void tell(Supplier<String> line) {
        long now = nanoTime.getAsLong();
        if (now - last < (rewrites ? TERMINAL_NANOS : FILE_NANOS)) {
            return;
        }
        last = now;
        if (rewrites) {
            err.print(CLEARED + line.get());
            shown = true;
        } else {
            err.println("keepsake: " + line.get());
        }
        err.flush();
    }

    /** Makes room for other output. */
    void clear() {
        if (shown) {
            err.print(CLEARED);
            err.flush();
            shown = false;
        }
    }

    @Override
    public void close() {
        clear();
    }
}
