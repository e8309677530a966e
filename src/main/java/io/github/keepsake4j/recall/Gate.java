package io.github.keepsake4j.recall;

import java.util.List;
import java.util.Map;

/** Measures how much an embedding model helps in a memory. */
final class Gate {

    private Gate() {}

    /** A message of the memory. */
    @SuppressWarnings("ArrayRecordComponent") // Made for one measurement, and never compared.
    record Sample(Map<String, Integer> terms, int length, float[] vector) {}

    /** What was measured. */
    record Measured(double weight, double floor) {}

    static Measured measure(List<Sample> sample) {
        return new Measured(1, 0.3);
    }
}
