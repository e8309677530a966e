package io.github.keepsake4j.codec;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a JSON object that was read, and its place. A field of null counts as absent. A field that is missing
 * or of a wrong type is an error. The error names the field's place and quotes no value. Other fields are ignored. No
 * method changes the fields.
 */
public final class JsonFields {

    /** Makes the error about a place in the JSON. */
    @FunctionalInterface
    public interface Refusal {

        /**
         * Makes an error.
         *
         * @param place the place, such as {@code message.content[0].type}
         * @param problem the problem there, such as "must be a text"
         * @return the error
         */
        KeepsakeException of(String place, String problem);
    }

    /**
     * The place of an object in the bytes from which it was read.
     *
     * @param begin its first byte
     * @param end the byte behind it
     */
    public record Range(long begin, long end) {}

    /** For JSON that this library stored. */
    static final Refusal STORED = (place, problem) -> Json.unreadable(place, "it " + problem);

    private static final String NUMBER = "a whole number";

    private final Map<String, @Nullable Object> values;
    private final @Nullable JsonPath path;
    private final Refusal refusal;
    private final @Nullable IdentityHashMap<Object, Range> places;

    JsonFields(Map<String, @Nullable Object> values, @Nullable JsonPath path, Refusal refusal) {
        this(values, path, refusal, null);
    }

    private JsonFields(
            Map<String, @Nullable Object> values,
            @Nullable JsonPath path,
            Refusal refusal,
            @Nullable IdentityHashMap<Object, Range> places) {
        this.values = values;
        this.path = path;
        this.refusal = refusal;
        this.places = places;
    }

    /**
     * Reads the text of a JSON object that a caller passes in. Its fields have names without a prefix.
     *
     * @param name the caller's name for the text
     * @param json the text
     * @return the fields
     * @throws InvalidInputException if the text is not a JSON object, or contains an object with two fields of one name
     */
    public static JsonFields read(String name, String json) {
        return read(name, json, InvalidInputException::new);
    }

    /**
     * Reads the text of a JSON object. Its fields have names without a prefix.
     *
     * @param name the name for the text
     * @param json the text
     * @param refusal makes the errors of its fields
     * @return the fields
     * @throws InvalidInputException if the text is not a JSON object, or contains an object with two fields of one name
     */
    public static JsonFields read(String name, String json, Refusal refusal) {
        if (PlainJson.read(name, json) instanceof Map<?, ?> map) {
            return new JsonFields(cast(map), null, refusal);
        }
        throw new InvalidInputException(name, "must be a JSON object");
    }

    /**
     * Reads a JSON object in UTF-8. Its fields have names without a prefix.
     *
     * @param bytes holds the object
     * @param start where it begins
     * @param end where it ends
     * @param refusal makes the errors; the place of the outermost object is empty
     * @return the fields
     */
    public static JsonFields read(byte[] bytes, int start, int end, Refusal refusal) {
        IdentityHashMap<Object, Range> places = new IdentityHashMap<>();
        if (Json.read(bytes, start, end, places, problem -> refusal.of("", problem)) instanceof Map<?, ?> map) {
            return new JsonFields(cast(map), null, refusal, places);
        }
        throw refusal.of("", "is no JSON object");
    }

    /**
     * Returns the fields of a value that a caller passes in.
     *
     * @param name the name of the value, a prefix of the names of its fields; empty for none
     * @param value a value that {@link PlainJson#read} returned
     * @return the fields
     * @throws InvalidInputException if the value is no object
     */
    public static JsonFields of(String name, @Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return new JsonFields(cast(map), name.isEmpty() ? null : JsonPath.of(name), InvalidInputException::new);
        }
        throw new InvalidInputException(name, "must be an object");
    }

    /** Returns the fields of a map that {@link Json} read, so its keys are Strings. */
    @SuppressWarnings("unchecked")
    static Map<String, @Nullable Object> cast(Map<?, ?> json) {
        return (Map<String, @Nullable Object>) json;
    }

    /**
     * Refuses fields of other names, unless they are null or empty lists.
     *
     * @param names the names that are known
     */
    public void only(Set<String> names) {
        values.forEach((name, value) -> {
            boolean isEmpty = value == null || (value instanceof List<?> list && list.isEmpty());
            if (!isEmpty && !names.contains(name)) {
                throw wrong(
                        name,
                        "is not known; known are "
                                + String.join(", ", names.stream().sorted().toList()));
            }
        });
    }

    /**
     * Returns the values as they are.
     *
     * @return the values by name, in the order of the text
     */
    public Map<String, @Nullable Object> values() {
        return values;
    }

    /**
     * Returns the values, which are all texts.
     *
     * @return the texts by name, in the order of the text; mutable
     */
    public Map<String, String> strings() {
        Map<String, String> strings = new LinkedHashMap<>();
        values.keySet().forEach(name -> strings.put(name, neededText(name)));
        return strings;
    }

    /**
     * Returns the place of an object that was read from bytes. The object is at most an element of a list in a field of
     * the outermost object.
     *
     * @return its place
     */
    public Range range() {
        return Objects.requireNonNull(places == null ? null : places.get(values));
    }

    /**
     * Returns whether a field is there.
     *
     * @param name the field's name
     * @return true unless it is absent or null
     */
    public boolean has(String name) {
        return values.get(name) != null;
    }

    /**
     * Returns a text.
     *
     * @param name the field's name
     * @return the text, or null if it is absent
     */
    public @Nullable String text(String name) {
        return as(String.class, "a text", name);
    }

    /**
     * Returns a text.
     *
     * @param name the field's name
     * @return the text
     */
    public String neededText(String name) {
        return needed(text(name), name);
    }

    /**
     * Returns a truth value.
     *
     * @param name the field's name
     * @return the value, or null if it is absent
     */
    public @Nullable Boolean flag(String name) {
        return as(Boolean.class, "true or false", name);
    }

    /**
     * Returns a whole number. Some programs have only one type of numbers, and write 5 as 5.0.
     *
     * @param name the field's name
     * @return the number, or null if it is absent
     */
    public @Nullable Integer number(String name) {
        Number number = as(Number.class, NUMBER, name);
        return number == null ? null : (int) whole(name, number, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    /**
     * Returns a whole number of 0 or more.
     *
     * @param name the field's name
     * @param most the largest number that is allowed
     * @return the number
     */
    public long neededNumber(String name, long most) {
        return whole(name, needed(as(Number.class, NUMBER, name), name), 0, most);
    }

    /**
     * Returns a number that is needed.
     *
     * @param name the field
     * @return the number, 0 or more
     */
    public long neededNumber(String name) {
        return neededNumber(name, Long.MAX_VALUE);
    }

    /**
     * Returns a number.
     *
     * @param name the field's name
     * @param otherwise the number to return if the field is absent
     * @return 0 or more
     */
    public long numberOr(String name, long otherwise) {
        return has(name) ? neededNumber(name) : otherwise;
    }

    /**
     * Returns a time.
     *
     * @param name the field's name
     * @return the time
     */
    public Instant neededTime(String name) {
        try {
            return Instant.parse(neededText(name));
        } catch (DateTimeException e) {
            throw wrong(name, "is not a time");
        }
    }

    /**
     * Returns whole numbers of 0 or more.
     *
     * @param name the field's name
     * @return the numbers, empty if the field is absent
     */
    public List<Long> numbers(String name) {
        return items(name, Number.class, NUMBER).stream()
                .map(number -> whole(name, number, 0, Long.MAX_VALUE))
                .toList();
    }

    /**
     * Returns texts.
     *
     * @param name the field's name
     * @return the texts, empty if the field is absent
     */
    public List<String> texts(String name) {
        return items(name, String.class, "a text");
    }

    /**
     * Returns an object.
     *
     * @param name the field's name
     * @return the fields of the object, or null if it is absent
     */
    public @Nullable JsonFields object(String name) {
        Map<?, ?> map = as(Map.class, "an object", name);
        return map == null ? null : new JsonFields(cast(map), at(name), refusal, places);
    }

    /**
     * Returns an object.
     *
     * @param name the field's name
     * @return the fields of the object
     */
    public JsonFields neededObject(String name) {
        return needed(object(name), name);
    }

    /**
     * Returns the objects of a list.
     *
     * @param name the field's name
     * @return the fields of the objects, empty if the list is absent
     */
    public List<JsonFields> objects(String name) {
        List<JsonFields> objects = new ArrayList<>();
        items(name, Map.class, "an object")
                .forEach(item ->
                        objects.add(new JsonFields(cast(item), at(name).index(objects.size()), refusal, places)));
        return objects;
    }

    /** Returns a list. */
    List<?> neededList(String name) {
        return needed(as(List.class, "a list", name), name);
    }

    /**
     * Makes an error about a field.
     *
     * @param name the field's name
     * @param problem the problem
     * @return the error
     */
    public KeepsakeException wrong(String name, String problem) {
        return refusal.of(at(name).toString(), problem);
    }

    JsonPath at(String name) {
        return path == null ? JsonPath.of(name) : path.field(name);
    }

    private <T> T needed(@Nullable T value, String name) {
        if (value == null) {
            throw wrong(name, "is missing");
        }
        return value;
    }

    private <T> @Nullable T as(Class<T> type, String typeName, String name) {
        Object value = values.get(name);
        if (value == null || type.isInstance(value)) {
            return type.cast(value);
        }
        throw wrong(name, "must be " + typeName);
    }

    private <T> List<T> items(String name, Class<T> type, String typeName) {
        List<?> list = as(List.class, "a list", name);
        if (list == null) {
            return List.of();
        }
        List<T> items = new ArrayList<>(list.size());
        for (Object item : list) {
            if (!type.isInstance(item)) {
                throw refusal.of(at(name).index(items.size()).toString(), "must be " + typeName);
            }
            items.add(type.cast(item));
        }
        return items;
    }

    private long whole(String name, Number number, long least, long most) {
        try {
            long whole = new BigDecimal(number.toString()).longValueExact();
            if (whole >= least && whole <= most) {
                return whole;
            }
        } catch (ArithmeticException | NumberFormatException e) {
            // The error is the same as for a number that is too large. It quotes no value.
        }
        throw wrong(name, "must be " + NUMBER + " from " + least + " to " + most);
    }
}
