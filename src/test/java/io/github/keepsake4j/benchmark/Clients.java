package io.github.keepsake4j.benchmark;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;

/** Many clients that do the same at the same time, without a pause. */
final class Clients implements AutoCloseable {

    private final ExecutorService threads;
    private final int count;

    Clients(int count) {
        this.count = count;
        this.threads = Executors.newFixedThreadPool(count);
    }

    /** Lets all clients work for the given time. The duration of each call is added to {@code measured}. */
    void run(long millis, IntFunction<Operation.Body> client, Measured measured) throws Exception {
        long end = System.nanoTime() + millis * 1_000_000;
        List<Future<Measured>> parts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Operation operation = new Operation("", client.apply(i));
            parts.add(threads.submit(() -> {
                while (System.nanoTime() < end) {
                    operation.sample();
                }
                return operation.measured();
            }));
        }
        for (Future<Measured> part : parts) {
            measured.addAll(part.get());
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
