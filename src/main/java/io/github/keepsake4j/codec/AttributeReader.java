package io.github.keepsake4j.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads attributes from plain JSON values. Tagged objects become the Java types that were passed to
 * {@link AttributeWriter}.
 */
final class AttributeReader {

    /** The key that marks a JSON object as the representation of a value of another type than JSON's own. */
    static final String TAG = "@type";

    static final String VALUE = "value";

    /** The types that are stored as text. The text is the result of their {@code toString} method. */
    private static final Map<Class<?>, String> TEXT_TAGS = Map.of(
            Long.class, "long",
            Short.class, "short",
            Byte.class, "byte",
            Float.class, "float",
            BigInteger.class, "biginteger",
            BigDecimal.class, "bigdecimal",
            Character.class, "char",
            Instant.class, "instant",
            UUID.class, "uuid");

    private AttributeReader() {}

    /** Reads the outermost map. It is never taken for a tagged object, whatever its keys are. */
    static Map<String, @Nullable Object> read(Map<String, @Nullable Object> json, JsonPath path, boolean tagged) {
        if (!tagged) {
            return json;
        }
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        json.forEach((key, value) -> map.put(key, value(value, path.field(key))));
        return map;
    }

    private static @Nullable Object value(@Nullable Object json, JsonPath path) {
        if (json instanceof List<?> list) {
            return list(list, path);
        }
        if (!(json instanceof Map<?, ?>)) {
            return json;
        }
        Map<String, @Nullable Object> map = JsonObject.fields(json);
        return map.get(TAG) instanceof String tag ? tagged(tag, map, path) : read(map, path, true);
    }

    private static List<@Nullable Object> list(List<?> json, JsonPath path) {
        List<@Nullable Object> list = new ArrayList<>(json.size());
        for (int i = 0; i < json.size(); i++) {
            list.add(value(json.get(i), path.index(i)));
        }
        return list;
    }

    private static @Nullable Object tagged(String tag, Map<String, @Nullable Object> map, JsonPath path) {
        JsonObject object = new JsonObject(map, path);
        return switch (tag) {
            case "map" -> read(object.neededObject(VALUE).fields(), path, true);
            case "set" -> set(list(object.neededList(VALUE), path));
            case "image" -> Media.readImage(object.neededObject(VALUE));
            case "long", "short", "byte", "float", "double", "biginteger", "bigdecimal" ->
                number(tag, object.neededString(VALUE), path);
            case "char" -> character(object.neededString(VALUE), path);
            case "instant" -> instant(object.neededString(VALUE), path);
            case "uuid" -> uuid(object.neededString(VALUE), path);
            case "uri" -> Media.uri(object.neededString(VALUE), path);
            // A newer version wrote this type. Its fields are kept for the versions that know it.
            default -> read(map, path, true);
        };
    }

    private static Set<@Nullable Object> set(List<@Nullable Object> elements) {
        return new LinkedHashSet<>(elements);
    }

    // Here and in the methods below, the JDK's exceptions quote the value, so they are not passed on as causes.

    private static Number number(String tag, String text, JsonPath path) {
        try {
            return switch (tag) {
                case "long" -> (Number) Long.valueOf(text);
                case "short" -> Short.valueOf(text);
                case "byte" -> Byte.valueOf(text);
                case "float" -> Float.valueOf(text);
                case "double" -> Double.valueOf(text);
                case "biginteger" -> new BigInteger(text);
                default -> new BigDecimal(text);
            };
        } catch (NumberFormatException e) {
            throw Json.unreadable(path, "it is not a valid " + tag);
        }
    }

    private static Character character(String text, JsonPath path) {
        if (text.length() != 1) {
            throw Json.unreadable(path, "it is not a single character");
        }
        return text.charAt(0);
    }

    private static Instant instant(String text, JsonPath path) {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw Json.unreadable(path, "it is not a valid instant");
        }
    }

    private static UUID uuid(String text, JsonPath path) {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            throw Json.unreadable(path, "it is not a valid UUID");
        }
    }

    /** Returns the tag of a class that is stored as text, or null for any other class. */
    static @Nullable String tagOf(Class<?> type) {
        return TEXT_TAGS.get(type);
    }
}
