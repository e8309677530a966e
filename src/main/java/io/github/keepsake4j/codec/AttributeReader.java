package io.github.keepsake4j.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads attributes from plain JSON values. Tagged objects become the Java types that were passed to
 * {@link AttributeWriter}.
 */
final class AttributeReader {

    /** The key that marks a JSON object as the representation of a value of another type than JSON's own. */
    static final String TAG = "@type";

    static final String VALUE = "value";

    /**
     * A type whose values are stored as text: the result of their {@code toString} method.
     *
     * @param parse reads the text; it throws an exception if the text is not of the type
     */
    private record TextType(Class<?> type, String tag, String name, Function<String, Object> parse) {}

    private static final List<TextType> TEXT_TYPES = List.of(
            new TextType(Long.class, "long", "a valid long", Long::valueOf),
            new TextType(Short.class, "short", "a valid short", Short::valueOf),
            new TextType(Byte.class, "byte", "a valid byte", Byte::valueOf),
            new TextType(Float.class, "float", "a valid float", Float::valueOf),
            new TextType(Double.class, "double", "a valid double", Double::valueOf),
            new TextType(BigInteger.class, "biginteger", "a valid biginteger", BigInteger::new),
            new TextType(BigDecimal.class, "bigdecimal", "a valid bigdecimal", BigDecimal::new),
            new TextType(Character.class, "char", "a single character", AttributeReader::character),
            new TextType(Instant.class, "instant", "a valid instant", Instant::parse),
            new TextType(UUID.class, "uuid", "a valid UUID", UUID::fromString));

    private AttributeReader() {}

    /** Reads the outermost map. It is never taken for a tagged object, whatever its keys are. */
    static Map<String, @Nullable Object> read(Map<String, @Nullable Object> json, JsonPath path) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        json.forEach((key, value) -> map.put(key, value(value, path.field(key))));
        return map;
    }

    private static @Nullable Object value(@Nullable Object json, JsonPath path) {
        if (json instanceof List<?> list) {
            return list(list, path);
        }
        if (!(json instanceof Map<?, ?> fields)) {
            return json;
        }
        Map<String, @Nullable Object> map = JsonFields.cast(fields);
        return map.get(TAG) instanceof String tag ? tagged(tag, map, path) : read(map, path);
    }

    private static List<@Nullable Object> list(List<?> json, JsonPath path) {
        List<@Nullable Object> list = new ArrayList<>(json.size());
        for (int i = 0; i < json.size(); i++) {
            list.add(value(json.get(i), path.index(i)));
        }
        return list;
    }

    private static @Nullable Object tagged(String tag, Map<String, @Nullable Object> map, JsonPath path) {
        JsonFields object = new JsonFields(map, path, JsonFields.STORED);
        return switch (tag) {
            case "map" -> read(object.neededObject(VALUE).values(), path);
            case "set" -> new LinkedHashSet<>(list(object.neededList(VALUE), path));
            case "image" -> Media.readImage(object.neededObject(VALUE));
            case "uri" -> Media.uri(object.neededText(VALUE), path);
            default ->
                TEXT_TYPES.stream()
                        .filter(type -> type.tag().equals(tag))
                        .findFirst()
                        .map(type -> parsed(type, object.neededText(VALUE), path))
                        // A newer version wrote this type. Its fields are kept for the versions that know it.
                        .orElseGet(() -> read(map, path));
        };
    }

    private static Object parsed(TextType type, String text, JsonPath path) {
        try {
            return type.parse().apply(text);
        } catch (IllegalArgumentException | DateTimeException e) {
            // The JDK's exceptions quote the value, so they are not passed on as causes.
            throw Json.unreadable(path, "it is not " + type.name());
        }
    }

    private static Character character(String text) {
        if (text.length() != 1) {
            throw new IllegalArgumentException("not a single character");
        }
        return text.charAt(0);
    }

    /** Returns the tag of a class that is stored as text, or null for any other class. */
    static @Nullable String tagOf(Class<?> type) {
        return TEXT_TYPES.stream()
                .filter(known -> known.type() == type)
                .map(TextType::tag)
                .findFirst()
                .orElse(null);
    }
}
