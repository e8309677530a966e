package io.github.keepsake4j.codec;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A JSON object that was read, and its location. A field of the wrong type is an error that names the field. */
record JsonObject(Map<String, @Nullable Object> fields, @Nullable JsonPath path) {

    /** Returns the fields of a value that {@link Json#read} returned as a Map, so its keys are Strings. */
    @SuppressWarnings("unchecked")
    static Map<String, @Nullable Object> fields(Object json) {
        return (Map<String, @Nullable Object>) json;
    }

    static JsonObject of(@Nullable Object json, JsonPath path) {
        if (json instanceof Map<?, ?> map) {
            return new JsonObject(fields(map), path);
        }
        throw Json.unreadable(path, "it is not a JSON object");
    }

    boolean has(String name) {
        return fields.get(name) != null;
    }

    @Nullable
    String string(String name) {
        return as(String.class, "string", name);
    }

    @Nullable
    Boolean bool(String name) {
        return as(Boolean.class, "boolean", name);
    }

    String neededString(String name) {
        return needed(string(name), name);
    }

    List<?> neededList(String name) {
        return needed(list(name), name);
    }

    @Nullable
    List<?> list(String name) {
        return as(List.class, "array", name);
    }

    /** Returns the objects of an array, or an empty list if there is no array. */
    List<JsonObject> objects(String name) {
        List<?> items = list(name);
        List<JsonObject> objects = new ArrayList<>();
        if (items != null) {
            items.forEach(item -> objects.add(of(item, at(name).index(objects.size()))));
        }
        return objects;
    }

    @Nullable
    JsonObject object(String name) {
        Map<?, ?> map = as(Map.class, "object", name);
        return map == null ? null : new JsonObject(fields(map), at(name));
    }

    JsonObject neededObject(String name) {
        return needed(object(name), name);
    }

    JsonPath at(String name) {
        return path == null ? JsonPath.of(name) : path.field(name);
    }

    private <T> T needed(@Nullable T value, String name) {
        if (value == null) {
            throw Json.unreadable(at(name), "it is missing");
        }
        return value;
    }

    private <T> @Nullable T as(Class<T> type, String typeName, String name) {
        Object value = fields.get(name);
        if (value != null && !type.isInstance(value)) {
            throw Json.unreadable(at(name), "it is not of the type " + typeName);
        }
        return value == null ? null : type.cast(value);
    }
}
