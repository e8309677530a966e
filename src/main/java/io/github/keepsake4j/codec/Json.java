package io.github.keepsake4j.codec;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.core.io.JsonEOFException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Converts plain values to JSON text and back. It uses a private Jackson factory, so a host's settings never change the
 * format.
 */
final class Json {

    /**
     * The maximum nesting depth of JSON that is read. Writers stop at a lower depth, so that readers can read
     * everything that was written.
     */
    static final int MAX_DEPTH = 1000;

    /** The maximum length of a number in characters. The time to parse a number grows with the square of its length. */
    static final int MAX_NUMBER_LENGTH = 10_000;

    /**
     * The number of levels of which the places of objects are recorded. An object in a list of an object's field is on
     * the third level.
     */
    private static final int PLACES = 3;

    /** The number of code units above which a parser of a string reads it in pieces. */
    private static final int LONG = 0x8000;

    private static final JsonFactory FACTORY = factory(MAX_DEPTH, MAX_NUMBER_LENGTH);

    /** The factory for JSON around messages, which nests deeper. */
    private static final JsonFactory ENCLOSING = factory(2 * MAX_DEPTH, 2 * MAX_NUMBER_LENGTH);

    /** A surrogate without the other half of its pair. */
    private static final Pattern LONE_SURROGATE = Pattern.compile("\\p{Cs}");

    private Json() {}

    /**
     * Creates a factory. Field names are users' data here, and often new. They are neither interned nor kept in a shared
     * table, which also fails when many of them collide. The source is left out of locations because it would put
     * message text into error messages.
     */
    static JsonFactory factory(int maxDepth, int maxNumberLength) {
        return JsonFactory.builder()
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(maxDepth)
                        .maxStringLength(Integer.MAX_VALUE)
                        .maxNameLength(Integer.MAX_VALUE)
                        .maxNumberLength(maxNumberLength)
                        .build())
                .streamWriteConstraints(StreamWriteConstraints.builder()
                        .maxNestingDepth(maxDepth)
                        .build())
                .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                .build();
    }

    /** Writes one JSON value: null or a String, Boolean, Number, List or Map. */
    static String write(Object value) {
        StringWriter text = new StringWriter();
        try (JsonGenerator out = FACTORY.createGenerator(text)) {
            write(out, value);
        } catch (IOException e) {
            throw new UncheckedIOException("Writing to a string cannot fail", e);
        }
        return escapeLoneSurrogates(text.toString());
    }

    private static void write(JsonGenerator out, @Nullable Object value) throws IOException {
        if (value instanceof Map<?, ?> map) {
            out.writeStartObject();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.writeFieldName((String) entry.getKey());
                write(out, entry.getValue());
            }
            out.writeEndObject();
        } else if (value instanceof List<?> list) {
            out.writeStartArray();
            for (Object element : list) {
                write(out, element);
            }
            out.writeEndArray();
        } else if (value instanceof PlainJson.Written written) {
            out.writeRawValue(written.json());
        } else {
            out.writePOJO(value);
        }
    }

    /**
     * Reads one JSON value.
     *
     * @return null or a String, Boolean, Integer, Long, BigInteger, Double, BigDecimal (if a Double cannot represent
     *     the number), List or Map
     */
    static @Nullable Object read(String what, String json) {
        return read(json, false, problem -> unreadable(what, "it " + problem));
    }

    /**
     * Reads one JSON value.
     *
     * @param onlyOnce whether an object with two fields of one name is refused
     * @param failure returns the exception for a text that cannot be read, from a description of the problem
     */
    static @Nullable Object read(String json, boolean onlyOnce, Function<String, ? extends KeepsakeException> failure) {
        // The pieces of a long string would be copied twice.
        try (JsonParser in =
                json.length() > LONG ? FACTORY.createParser(json.toCharArray()) : FACTORY.createParser(json)) {
            in.configure(JsonParser.Feature.STRICT_DUPLICATE_DETECTION, onlyOnce);
            return new Reading(in, null).whole(failure);
        } catch (IOException e) {
            throw new UncheckedIOException("Reading from a string cannot fail", e);
        }
    }

    /**
     * Reads JSON in UTF-8.
     *
     * @param places receives the places of the objects that are at most {@link #PLACES} levels deep
     * @param failure makes the error
     */
    static @Nullable Object read(
            byte[] bytes,
            int start,
            int end,
            IdentityHashMap<Object, JsonFields.Range> places,
            Function<String, ? extends KeepsakeException> failure) {
        String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, start, end - start))
                    .toString();
        } catch (CharacterCodingException e) {
            throw failure.apply("is no UTF-8");
        }
        // A parser of bytes refuses names of fields that a parser of characters reads.
        try (JsonParser in = ENCLOSING.createParser(text)) {
            Object value = new Reading(in, places).whole(failure);
            if (text.length() < end - start) {
                int[] ofBytes = placesOfBytes(text);
                places.replaceAll((object, range) ->
                        new JsonFields.Range(ofBytes[(int) range.begin()], ofBytes[(int) range.end()]));
            }
            return value;
        } catch (IOException e) {
            throw new UncheckedIOException("Reading from a string cannot fail", e);
        }
    }

    /** Returns the position of each character in the text's UTF-8, and the position of its end. */
    private static int[] placesOfBytes(String text) {
        int[] places = new int[text.length() + 1];
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            // Each half of a surrogate pair counts as two of the pair's four bytes.
            places[i + 1] = places[i] + (c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3);
        }
        return places;
    }

    /**
     * Reads one value from a parser.
     *
     * @param places receives the places of objects, or null
     */
    private record Reading(JsonParser in, @Nullable IdentityHashMap<Object, JsonFields.Range> places) {

        @Nullable
        Object whole(Function<String, ? extends KeepsakeException> failure) throws IOException {
            try {
                if (in.nextToken() == null) {
                    throw failure.apply("is empty");
                }
                Object value = value();
                if (in.nextToken() != null) {
                    throw failure.apply("has something behind the JSON value" + at(in.currentTokenLocation()));
                }
                return value;
            } catch (JsonProcessingException e) {
                // Jackson's exception quotes the text that it could not parse, so neither its message nor the exception
                // is passed on.
                String problem = e instanceof JsonEOFException
                        ? "is cut off, because its JSON does not end"
                        : e.getOriginalMessage().startsWith("Duplicate")
                                ? "has a name twice"
                                : "is not valid JSON, or it nests too deep";
                throw failure.apply(problem + at(e.getLocation()));
            }
        }

        private @Nullable Object value() throws IOException {
            return switch (in.currentToken()) {
                case START_OBJECT -> object();
                case START_ARRAY -> array();
                case VALUE_NUMBER_INT -> in.getNumberValue();
                case VALUE_NUMBER_FLOAT -> floating(in.getText());
                case VALUE_TRUE -> true;
                case VALUE_FALSE -> false;
                case VALUE_NULL -> null;
                default -> in.getText();
            };
        }

        private Map<String, @Nullable Object> object() throws IOException {
            boolean isPlaced = places != null && in.getParsingContext().getNestingDepth() <= PLACES;
            long begin = isPlaced ? in.currentTokenLocation().getCharOffset() : 0;
            Map<String, @Nullable Object> map = new LinkedHashMap<>();
            while (in.nextToken() != JsonToken.END_OBJECT) {
                String name = in.currentName();
                in.nextToken();
                map.put(name, value());
            }
            if (places != null && isPlaced) {
                places.put(map, new JsonFields.Range(begin, in.currentLocation().getCharOffset()));
            }
            return map;
        }

        private List<@Nullable Object> array() throws IOException {
            List<@Nullable Object> list = new ArrayList<>();
            while (in.nextToken() != JsonToken.END_ARRAY) {
                list.add(value());
            }
            return list;
        }
    }

    static UnreadableDataException unreadable(Object what, String problem) {
        return new UnreadableDataException(what + " cannot be read: " + problem + "; the stored JSON needs a repair");
    }

    /**
     * Returns a Double if it represents the same number, otherwise the exact decimal. A Double represents every number
     * that this library writes.
     */
    private static Number floating(String text) {
        double value = Double.parseDouble(text);
        BigDecimal exact = new BigDecimal(text);
        boolean same = !Double.isInfinite(value) && exact.compareTo(new BigDecimal(Double.toString(value))) == 0;
        return same ? (Number) value : exact;
    }

    private static String at(@Nullable JsonLocation location) {
        if (location == null) {
            return "";
        }
        String line = location.getLineNr() == 1 ? "" : "line " + location.getLineNr() + ", ";
        return " (" + line + "column " + location.getColumnNr() + ")";
    }

    /**
     * Escapes unpaired surrogates. An unpaired surrogate has no UTF-8 form, and database drivers store a question mark
     * in its place. Outside of strings JSON is ASCII, and quotes separate the surrogates of two strings, so the
     * finished text can be searched. Jackson escapes NUL.
     */
    private static String escapeLoneSurrogates(String json) {
        boolean isWhole = json.chars().noneMatch(c -> Character.isSurrogate((char) c))
                || StandardCharsets.UTF_8.newEncoder().canEncode(json);
        return isWhole
                ? json
                : LONE_SURROGATE
                        .matcher(json)
                        .replaceAll(lone ->
                                "\\\\u" + Integer.toHexString(lone.group().charAt(0)));
    }
}
