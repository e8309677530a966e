package io.github.keepsake4j.testing;

import java.util.Random;

/** Vectors of embedding models. */
public final class Vectors {

    private Vectors() {}

    public static float[] random(Random random, int dimension) {
        float[] vector = new float[dimension];
        for (int i = 0; i < dimension; i++) {
            vector[i] = (float) random.nextGaussian();
        }
        return vector;
    }

    /** Returns the cosine as exact as a double can be. */
    public static double cosine(float[] a, float[] b) {
        double product = 0;
        double ofA = 0;
        double ofB = 0;
        for (int i = 0; i < a.length; i++) {
            product += (double) a[i] * b[i];
            ofA += (double) a[i] * a[i];
            ofB += (double) b[i] * b[i];
        }
        return product / Math.sqrt(ofA * ofB);
    }
}
