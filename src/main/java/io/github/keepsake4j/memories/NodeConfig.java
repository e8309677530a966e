package io.github.keepsake4j.memories;

import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a JSON object that configures something. Unknown fields are ignored. A field of null counts as absent.
 * A field of a wrong type causes an error that names it. Immutable.
 */
public final class NodeConfig {

    /** A configuration without fields. */
    public static final NodeConfig EMPTY = of(Map.of());

    private final JsonFields fields;

    NodeConfig(JsonFields fields) {
        this.fields = fields;
    }

    /**
     * Returns a configuration of plain values.
     *
     * @param fields Strings, Booleans, Numbers, Lists and Maps by name
     * @return the configuration
     */
    public static NodeConfig of(Map<String, ?> fields) {
        return new NodeConfig(JsonFields.of("", new HashMap<>(fields)));
    }

    /**
     * Reads a JSON object.
     *
     * @param json the text
     * @return the configuration
     * @throws InvalidInputException if the text is not a JSON object
     */
    public static NodeConfig ofJson(String json) {
        return new NodeConfig(JsonFields.read("config", json));
    }

    /**
     * Returns a text.
     *
     * @param name the field's name
     * @return the text, or null if it is absent
     * @throws InvalidInputException if the field is not a text
     */
    public @Nullable String text(String name) {
        return fields.text(name);
    }

    /**
     * Returns a text.
     *
     * @param name the field's name
     * @param otherwise the value to return if the field is absent
     * @return the text
     * @throws InvalidInputException if the field is not a text
     */
    public String text(String name, String otherwise) {
        String text = text(name);
        return text == null ? otherwise : text;
    }

    /**
     * Returns a flag.
     *
     * @param name the field's name
     * @param otherwise the value to return if the field is absent
     * @return the flag
     * @throws InvalidInputException if the field is not true or false
     */
    public boolean flag(String name, boolean otherwise) {
        Boolean flag = fields.flag(name);
        return flag == null ? otherwise : flag;
    }

    /**
     * Returns a whole number.
     *
     * @param name the field's name
     * @param otherwise the value to return if the field is absent
     * @param least the smallest number that is allowed
     * @return the number
     * @throws InvalidInputException if the field is not a whole number, or too small
     */
    public int number(String name, int otherwise, int least) {
        Integer number = fields.number(name);
        if (number == null) {
            return otherwise;
        }
        if (number < least) {
            throw fields.wrong(name, "must be " + least + " or more, is " + number);
        }
        return number;
    }
}
