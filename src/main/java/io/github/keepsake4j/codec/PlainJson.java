package io.github.keepsake4j.codec;

import io.github.keepsake4j.message.InvalidInputException;
import org.jspecify.annotations.Nullable;

/** Converts JSON of callers to plain values and back. Pure functions. */
public final class PlainJson {

    /**
     * A value that is JSON already.
     *
     * @param json the JSON, as {@link #write} returns it
     */
    public record Written(String json) {}

    private PlainJson() {}

    /**
     * Reads one JSON value.
     *
     * @param field the caller's name for the text
     * @param json the text
     * @return null or a String, Boolean, Number, List or Map with String keys in the order of the text
     * @throws InvalidInputException if the text is not a JSON value, or an object has two fields of one name; the
     * exception names the place and quotes nothing
     */
    public static @Nullable Object read(String field, String json) {
        return Json.read(json, true, problem -> new InvalidInputException(field, problem));
    }

    /**
     * Writes one JSON value.
     *
     * @param value a String, Boolean, Number, {@link Written}, List or Map with String keys, of such values or nulls
     * @return JSON without raw NUL and without raw unpaired surrogates
     */
    public static String write(Object value) {
        return Json.write(value);
    }
}
