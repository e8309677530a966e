package io.github.keepsake4j.benchmark;

/** Something that is timed, and where its times go. */
record Operation(Measured measured, Body body) {

    /** What is timed. */
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
     * Runs all in turn, one call of each per round, so that whatever else the machine does meets all alike. Every other
     * round goes backwards: nobody always comes behind the same neighbour.
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
