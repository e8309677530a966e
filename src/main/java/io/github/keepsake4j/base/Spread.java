package io.github.keepsake4j.base;

import java.util.function.Supplier;
import java.util.stream.DoubleStream;

/**
 * How values are spread.
 *
 * @param mean their mean
 * @param deviation their standard deviation
 */
public record Spread(double mean, double deviation) {

    /** Deviations below this come from rounding. */
    private static final double NONE = 1e-9;

    /**
     * Measures values.
     *
     * @param values returns the values; those that are no numbers are left out
     * @return the mean and the deviation; 0 without values
     */
    public static Spread of(Supplier<DoubleStream> values) {
        double mean = values.get().filter(Double::isFinite).average().orElse(0);
        double variance = values.get()
                .filter(Double::isFinite)
                .map(value -> (value - mean) * (value - mean))
                .average()
                .orElse(0);
        return new Spread(mean, Math.sqrt(variance));
    }

    /**
     * Returns by how many deviations a value is above the mean.
     *
     * @param value the value
     * @return the number; 0 if all values are equal
     */
    public double z(double value) {
        return deviation < NONE ? 0 : (value - mean) / deviation;
    }
}
