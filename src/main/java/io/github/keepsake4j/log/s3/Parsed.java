package io.github.keepsake4j.log.s3;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A document of version 1, as it is written. Whatever is not as it should be is an error before anything is used of it, so
 * that nothing is ever written over a document that was only understood in part.
 *
 * @param elements the messages
 * @param beside the {@code keepsake} object, or null if there is none
 * @param othersBeside what else stands in that object, as it is written
 * @param others what else stands in the document, as it is written
 */
record Parsed(
        List<Element> elements, @Nullable Beside beside, Map<String, String> othersBeside, Map<String, String> others) {

    private static final String REPAIR = ". Its bytes are kept and nothing is written over them: repair or remove it";

    /**
     * Reads a document.
     *
     * @param what the document's name in errors
     * @param bytes its bytes, not compressed
     * @throws UnreadableDataException if it is none, or of another version
     */
    static Parsed read(String what, byte[] bytes) {
        try {
            return new Reader(text(bytes)).read();
        } catch (UnreadableDataException e) {
            throw new UnreadableDataException(what + " cannot be read: " + e.getMessage() + REPAIR, null);
        } catch (JsonProcessingException e) {
            // Jackson's own text may quote the document.
            throw new UnreadableDataException(
                    what + " cannot be read: it is no JSON, or ends too early" + RawJson.place(e) + REPAIR, null);
        } catch (IOException | RuntimeException e) {
            throw new UnreadableDataException(what + " cannot be read: it is no JSON in UTF-8" + REPAIR, null);
        }
    }

    private static String text(byte[] bytes) throws CharacterCodingException {
        String text = StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(bytes))
                .toString();
        return text.startsWith("\ufeff") ? text.substring(1) : text;
    }

    private static final class Reader {
        private final String source;
        private final List<Element> elements = new ArrayList<>();
        private final Map<String, String> others = new LinkedHashMap<>();
        private Map<String, String> othersBeside = Map.of();
        private @Nullable Beside beside;
        private @Nullable String turns;
        private boolean versioned;

        Reader(String source) {
            this.source = source;
        }

        Parsed read() throws IOException {
            try (JsonParser in = RawJson.parser(source)) {
                if (in.nextToken() != JsonToken.START_OBJECT) {
                    throw problem("it is no JSON object");
                }
                Set<String> seen = new HashSet<>();
                while (in.nextToken() == JsonToken.FIELD_NAME) {
                    String name = in.currentName();
                    in.nextToken();
                    if (!seen.add(name)) {
                        throw problem("a field stands in it twice");
                    }
                    field(name, in);
                }
                if (in.nextToken() != null) {
                    throw problem("something follows the JSON object");
                }
            }
            if (!versioned) {
                throw problem("it names no version");
            }
            if (turns != null) {
                elements.addAll(Turns.read(turns));
            }
            checkIds();
            return new Parsed(elements, beside, othersBeside, others);
        }

        private void field(String name, JsonParser in) throws IOException {
            switch (name) {
                case "version" -> version(in);
                case "messages" -> messages(in);
                case "turns" -> {
                    if (in.currentToken() != JsonToken.START_OBJECT) {
                        throw problem("its turns are no object");
                    }
                    turns = RawJson.raw(in, source);
                }
                case Element.EXTRA -> keepsake(in);
                default -> others.put(name, RawJson.raw(in, source));
            }
        }

        private void version(JsonParser in) throws IOException {
            if (in.currentToken() != JsonToken.VALUE_NUMBER_INT || !in.getText().equals("1")) {
                throw problem("it is of a version that this release does not know (it knows 1)");
            }
            versioned = true;
        }

        private void messages(JsonParser in) throws IOException {
            if (in.currentToken() != JsonToken.START_ARRAY) {
                throw problem("its messages are no array");
            }
            while (in.nextToken() != JsonToken.END_ARRAY) {
                elements.add(Element.read(in, source, "message number " + (elements.size() + 1)));
            }
        }

        private void keepsake(JsonParser in) throws IOException {
            if (in.currentToken() != JsonToken.START_OBJECT) {
                throw problem("its keepsake field is no object");
            }
            String raw = RawJson.raw(in, source);
            try {
                beside = RawJson.MAPPER.readValue(raw, Beside.class);
                othersBeside = Beside.othersOf(RawJson.fields(raw));
            } catch (JsonProcessingException | RuntimeException e) {
                throw problem("its keepsake object is damaged");
            }
        }

        private void checkIds() {
            Set<String> ids = new HashSet<>();
            for (Element element : elements) {
                if (!ids.add(element.id())) {
                    throw problem("message id " + element.id() + " stands in it twice");
                }
            }
        }
    }

    private static UnreadableDataException problem(String problem) {
        return new UnreadableDataException(problem, null);
    }
}
