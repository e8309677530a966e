package io.github.keepsake4j.codec;

import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/** A JSON object that is made field by field. Its fields have the order in which they are set. */
public final class JsonObject extends LinkedHashMap<String, @Nullable Object> {

    private static final long serialVersionUID = 1L;

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
}
