package io.github.keepsake4j.recall.memories;

import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.message.InvalidInputException;
import java.math.BigDecimal;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a JSON object that configures something. Fields that nothing asks for are ignored. A field of null counts as
 * absent. A field of a wrong type is an error that names it. Immutable.
 */
public final class NodeConfig {

    /** A configuration without fields. */
    public static final NodeConfig EMPTY = new NodeConfig("", Map.of());

    private final String place;
    private final Map<String, @Nullable Object> fields;

    private NodeConfig(String place, Map<?, ?> fields) {
        this.place = place;
        Map<String, @Nullable Object> copy = new LinkedHashMap<>();
        fields.forEach((name, value) -> copy.put(String.valueOf(name), value));
        this.fields = Collections.unmodifiableMap(copy);
    }

    /**
     * Returns a configuration of plain values.
     *
     * @param fields Strings, Booleans, Numbers, Lists and Maps by name
     * @return the configuration
     */
    public static NodeConfig of(Map<String, ?> fields) {
        return new NodeConfig("", fields);
    }

    /**
     * Reads a JSON object.
     *
     * @param json the text
     * @return the configuration
     * @throws InvalidInputException if the text is not a JSON object
     */
    public static NodeConfig ofJson(String json) {
        return of("config", PlainJson.read("config", json));
    }

    /** Returns the fields of a value that must be an object, and where it is. */
    static NodeConfig of(String place, @Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return new NodeConfig(place + ".", map);
        }
        throw new InvalidInputException(place, "must be an object");
    }

    /**
     * Returns a text.
     *
     * @param name the field's name
     * @return the text, or null if it is absent
     * @throws InvalidInputException if the field is no text
     */
    public @Nullable String text(String name) {
        return as(String.class, "a text", name);
    }

    /**
     * Returns a text.
     *
     * @param name the field's name
     * @param otherwise what is returned if the field is absent
     * @return the text
     * @throws InvalidInputException if the field is no text
     */
    public String text(String name, String otherwise) {
        String text = text(name);
        return text == null ? otherwise : text;
    }

    /**
     * Returns a flag.
     *
     * @param name the field's name
     * @param otherwise what is returned if the field is absent
     * @return the flag
     * @throws InvalidInputException if the field is not true or false
     */
    public boolean flag(String name, boolean otherwise) {
        Boolean flag = as(Boolean.class, "true or false", name);
        return flag == null ? otherwise : flag;
    }

    /**
     * Returns a whole number.
     *
     * @param name the field's name
     * @param otherwise what is returned if the field is absent
     * @param least the smallest number that is allowed
     * @return the number
     * @throws InvalidInputException if the field is no whole number, or too small
     */
    public int number(String name, int otherwise, int least) {
        Number number = as(Number.class, "a whole number", name);
        if (number == null) {
            return otherwise;
        }
        try {
            // Some hosts have only one type of numbers, and write 5 as 5.0.
            int whole = new BigDecimal(number.toString()).intValueExact();
            InvalidInputException.checkAtLeast(place + name, least, whole);
            return whole;
        } catch (ArithmeticException | NumberFormatException e) {
            throw new InvalidInputException(place + name, "must be a whole number up to " + Integer.MAX_VALUE);
        }
    }

    /** Returns a field as it is. */
    @Nullable
    Object value(String name) {
        return fields.get(name);
    }

    /** Returns whether a field is there. */
    boolean has(String name) {
        return fields.get(name) != null;
    }

    private <T> @Nullable T as(Class<T> type, String typeName, String name) {
        Object value = fields.get(name);
        if (value != null && !type.isInstance(value)) {
            throw new InvalidInputException(place + name, "must be " + typeName);
        }
        return value == null ? null : type.cast(value);
    }
}
