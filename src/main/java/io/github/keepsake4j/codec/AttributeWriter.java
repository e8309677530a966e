package io.github.keepsake4j.codec;

import static io.github.keepsake4j.codec.AttributeReader.TAG;
import static io.github.keepsake4j.codec.AttributeReader.VALUE;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.langchain4j.data.image.Image;
import io.github.keepsake4j.message.InvalidInputException;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes attribute values so that they can be read back with their Java types. Values of JSON's own types are written
 * as they are, other known types as {@code {"@type": "long", "value": "123"}}. Values that could not be read back are
 * refused before anything is stored. Each instance writes one message.
 */
final class AttributeWriter {

    /** The maximum nesting depth of written JSON. It is half of the depth that can be read. */
    static final int MAX_DEPTH = 500;

    /**
     * The maximum number of values in one message. A structure that shares its parts can be small in memory and endless
     * when it is written out.
     */
    static final int MAX_VALUES = 1_000_000;

    private final JsonGenerator out;
    private final boolean tagged;
    private final int maxDepth;
    private final Set<Object> ancestors = Collections.newSetFromMap(new IdentityHashMap<>());
    private int values;

    private AttributeWriter(JsonGenerator out, boolean tagged, int maxDepth) {
        this.out = out;
        this.tagged = tagged;
        this.maxDepth = maxDepth;
    }

    /** Creates a writer for every supported Java type. */
    static AttributeWriter tagged(JsonGenerator out) {
        return new AttributeWriter(out, true, MAX_DEPTH);
    }

    /** Creates a writer for plain JSON values only. It writes each value as the JSON that it was read from. */
    static AttributeWriter plain(JsonGenerator out) {
        return new AttributeWriter(out, false, Json.MAX_DEPTH);
    }

    void write(Map<?, ?> map, @Nullable JsonPath path) throws IOException {
        JsonPath place = path == null ? JsonPath.of("message") : path;
        enter(map, place);
        out.writeStartObject();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            if (!(entry.getKey() instanceof String key)) {
                throw new InvalidInputException(
                        place.toString(), "has a key that is not a String: " + name(entry.getKey()));
            }
            out.writeFieldName(key);
            value(entry.getValue(), path == null ? JsonPath.of(key) : path.field(key));
        }
        out.writeEndObject();
        leave(map);
    }

    private void value(@Nullable Object value, JsonPath path) throws IOException {
        if (++values > MAX_VALUES) {
            throw new InvalidInputException(
                    path.toString(), "exceeds the limit of " + MAX_VALUES + " values in one message");
        }
        if (value == null) {
            out.writeNull();
        } else if (value instanceof String text) {
            out.writeString(text);
        } else if (value instanceof Boolean bool) {
            out.writeBoolean(bool);
        } else if (value instanceof Integer number) {
            out.writeNumber(number);
        } else if (value instanceof Double number && Double.isFinite(number)) {
            out.writeNumber(number);
        } else if (value instanceof List<?> list) {
            array(list, path);
        } else if (value instanceof Map<?, ?> map) {
            map(map, path);
        } else if (tagged) {
            taggedValue(value, path);
        } else {
            plainNumber(value, path);
        }
    }

    private void array(Collection<?> elements, JsonPath path) throws IOException {
        enter(elements, path);
        out.writeStartArray();
        int i = 0;
        for (Object element : elements) {
            value(element, path.index(i++));
        }
        out.writeEndArray();
        leave(elements);
    }

    /**
     * Writes a map. A user's map that contains the tag key is wrapped in a tagged object, so that the reader cannot
     * mistake it for one.
     */
    private void map(Map<?, ?> map, JsonPath path) throws IOException {
        boolean escape = tagged && map.keySet().stream().anyMatch(TAG::equals);
        if (!escape) {
            write(map, path);
            return;
        }
        startTagged("map");
        write(map, path);
        out.writeEndObject();
    }

    private void taggedValue(Object value, JsonPath path) throws IOException {
        String tag = AttributeReader.tagOf(value.getClass());
        if (tag != null) {
            text(tag, value.toString());
        } else if (value instanceof Double number) {
            text("double", number.toString());
        } else if (value instanceof URI uri) {
            text("uri", Media.checked(uri, path));
        } else if (value instanceof Image image) {
            startTagged("image");
            Media.write(out, image, path);
            out.writeEndObject();
        } else if (value instanceof Set<?> set) {
            startTagged("set");
            array(set, path);
            out.writeEndObject();
        } else {
            throw new InvalidInputException(
                    path.toString(),
                    "cannot be stored because its class would be lost: " + name(value)
                            + "; use String, Boolean, a number, Character, Instant, UUID, URI, Image, List, Set or Map");
        }
    }

    private void plainNumber(Object value, JsonPath path) throws IOException {
        boolean fits = value.toString().length() <= Json.MAX_NUMBER_LENGTH;
        if (value instanceof Long number) {
            out.writeNumber(number);
        } else if (value instanceof BigInteger number && fits) {
            out.writeNumber(number);
        } else if (value instanceof BigDecimal number && fits) {
            out.writeNumber(number);
        } else {
            throw new InvalidInputException(path.toString(), "is not a plain JSON value: " + name(value));
        }
    }

    private void text(String tag, String text) throws IOException {
        startTagged(tag);
        out.writeString(text);
        out.writeEndObject();
    }

    private void startTagged(String tag) throws IOException {
        out.writeStartObject();
        out.writeStringField(TAG, tag);
        out.writeFieldName(VALUE);
    }

    private void enter(Object container, JsonPath path) {
        if (!ancestors.add(container)) {
            throw new InvalidInputException(path.toString(), "contains itself");
        }
        if (out.getOutputContext().getNestingDepth() >= maxDepth) {
            throw new InvalidInputException(path.toString(), "nests deeper than " + maxDepth + " levels of JSON");
        }
    }

    private void leave(Object container) {
        ancestors.remove(container);
    }

    private static String name(@Nullable Object value) {
        return value == null ? "null" : value.getClass().getTypeName();
    }
}
