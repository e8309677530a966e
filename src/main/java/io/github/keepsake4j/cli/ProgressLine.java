package io.github.keepsake4j.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Reports the progress of long work on the standard error stream. A terminal gets one line that is rewritten. A file
 * gets a line from time to time, and none for short work.
 */
final class ProgressLine implements AutoCloseable {

    private static final long TERMINAL_NANOS = Duration.ofMillis(100).toNanos();
    private static final long FILE_NANOS = Duration.ofSeconds(10).toNanos();
    private static final String CLEARED = "\r\u001b[K";

    private final PrintWriter err;
    private final boolean rewrites;
    private final LongSupplier nanoTime;
    private final long begun;
    private long last;
    private boolean shown;

    ProgressLine(PrintWriter err, boolean rewrites, LongSupplier nanoTime) {
        this.err = err;
        this.rewrites = rewrites;
        this.nanoTime = nanoTime;
        this.begun = nanoTime.getAsLong();
        this.last = begun;
    }

    /** Tells a step of the work, unless another one was told just before. */
    void tell(Supplier<Step> step) {
        long now = nanoTime.getAsLong();
        if (now - last >= (rewrites ? TERMINAL_NANOS : FILE_NANOS)) {
            tell(now, step);
        }
    }

    /** Tells a step that takes long, on a terminal in any case. */
    void tellLong(Supplier<Step> step) {
        if (rewrites) {
            tell(nanoTime.getAsLong(), step);
        } else {
            tell(step);
        }
    }

    private void tell(long now, Supplier<Step> step) {
        last = now;
        String line = step.get().after(Duration.ofNanos(now - begun));
        if (rewrites) {
            err.print(CLEARED + line);
            shown = true;
        } else {
            err.println("keepsake: " + line);
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
