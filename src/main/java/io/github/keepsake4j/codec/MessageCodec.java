package io.github.keepsake4j.codec;

import com.fasterxml.jackson.core.JsonFactory;
import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage.Asked;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Encodes messages as the JSON that is stored, and decodes them. An encoded message decodes to an equal message. All
 * message and content types of LangChain4j are supported, with every field.
 *
 * <p><b>Format.</b> A message is one object with {@code "v": 1}, a {@code "type"} and the fields of LangChain4j's own
 * JSON, under the same names. Nulls, empty attributes and empty tool requests are left out. JSON that LangChain4j's
 * {@code ChatMessageSerializer} wrote can be decoded too. The text contains no raw NUL and no raw unpaired surrogate
 * (both are {@code \}{@code uXXXX} escapes), so that every database can store it.
 *
 * <p><b>Attributes</b> keep their Java types. String, Boolean, null, Integer, finite Double, List and Map with String
 * keys are JSON's own types. Long, Short, Byte, Float, BigInteger, BigDecimal, other Doubles, Character, Instant, UUID,
 * URI, Set and LangChain4j's Image become objects such as {@code {"@type": "long", "value": "123"}}. A user's map that
 * contains the key {@code @type} is wrapped in such an object. Lists, sets and maps are decoded to equal collections of
 * the JDK's usual classes. The codec refuses other classes, arrays, structures that contain themselves, structures that
 * nest deeper than 500 levels of JSON, and structures with more than a million values.
 *
 * <p><b>Tolerance.</b> The reader ignores unknown fields and reads higher versions in the same way. A message of an
 * unknown type becomes an {@link UnknownMessage}. An unknown content becomes a text that says so, an unknown image
 * detail level becomes {@code AUTO}, and an attribute with an unknown tag becomes a plain map.
 *
 * <p>Thread-safe. The codec's exceptions never contain text of a message. They may contain attribute keys and class
 * names.
 */
public final class MessageCodec {

    /** The version of the format that is written. */
    public static final int VERSION = 1;

    private static final String QUESTION = "question";

    /** Creates a codec. A codec has no state, so one instance can be shared. */
    public MessageCodec() {}

    /**
     * Encodes a message.
     *
     * @param message a message of one of LangChain4j's own classes, or an {@link UnknownMessage}, whose fields are
     *     written back unchanged
     * @return the message as JSON
     * @throws InvalidInputException if a part of the message could not be decoded to an equal value; the exception
     *     names the part and its class
     */
    public String encode(ChatMessage message) {
        return Json.write(MessageWriter.write(message));
    }

    /**
     * Encodes a message with the fields that a log stores with it. {@link #decode} ignores these.
     *
     * @param row a message as {@link #encode(ChatMessage)} takes it, with its fields
     * @return the message as JSON, with a field {@code question} and a field {@code asked} if they are not null
     * @throws InvalidInputException if a part of the message could not be decoded to an equal value
     */
    public String encode(Row row) {
        return Json.write(MessageWriter.write(row.message())
                .withPresent(QUESTION, row.question())
                .withPresent("asked", AskedJson.write(row.message(), row.asked())));
    }

    /**
     * A message with the fields that a log stores in its JSON.
     *
     * @param message the message
     * @param question the id of the question of its turn, or null for no turn
     * @param asked what the user wrote, or null
     */
    public record Row(ChatMessage message, @Nullable String question, @Nullable Asked asked) {

        /** Leaves out the message's text, so that the result may be logged. */
        @Override
        public String toString() {
            return "Row[type=" + message.type() + ", question=" + question + "]";
        }
    }

    /**
     * Decodes a message with its fields.
     *
     * @param json JSON that this codec or LangChain4j's serializer returned
     * @return the message, and its fields if they are known
     * @throws UnreadableDataException if {@link #decode} would throw it
     */
    public Row decodeRow(String json) {
        return decodeRow(object("Message", json));
    }

    /**
     * Decodes a message with its fields that is a part of other JSON.
     *
     * @param json the message's fields
     * @return the message, and its fields if they are known
     * @throws io.github.keepsake4j.message.KeepsakeException as {@link #decode(JsonFields)}
     */
    public Row decodeRow(JsonFields json) {
        ChatMessage message = decode(json);
        return new Row(
                message,
                json.values().get(QUESTION) instanceof String question ? question : null,
                AskedJson.read(json, message));
    }

    /**
     * Decodes a message.
     *
     * @param json JSON that {@link #encode} or LangChain4j's serializer returned
     * @return the message; an {@link UnknownMessage} if its type is not known
     * @throws UnreadableDataException if the text is not a JSON object, or if a required field is missing or has the
     *     wrong type
     */
    public ChatMessage decode(String json) {
        return decode(object("Message", json));
    }

    /**
     * Decodes a message that is a part of other JSON.
     *
     * @param json the message's fields
     * @return the message; an {@link UnknownMessage} if its type is not known
     * @throws io.github.keepsake4j.message.KeepsakeException the error of these fields, if a required one is missing or
     *     has the wrong type
     */
    public ChatMessage decode(JsonFields json) {
        return new MessageReader(json).read();
    }

    /**
     * Encodes a map of strings.
     *
     * @param strings the strings by name, without nulls
     * @return a JSON object, escaped like a message
     * @throws InvalidInputException if a name or a string is null
     */
    public String encodeStrings(Map<String, String> strings) {
        for (Map.Entry<@Nullable String, @Nullable String> entry : strings.entrySet()) {
            if (entry.getKey() == null || entry.getValue() == null) {
                throw new InvalidInputException("strings", "must not contain null");
            }
        }
        return Json.write(strings);
    }

    /**
     * Decodes a map of strings.
     *
     * @param json JSON that {@link #encodeStrings} returned
     * @return the strings by name, in their stored order; mutable
     * @throws UnreadableDataException if the text is not a JSON object of strings
     */
    public Map<String, String> decodeStrings(String json) {
        return object("Map of strings", json).strings();
    }

    /**
     * Encodes a string.
     *
     * @param text any text
     * @return a JSON string literal, escaped like a message
     */
    public String encodeText(String text) {
        return Json.write(text);
    }

    /**
     * Decodes a string.
     *
     * @param json JSON that {@link #encodeText} returned
     * @return the text
     * @throws UnreadableDataException if the JSON is not a string
     */
    public String decodeText(String json) {
        if (Json.read("Text", json) instanceof String text) {
            return text;
        }
        throw Json.unreadable("Text", "it is not a JSON string");
    }

    /**
     * Creates a Jackson factory for JSON around encoded messages, which may be as large as a message and nest deeper.
     * The factory shares nothing with others, and its errors quote no text.
     *
     * @return a new factory
     */
    public static JsonFactory enclosingFactory() {
        return Json.factory(2 * Json.MAX_DEPTH, 2 * Json.MAX_NUMBER_LENGTH);
    }

    static JsonFields object(String what, String json) {
        if (Json.read(what, json) instanceof Map<?, ?> map) {
            return new JsonFields(JsonFields.cast(map), null, JsonFields.STORED);
        }
        throw Json.unreadable(what, "it is not a JSON object");
    }
}
