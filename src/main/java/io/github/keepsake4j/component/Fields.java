package io.github.keepsake4j.component;

import io.github.keepsake4j.message.InvalidInputException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object of an input, and where it is. A field of null counts as absent. A field of the wrong type is an error that
 * names the field.
 *
 * @param values the fields
 * @param path the place with a final dot, or an empty text for the input itself
 */
record Fields(Map<?, ?> values, String path) {

    private static final String WHOLE = "a whole number up to " + Integer.MAX_VALUE;

    static Fields of(String path, @Nullable Object json) {
        if (json instanceof Map<?, ?> map) {
            return new Fields(map, path + ".");
        }
        throw new InvalidInputException(path, "must be an object");
    }

    /** Refuses a field that has another name, unless it is empty. Nothing that is passed is dropped in silence. */
    void only(Set<String> names) {
        values.forEach((name, value) -> {
            boolean empty = value == null || (value instanceof List<?> list && list.isEmpty());
            if (!empty && !names.contains(name)) {
                throw new InvalidInputException(
                        path + name,
                        "is not known; known are "
                                + String.join(", ", names.stream().sorted().toList()));
            }
        });
    }

    boolean has(String name) {
        return values.get(name) != null;
    }

    @Nullable
    Object get(String name) {
        return values.get(name);
    }

    @Nullable
    String text(String name) {
        return as(String.class, "a text", name);
    }

    String neededText(String name) {
        String text = text(name);
        if (text == null) {
            throw new InvalidInputException(path + name, "is required");
        }
        return text;
    }

    boolean flag(String name) {
        Boolean flag = as(Boolean.class, "true or false", name);
        return flag != null && flag;
    }

    int number(String name, int otherwise) {
        Number number = as(Number.class, WHOLE, name);
        if (number == null) {
            return otherwise;
        }
        try {
            // Some hosts have only one type of numbers, and write 5 as 5.0.
            return new BigDecimal(number.toString()).intValueExact();
        } catch (ArithmeticException | NumberFormatException e) {
            throw new InvalidInputException(path + name, "must be " + WHOLE);
        }
    }

    Fields object(String name) {
        return of(path + name, get(name));
    }

    /** Returns the objects of an array, or an empty list if there is no array. */
    List<Fields> objects(String name) {
        List<Fields> objects = new ArrayList<>();
        List<?> items = as(List.class, "a list", name);
        if (items != null) {
            items.forEach(item -> objects.add(of(path + name + "[" + objects.size() + "]", item)));
        }
        return objects;
    }

    private <T> @Nullable T as(Class<T> type, String typeName, String name) {
        Object value = get(name);
        if (value != null && !type.isInstance(value)) {
            throw new InvalidInputException(path + name, "must be " + typeName);
        }
        return value == null ? null : type.cast(value);
    }
}
