package io.github.keepsake4j.log.file;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.github.keepsake4j.codec.MessageCodec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The fields of a JSON object of which each value is left as it is written. Unknown fields are ignored. */
final class Fields {

    private static final JsonFactory FACTORY = MessageCodec.enclosingFactory();

    /** A value: a text that was decoded, or any other JSON at its place. */
    private record Value(JsonToken type, @Nullable String text, int start, int end) {}

    /** Tells where the characters of a text are in its bytes. To be asked from left to right, best. */
    private static final class Places {
        private final String text;
        private int character;
        private int bytes;

        Places(String text) {
            this.text = text;
        }

        int of(int wanted) {
            if (wanted < character) {
                character = 0;
                bytes = 0;
            }
            for (; character < wanted; character++) {
                char c = text.charAt(character);
                // Each half of a surrogate pair counts as two of the pair's four bytes.
                bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
            }
            return bytes;
        }
    }

    private final Places places;
    private final String json;

    /** Where the object begins in the whole text. */
    private final int base;

    private final Map<String, Value> values = new HashMap<>();

    private Fields(Places places, String json, int base) throws BadLineException {
        this.places = places;
        this.json = json;
        this.base = base;
        try (JsonParser in = FACTORY.createParser(json)) {
            if (in.nextToken() != JsonToken.START_OBJECT) {
                throw new BadLineException("it is no JSON object");
            }
            while (in.nextToken() == JsonToken.FIELD_NAME) {
                String name = in.currentName();
                in.nextToken();
                values.put(name, value(in));
            }
            if (in.nextToken() != null) {
                throw new BadLineException("something follows its JSON object");
            }
        } catch (JsonProcessingException e) {
            // Jackson's text and location may quote what it could not read.
            throw new BadLineException("it is no valid JSON");
        } catch (IOException e) {
            throw new UncheckedIOException("Reading from a string cannot fail", e);
        }
    }

    /** Reads an object that fills a range. */
    static Fields of(byte[] bytes, int start, int end) throws BadLineException {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, start, end - start))
                    .toString();
            return new Fields(new Places(text), text, 0);
        } catch (CharacterCodingException e) {
            throw new BadLineException("it is no UTF-8");
        }
    }

    static Fields of(byte[] bytes) throws BadLineException {
        return of(bytes, 0, bytes.length);
    }

    private Fields inner(Value value) throws BadLineException {
        return new Fields(places, json.substring(value.start(), value.end()), base + value.start());
    }

    private static Value value(JsonParser in) throws IOException {
        JsonToken type = in.currentToken();
        int from = (int) in.currentTokenLocation().getCharOffset();
        String text = type == JsonToken.VALUE_STRING || type.isNumeric() ? in.getText() : null;
        in.skipChildren();
        in.finishToken();
        return new Value(type, text, from, (int) in.currentLocation().getCharOffset());
    }

    int size() {
        return values.size();
    }

    boolean has(String name) {
        Value value = values.get(name);
        return value != null && value.type() != JsonToken.VALUE_NULL;
    }

    String text(String name) throws BadLineException {
        String text = nullableText(name);
        if (text == null) {
            throw new BadLineException("its field " + name + " is missing");
        }
        return text;
    }

    @Nullable
    String nullableText(String name) throws BadLineException {
        if (!has(name)) {
            return null;
        }
        return typed(name, JsonToken.VALUE_STRING).text();
    }

    /** Reads a number from 0. */
    long number(String name) throws BadLineException {
        if (!has(name)) {
            throw new BadLineException("its field " + name + " is missing");
        }
        return numberOr(name, 0);
    }

    long numberOr(String name, long missing) throws BadLineException {
        if (!has(name)) {
            return missing;
        }
        try {
            long number = Long.parseLong(
                    String.valueOf(typed(name, JsonToken.VALUE_NUMBER_INT).text()));
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // As any other number that is out of range.
        }
        throw new BadLineException("its field " + name + " is out of range");
    }

    int smallNumber(String name) throws BadLineException {
        long number = number(name);
        if (number > Integer.MAX_VALUE) {
            throw new BadLineException("its field " + name + " is out of range");
        }
        return (int) number;
    }

    boolean isTrue(String name) {
        Value value = values.get(name);
        return value != null && value.type() == JsonToken.VALUE_TRUE;
    }

    Instant time(String name) throws BadLineException {
        try {
            return Instant.parse(text(name));
        } catch (DateTimeException e) {
            throw new BadLineException("its field " + name + " is no time");
        }
    }

    /** Reads an object in a field, or null if it is missing. */
    @Nullable
    Fields object(String name) throws BadLineException {
        if (!has(name)) {
            return null;
        }
        return inner(typed(name, JsonToken.START_OBJECT));
    }

    /** Reads the elements of an array; none if it is missing. */
    private List<Value> elements(String name) throws BadLineException {
        List<Value> elements = new ArrayList<>();
        if (!has(name)) {
            return elements;
        }
        Value array = typed(name, JsonToken.START_ARRAY);
        try (JsonParser in = FACTORY.createParser(json.substring(array.start(), array.end()))) {
            in.nextToken();
            while (in.nextToken() != JsonToken.END_ARRAY) {
                Value element = value(in);
                elements.add(new Value(
                        element.type(),
                        element.text(),
                        array.start() + element.start(),
                        array.start() + element.end()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("It was JSON before", e);
        }
        return elements;
    }

    List<Fields> objects(String name) throws BadLineException {
        List<Fields> objects = new ArrayList<>();
        for (Value element : elements(name)) {
            if (element.type() != JsonToken.START_OBJECT) {
                throw new BadLineException("its field " + name + " holds no objects");
            }
            objects.add(inner(element));
        }
        return objects;
    }

    List<Long> numbers(String name) throws BadLineException {
        List<Long> numbers = new ArrayList<>();
        for (Value element : elements(name)) {
            try {
                numbers.add(Long.parseLong(String.valueOf(element.text())));
            } catch (NumberFormatException e) {
                throw new BadLineException("its field " + name + " holds no numbers");
            }
        }
        return numbers;
    }

    List<String> texts(String name) throws BadLineException {
        List<String> texts = new ArrayList<>();
        for (Value element : elements(name)) {
            if (element.type() != JsonToken.VALUE_STRING || element.text() == null) {
                throw new BadLineException("its field " + name + " holds no texts");
            }
            texts.add(element.text());
        }
        return texts;
    }

    /** Returns a value as it is written. */
    String raw(String name) throws BadLineException {
        if (!has(name)) {
            throw new BadLineException("its field " + name + " is missing");
        }
        Value value = Objects.requireNonNull(values.get(name));
        return json.substring(value.start(), value.end());
    }

    /** Returns where the whole object is, in bytes from the beginning of the whole text. */
    Part part() {
        int from = places.of(base);
        return new Part(from, places.of(base + json.length()) - from);
    }

    private Value typed(String name, JsonToken type) throws BadLineException {
        Value value = values.get(name);
        if (value == null || value.type() != type) {
            throw new BadLineException("its field " + name + " has another type");
        }
        return value;
    }
}
