package io.github.keepsake4j.memories.store;

import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.recall.vectors.QueryVector;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The direction of a fact's meaning, one byte for each dimension. Its text, which a store keeps with the fact, is the
 * name of the model, a colon and the bytes in Base64.
 */
@SuppressWarnings("ArrayRecordComponent") // Private to this package, and never compared.
record FactVector(byte[] values) {

    /** Rounds a vector; returns null if it has no direction. */
    static @Nullable FactVector of(float[] vector) {
        byte[] values = new byte[vector.length];
        int any = 0;
        int[] components = QueryVector.quantized(vector, Byte.MAX_VALUE);
        for (int i = 0; i < values.length; i++) {
            values[i] = (byte) components[i];
            any |= components[i];
        }
        return any == 0 ? null : new FactVector(values);
    }

    /** Returns the vector of a fact, or null if it has none of this model. */
    static @Nullable FactVector of(MadeMemory fact, String model) {
        String text = fact.vector();
        if (text == null || !text.startsWith(model + ":")) {
            return null;
        }
        try {
            return new FactVector(Base64.getDecoder().decode(text.substring(model.length() + 1)));
        } catch (IllegalArgumentException e) {
            // It is made of the fact's text, which serves alone.
            return null;
        }
    }

    /** Returns the text that a store keeps. */
    String text(String model) {
        return model + ":" + Base64.getEncoder().encodeToString(values);
    }

    /** Returns the cosine of the angle between two vectors, or 0 if their dimensions differ. */
    double cosine(FactVector other) {
        if (values.length != other.values.length) {
            return 0;
        }
        long product = 0;
        long own = 0;
        long others = 0;
        for (int i = 0; i < values.length; i++) {
            product += values[i] * other.values[i];
            own += values[i] * values[i];
            others += other.values[i] * other.values[i];
        }
        return own == 0 || others == 0 ? 0 : product / Math.sqrt((double) own * others);
    }
}
