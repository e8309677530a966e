package io.github.keepsake4j.benchmark;

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
     * Runs all operations in turn, one call of each per round, so that other work on the machine affects all of them
     * alike. Every other round runs in reverse order, so that no operation always follows the same one.
     */
    static void interleave(java.util.List<Operation> operations, int warmUp, int samples) throws Exception {
        for (int round = 0; round < warmUp + samples; round++) {
            if (round == warmUp) {
                operations.forEach(operation -> operation.measured().clear());
            }
            for (int i = 0; i < operations.size(); i++) {
                operations.get(round % 2 == 0 ? i : operations.size() - 1 - i).sample();
            }
        }
    }
}
