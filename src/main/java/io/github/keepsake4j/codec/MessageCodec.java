package io.github.keepsake4j.codec;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The JSON that messages are stored as, and back. What was encoded decodes to an equal message: all message and content
 * types of LangChain4j, with every field.
 *
 * <p><b>Format.</b> One object with {@code "v": 1}, a {@code "type"} and the fields that LangChain4j's own JSON has, under
 * the same names; nulls, empty attributes and empty tool requests are left out. JSON that LangChain4j's
 * {@code ChatMessageSerializer} wrote can be read too. Text holds no raw NUL and no raw half of a surrogate pair (both are
 * {@code \}{@code uXXXX} escapes), so that every database keeps it.
 *
 * <p><b>Attributes</b> keep their Java types. String, Boolean, null, Integer, finite Double, List and Map with String keys
 * are JSON's own. Long, Short, Byte, Float, BigInteger, BigDecimal, other Doubles, Character, Instant, UUID, URI, Set and
 * LangChain4j's Image become objects such as {@code {"@type": "long", "value": "123"}}; a map of the user's that holds the
 * key {@code @type} is wrapped in one. Lists, sets and maps come back equal, as the JDK's usual classes. Other classes,
 * arrays, structures that contain themselves, nest deeper than 500 levels of JSON or hold more than a million values are
 * refused.
 *
 * <p><b>Tolerance.</b> The reader ignores unknown fields and reads higher versions likewise. A message of an unknown type
 * becomes an {@link UnknownMessage}, an unknown content a text that says so, an unknown image detail level {@code AUTO}, an
 * attribute with an unknown tag a plain map.
 *
 * <p>Thread-safe. No error of it holds any text of a message; attribute keys and class names do stand in errors.
 */
public final class MessageCodec {

    /** The version of the format that is written. */
    public static final int VERSION = 1;

    /** Makes a codec. It has no state: one can serve all. */
    public MessageCodec() {}

    /**
     * Encodes a message.
     *
     * @param message a message of one of LangChain4j's own classes, or an {@link UnknownMessage}, whose fields are written
     *     back
     * @return its JSON
     * @throws InvalidInputException if a part of it could not be read back equal; names the part and its class
     */
    public String encode(ChatMessage message) {
        return Json.write(out -> new MessageWriter(out).write(message));
    }

    /**
     * Decodes a message.
     *
     * @param json what {@link #encode} or LangChain4j's serializer returned
     * @return the message; an {@link UnknownMessage} if its type is not known
     * @throws UnreadableDataException if this is no JSON object, or a needed field is missing or of the wrong type
     */
    public ChatMessage decode(String json) {
        return new MessageReader(object("Message", json)).read();
    }

    /**
     * Encodes texts by name.
     *
     * @param strings texts by name, without nulls
     * @return a JSON object, escaped like a message
     * @throws InvalidInputException if a name or a text is null
     */
    public String encodeStrings(Map<String, String> strings) {
        return Json.write(out -> {
            out.writeStartObject();
            for (Map.Entry<String, String> entry : strings.entrySet()) {
                @Nullable String name = entry.getKey();
                @Nullable String value = entry.getValue();
                if (name == null || value == null) {
                    throw new InvalidInputException("strings", "must not hold null");
                }
                out.writeStringField(name, value);
            }
            out.writeEndObject();
        });
    }

    /**
     * Decodes texts by name.
     *
     * @param json what {@link #encodeStrings} returned
     * @return the texts by name, in their stored order; mutable
     * @throws UnreadableDataException if this is no JSON object of strings
     */
    public Map<String, String> decodeStrings(String json) {
        JsonObject object = object("Map of strings", json);
        Map<String, String> strings = new LinkedHashMap<>();
        object.fields().keySet().forEach(name -> strings.put(name, object.neededString(name)));
        return strings;
    }

    /**
     * Encodes a text.
     *
     * @param text any text
     * @return a JSON string literal, escaped like a message
     */
    public String encodeText(String text) {
        return Json.write(out -> out.writeString(text));
    }

    /**
     * Decodes a text.
     *
     * @param json what {@link #encodeText} returned
     * @return the text
     * @throws UnreadableDataException if this is no JSON string
     */
    public String decodeText(String json) {
        if (Json.read("Text", json) instanceof String text) {
            return text;
        }
        throw Json.unreadable("Text", "it is no string");
    }

    private static JsonObject object(String what, String json) {
        @Nullable Object value = Json.read(what, json);
        if (value instanceof Map<?, ?> map) {
            return new JsonObject(JsonObject.fields(map), null);
        }
        throw Json.unreadable(what, "it is no object");
    }
}
