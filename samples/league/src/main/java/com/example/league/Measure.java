package com.example.league;

import java.util.Arrays;
import java.util.stream.LongStream;

/** The samples of one thing, in the order in which they were taken. */
final class Measure {

    private long[] samples = new long[64];
    private int size;

    void add(long sample) {
        if (size == samples.length) {
            samples = Arrays.copyOf(samples, size * 2);
        }
        samples[size++] = sample;
    }

    int size() {
        return size;
    }

    LongStream samples() {
        return Arrays.stream(samples, 0, size);
    }

    long sum() {
        return samples().sum();
    }

    long least() {
        return samples().min().orElse(0);
    }

    long median() {
        return quantile(0.5);
    }

    long p95() {
        return quantile(0.95);
    }

    private long quantile(double part) {
        long[] sorted = samples().sorted().toArray();
        return sorted.length == 0 ? 0 : sorted[Math.min(sorted.length - 1, (int) (part * sorted.length))];
    }
}
