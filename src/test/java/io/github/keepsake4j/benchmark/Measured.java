package io.github.keepsake4j.benchmark;

import java.util.Arrays;

/** The durations of many calls of one kind. Not thread-safe. */
final class Measured {

    private final String name;
    private long[] nanos = new long[1024];
    private int size;

    Measured(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    void add(long elapsed) {
        if (size == nanos.length) {
            nanos = Arrays.copyOf(nanos, size * 2);
        }
        nanos[size++] = elapsed;
    }

    void addAll(Measured other) {
        for (int i = 0; i < other.size; i++) {
            add(other.nanos[i]);
        }
    }

    void clear() {
        size = 0;
    }

    int size() {
        return size;
    }

    /** Returns the median in microseconds. */
    double median() {
        return quantile(0.5);
    }

    /** Returns the 99th percentile in microseconds. */
    double p99() {
        return quantile(0.99);
    }

    private double quantile(double share) {
        long[] sorted = Arrays.copyOf(nanos, size);
        Arrays.sort(sorted);
        return sorted[(int) Math.min(size - 1L, Math.round(share * (size - 1)))] / 1000.0;
    }

    /** Returns one line with the name and every sample, in the order of measuring, in whole microseconds. */
    String raw() {
        StringBuilder line = new StringBuilder(name);
        for (int i = 0; i < size; i++) {
            line.append(',').append((nanos[i] + 500) / 1000);
        }
        return line.toString();
    }
}
