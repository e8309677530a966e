package io.github.keepsake4j.benchmark;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/**
 * Timed code of which each call's allocations are recorded too: the bytes of heap that the calling thread allocates.
 * They do not depend on other work on the machine.
 */
final class Allocations implements Operation.Body {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Operation.Body body;
    private long[] bytes = new long[1024];
    private int size;

    Allocations(Operation.Body body) {
        this.body = body;
    }

    @Override
    public void run() throws Exception {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        body.run();
        long after = THREADS.getCurrentThreadAllocatedBytes();
        if (size == bytes.length) {
            bytes = Arrays.copyOf(bytes, size * 2);
        }
        bytes[size++] = after - before;
    }

    /** Returns the median of the newest calls in bytes. Earlier calls also allocated what compiled code does not. */
    long median(int newest) {
        long[] sorted = Arrays.copyOfRange(bytes, size - newest, size);
        Arrays.sort(sorted);
        return sorted[newest / 2];
    }
}
