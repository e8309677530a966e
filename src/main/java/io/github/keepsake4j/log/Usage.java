package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;

/**
 * Tokens that a model used, as its provider counted them.
 *
 * @param input tokens of requests, those from a cache included; 0 or more
 * @param output tokens of answers; 0 or more
 * @param cached tokens of requests that the provider took from its cache; 0 or more
 */
public record Usage(long input, long output, long cached) {

    /** No tokens. */
    public static final Usage NONE = new Usage(0, 0, 0);

    /**
     * Checks the components.
     *
     * @throws InvalidInputException if a number is negative
     */
    public Usage {
        InvalidInputException.checkAtLeast("usage input", 0, input);
        InvalidInputException.checkAtLeast("usage output", 0, output);
        InvalidInputException.checkAtLeast("usage cached", 0, cached);
    }

    /**
     * Returns the sum of this usage and another.
     *
     * @param other the other usage
     * @return the sum
     */
    public Usage plus(Usage other) {
        return new Usage(input + other.input, output + other.output, cached + other.cached);
    }
}
