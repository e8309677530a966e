package io.github.keepsake4j.message;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when an input is invalid and must be corrected by the caller. Nothing was read or written. The exception's
 * text names the field. Not retryable.
 */
public class InvalidInputException extends KeepsakeException {

    /**
     * Creates an exception that names the field.
     *
     * @param field the caller's name for the field
     * @param problem what is wrong with the field and what to do about it; never the text of a message
     */
    public InvalidInputException(String field, String problem) {
        super(field + ": " + problem);
    }

    /**
     * Checks that a value is given.
     *
     * @param field the caller's name for the value
     * @param value the value
     * @param <T> its type
     * @return the value
     * @throws InvalidInputException if it is null
     */
    public static <T> T given(String field, @Nullable T value) {
        if (value == null) {
            throw new InvalidInputException(field, "must not be null");
        }
        return value;
    }

    /**
     * Checks that a number is not too small.
     *
     * @param field the caller's name for the number
     * @param least the smallest number that is allowed
     * @param number the number
     * @throws InvalidInputException if the number is smaller
     */
    public static void checkAtLeast(String field, long least, long number) {
        if (number < least) {
            throw new InvalidInputException(field, "must be " + least + " or more, is " + number);
        }
    }

    /**
     * Checks that a number is in a range.
     *
     * @param field the caller's name for the number
     * @param least the smallest number that is allowed
     * @param most the largest number that is allowed
     * @param number the number
     * @throws InvalidInputException if the number is smaller or larger
     */
    public static void checkRange(String field, long least, long most, long number) {
        if (number < least || number > most) {
            throw new InvalidInputException(field, "must be " + least + " to " + most + ", is " + number);
        }
    }

    /**
     * Checks that a duration is more than zero.
     *
     * @param field the caller's name for the duration
     * @param duration the duration
     * @throws InvalidInputException if the duration is zero or negative
     */
    public static void checkPositive(String field, Duration duration) {
        if (given(field, duration).isZero() || duration.isNegative()) {
            throw new InvalidInputException(field, "must be more than zero, is " + duration);
        }
    }

    /**
     * Checks a text that is stored plainly, so that every store keeps it as it is.
     *
     * @param field the caller's name for the text
     * @param text the text, or null for none
     * @throws InvalidInputException if it contains NUL or an unpaired surrogate
     */
    public static void checkText(String field, @Nullable String text) {
        if (text == null) {
            return;
        }
        if (text.indexOf('\0') >= 0) {
            throw new InvalidInputException(field, "must not contain NUL (U+0000)");
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw new InvalidInputException(field, "is not Unicode text: it contains an unpaired surrogate");
        }
    }
}
