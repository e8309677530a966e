package io.github.keepsake4j.codec;

import static io.github.keepsake4j.codec.AttributeReader.TAG;
import static io.github.keepsake4j.codec.AttributeReader.VALUE;

import dev.langchain4j.data.image.Image;
import io.github.keepsake4j.message.InvalidInputException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Converts attribute values to plain JSON values, so that they can be read back with their Java types. Values of JSON's
 * own types stay as they are, other known types as {@code {"@type": "long", "value": "123"}}. Values that could not be read back are
 * refused before anything is stored. Each instance converts one message.
 */
final class AttributeWriter {

    /** The maximum nesting depth of written JSON. It is half of the depth that can be read. */
    static final int MAX_DEPTH = 500;

    /**
     * The maximum number of values in one message. A structure that shares its parts can be small in memory and endless
     * when it is written out.
     */
    static final int MAX_VALUES = 1_000_000;

    private final boolean tagged;
    private final int maxDepth;
    private final Set<Object> ancestors = Collections.newSetFromMap(new IdentityHashMap<>());
    private int values;
    private int depth;

    private AttributeWriter(boolean tagged, int maxDepth, int depth) {
        this.tagged = tagged;
        this.maxDepth = maxDepth;
        this.depth = depth;
    }

    /** Converts a message's attributes, with values of every supported Java type. */
    static Map<String, @Nullable Object> tagged(Map<String, Object> attributes) {
        return new AttributeWriter(true, MAX_DEPTH, 1).map(attributes, 1, JsonPath.of("attributes"));
    }

    /** Checks the fields of a message that are plain JSON values. Each value stays the JSON that it was read from. */
    static Map<String, @Nullable Object> plain(Map<String, Object> fields) {
        return new AttributeWriter(false, Json.MAX_DEPTH, 0).map(fields, 1, null);
    }

    private @Nullable Object value(@Nullable Object value, JsonPath path) {
        if (++values > MAX_VALUES) {
            throw new InvalidInputException(
                    path.toString(), "exceeds the limit of " + MAX_VALUES + " values in one message");
        }
        if (value == null
                || value instanceof String
                || value instanceof Boolean
                || value instanceof Integer
                || (value instanceof Double number && Double.isFinite(number))) {
            return value;
        }
        if (value instanceof List<?> list) {
            return list(list, 1, path);
        }
        if (value instanceof Map<?, ?> map) {
            // A user's map that contains the tag key is wrapped in a tagged object, so that the reader cannot mistake
            // it
            // for one.
            boolean escape = tagged && map.keySet().stream().anyMatch(TAG::equals);
            return escape ? tagged("map", map(map, 2, path)) : map(map, 1, path);
        }
        return tagged ? taggedValue(value, path) : plainNumber(value, path);
    }

    /**
     * Converts a map.
     *
     * @param levels the number of levels of JSON that it takes: 2 in a tagged object, otherwise 1
     * @param path its place, or null for the message itself
     */
    private Map<String, @Nullable Object> map(Map<?, ?> map, int levels, @Nullable JsonPath path) {
        JsonPath place = path == null ? JsonPath.of("message") : path;
        enter(map, levels, place);
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            if (!(entry.getKey() instanceof String key)) {
                throw new InvalidInputException(
                        place.toString(), "has a key that is not a String: " + name(entry.getKey()));
            }
            json.put(key, value(entry.getValue(), path == null ? JsonPath.of(key) : path.field(key)));
        }
        leave(map, levels);
        return json;
    }

    private List<@Nullable Object> list(Collection<?> elements, int levels, JsonPath path) {
        enter(elements, levels, path);
        List<@Nullable Object> json = new ArrayList<>();
        for (Object element : elements) {
            json.add(value(element, path.index(json.size())));
        }
        leave(elements, levels);
        return json;
    }

    private Object taggedValue(Object value, JsonPath path) {
        String tag = AttributeReader.tagOf(value.getClass());
        if (tag != null) {
            return tagged(tag, value.toString());
        }
        if (value instanceof URI uri) {
            return tagged("uri", Media.checked(uri, path));
        }
        if (value instanceof Image image) {
            return tagged("image", Media.json(image, path));
        }
        if (value instanceof Set<?> set) {
            return tagged("set", list(set, 2, path));
        }
        throw new InvalidInputException(
                path.toString(),
                "cannot be stored because its class would be lost: " + name(value)
                        + "; use String, Boolean, a number, Character, Instant, UUID, URI, Image, List, Set or Map");
    }

    private static JsonObject tagged(String tag, Object value) {
        return new JsonObject().with(TAG, tag).with(VALUE, value);
    }

    private static Object plainNumber(Object value, JsonPath path) {
        boolean isBig = value instanceof BigInteger || value instanceof BigDecimal;
        if (value instanceof Long || (isBig && value.toString().length() <= Json.MAX_NUMBER_LENGTH)) {
            return value;
        }
        throw new InvalidInputException(path.toString(), "is not a plain JSON value: " + name(value));
    }

    private void enter(Object container, int levels, JsonPath path) {
        if (!ancestors.add(container)) {
            throw new InvalidInputException(path.toString(), "contains itself; use a structure without cycles");
        }
        depth += levels;
        if (depth > maxDepth) {
            throw new InvalidInputException(path.toString(), "nests deeper than " + maxDepth + " levels of JSON");
        }
    }

    private void leave(Object container, int levels) {
        depth -= levels;
        ancestors.remove(container);
    }

    private static String name(@Nullable Object value) {
        return value == null ? "null" : value.getClass().getTypeName();
    }
}
