package io.github.keepsake4j.recall.vectors;

/** A vector that is compared with stored ones, as integers: their products are faster than those of floats. Immutable. */
public final class QueryVector {

    /** The largest dimension: the sum of products then fits in 32 bits, whatever the vectors. */
    static final int MAX_DIMENSION = 8_192;

    /** The largest magnitude of a component. That of a stored component is 127. */
    private static final int LARGEST = 2_047;

    private final int[] components;
    private final double scale;

    private QueryVector(int[] components, double scale) {
        this.components = components;
        this.scale = scale;
    }

    /**
     * Returns a vector to compare with stored ones.
     *
     * @param vector its components; the length does not matter. The cosines with a zero vector are 0
     * @return the vector
     */
    public static QueryVector of(float[] vector) {
        int[] components = quantized(vector, LARGEST);
        return new QueryVector(components, reciprocalLength(components));
    }

    /**
     * Rounds components to integers, so that the one with the largest magnitude becomes the largest integer. All are 0 if
     * the vector has no direction: if it is zero, or has a component that is not finite.
     *
     * @param vector the components
     * @param largest the largest integer, 1 or more
     * @return the rounded components
     */
    public static int[] quantized(float[] vector, int largest) {
        double most = 0;
        for (float component : vector) {
            // NaN is the maximum of NaN and any number.
            most = Math.max(most, Math.abs(component));
        }
        int[] quantized = new int[vector.length];
        if (most > 0 && most <= Float.MAX_VALUE) {
            for (int i = 0; i < vector.length; i++) {
                quantized[i] = (int) Math.round(vector[i] / most * largest);
            }
        }
        return quantized;
    }

    /** Returns 1 / length, or 0 for a zero vector. */
    static double reciprocalLength(int[] components) {
        double squares = 0;
        for (int component : components) {
            squares += (double) component * component;
        }
        return squares == 0 ? 0 : 1 / Math.sqrt(squares);
    }

    int dimension() {
        return components.length;
    }

    /**
     * Returns the cosine with a stored vector.
     *
     * @param from where its components begin
     * @param storedScale 1 / its length
     */
    double cosine(byte[] stored, int from, float storedScale) {
        int sum = 0;
        for (int i = 0; i < components.length; i++) {
            sum += components[i] * stored[from + i];
        }
        return Math.max(-1, Math.min(1, sum * scale * storedScale));
    }
}
