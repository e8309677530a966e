package io.github.keepsake4j.log.file;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.github.keepsake4j.codec.MessageCodec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The fields of a JSON object of which each value is left where it is in the bytes. Unknown fields are ignored. */
final class Fields {

    private static final JsonFactory FACTORY = MessageCodec.enclosingFactory();

    /** A value: a text that was decoded, or any other JSON at its place. */
    private record Value(JsonToken type, @Nullable String text, int start, int end) {}

    private final byte[] bytes;
    private final int start;
    private final int end;
    private final Map<String, Value> values = new HashMap<>();

    private Fields(byte[] bytes, int start, int end) {
        this.bytes = bytes;
        this.start = start;
        this.end = end;
    }

    /** Reads an object that fills a range. */
    static Fields of(byte[] bytes, int start, int end) throws BadLineException {
        Fields fields = new Fields(bytes, start, end);
        try (JsonParser in = FACTORY.createParser(bytes, start, end - start)) {
            if (in.nextToken() != JsonToken.START_OBJECT) {
                throw new BadLineException("it is no JSON object");
            }
            while (in.nextToken() == JsonToken.FIELD_NAME) {
                String name = in.currentName();
                in.nextToken();
                fields.values.put(name, value(in, start));
            }
            if (in.nextToken() != null) {
                throw new BadLineException("something follows its JSON object");
            }
        } catch (JsonProcessingException e) {
            // Jackson's text and location may quote what it could not read.
            throw new BadLineException("it is no valid JSON");
        } catch (IOException e) {
            throw new BadLineException("it is no UTF-8");
        }
        return fields;
    }

    static Fields of(byte[] bytes) throws BadLineException {
        return of(bytes, 0, bytes.length);
    }

    private static Value value(JsonParser in, int offset) throws IOException {
        JsonToken type = in.currentToken();
        int from = offset + (int) in.currentTokenLocation().getByteOffset();
        String text = type == JsonToken.VALUE_STRING || type.isNumeric() ? in.getText() : null;
        in.skipChildren();
        in.finishToken();
        return new Value(type, text, from, offset + (int) in.currentLocation().getByteOffset());
    }

    /** Reads the text that a prefix of an object holds in a field, or null if the prefix ends before it does. */
    static @Nullable String textInPrefix(byte[] prefix, String name) {
        try (JsonParser in = FACTORY.createParser(prefix)) {
            in.nextToken();
            while (in.nextToken() == JsonToken.FIELD_NAME) {
                boolean isIt = in.currentName().equals(name);
                if (in.nextToken() == null) {
                    return null;
                }
                if (isIt) {
                    return in.currentToken() == JsonToken.VALUE_STRING ? in.getText() : null;
                }
                in.skipChildren();
            }
            return null;
        } catch (IOException e) {
            // It is a prefix, so that it breaks off is no error.
            return null;
        }
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
        Value value = typed(name, JsonToken.START_OBJECT);
        return of(bytes, value.start(), value.end());
    }

    /** Reads the elements of an array; none if it is missing. */
    private List<Value> elements(String name) throws BadLineException {
        List<Value> elements = new ArrayList<>();
        if (!has(name)) {
            return elements;
        }
        Value array = typed(name, JsonToken.START_ARRAY);
        try (JsonParser in = FACTORY.createParser(bytes, array.start(), array.end() - array.start())) {
            in.nextToken();
            while (in.nextToken() != JsonToken.END_ARRAY) {
                elements.add(value(in, array.start()));
            }
        } catch (IOException e) {
            throw new BadLineException("its field " + name + " is no valid JSON");
        }
        return elements;
    }

    List<Fields> objects(String name) throws BadLineException {
        List<Fields> objects = new ArrayList<>();
        for (Value element : elements(name)) {
            objects.add(of(bytes, element.start(), element.end()));
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
        Part part = part(name);
        return new String(bytes, part.start(), part.length(), StandardCharsets.UTF_8);
    }

    /** Returns where a value is that is there. */
    Part part(String name) throws BadLineException {
        Value value = values.get(name);
        if (value == null) {
            throw new BadLineException("its field " + name + " is missing");
        }
        return new Part(value.start(), value.end() - value.start());
    }

    /** Returns where the whole object is. */
    Part part() {
        return new Part(start, end - start);
    }

    private Value typed(String name, JsonToken type) throws BadLineException {
        Value value = values.get(name);
        if (value == null || value.type() != type) {
            throw new BadLineException("its field " + name + " has another type");
        }
        return value;
    }
}
