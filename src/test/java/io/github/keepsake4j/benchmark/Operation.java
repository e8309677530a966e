package io.github.keepsake4j.benchmark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** A timed operation and its measured times. */
record Operation(Measured measured, Body body) {

    /** The timed code. */
    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }

    Operation(String name, Body body) {
        this(new Measured(name), body);
    }

    void sample() throws Exception {
        long begin = System.nanoTime();
        body.run();
        measured.add(System.nanoTime() - begin);
    }

    /**
     * Runs each operation once per round, so that other work on the machine affects all of them alike. Each round has
     * another random order: a statement is faster after one that reads the same rows, by up to 0.15 of a short read, so
     * in a fixed order neighbours would help each other.
     */
    static void interleave(List<Operation> operations, int warmUp, int samples) throws Exception {
        Random random = new Random(1);
        List<Operation> order = new ArrayList<>(operations);
        for (int round = 0; round < warmUp + samples; round++) {
            if (round == warmUp) {
                operations.forEach(operation -> operation.measured().clear());
            }
            Collections.shuffle(order, random);
            for (Operation operation : order) {
                operation.sample();
            }
        }
    }
}
