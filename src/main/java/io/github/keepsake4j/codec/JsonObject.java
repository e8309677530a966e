package io.github.keepsake4j.codec;

import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Builds a JSON object field by field. The fields keep the order in which they are set. */
public final class JsonObject extends LinkedHashMap<String, @Nullable Object> {

    /** Creates an object without fields. */
    public JsonObject() {}

    /**
     * Sets a field.
     *
     * @param name the field's name
     * @param value the value, which {@link PlainJson#write} can write, or null
     * @return this object
     */
    public JsonObject with(String name, @Nullable Object value) {
        put(name, value);
        return this;
    }

    /**
     * Sets a field unless its value is null.
     *
     * @param name the field's name
     * @param value the value, or null
     * @return this object
     */
    public JsonObject withPresent(String name, @Nullable Object value) {
        return value == null ? this : with(name, value);
    }

    /**
     * Sets a field to a number. Does nothing for 0, which means no number.
     *
     * @param name the field's name
     * @param number the number
     * @return this object
     */
    public JsonObject withAny(String name, long number) {
        return number == 0 ? this : with(name, number);
    }

    /**
     * Sets a field to a list unless that is empty.
     *
     * @param name the field's name
     * @param list values that {@link PlainJson#write} can write
     * @return this object
     */
    public JsonObject withAny(String name, List<?> list) {
        return list.isEmpty() ? this : with(name, list);
    }
}
