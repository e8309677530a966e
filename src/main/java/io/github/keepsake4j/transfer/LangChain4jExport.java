package io.github.keepsake4j.transfer;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageSerializer;
import io.github.keepsake4j.codec.MessageAttributes;
import io.github.keepsake4j.message.InvalidInputException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Writes messages as the JSON of LangChain4j's {@link ChatMessageSerializer}, which its {@code ChatMessageDeserializer}
 * reads. The serializer itself fails for some attributes that a log keeps.
 */
public final class LangChain4jExport {

    /** Jackson reads no longer number. */
    private static final int MAX_DIGITS = 1_000;

    /** A surrogate without its other half, which UTF-8 cannot encode. */
    private static final Pattern LONE_SURROGATE = Pattern.compile("\\p{Cs}");

    private LangChain4jExport() {}

    /**
     * Writes messages as LangChain4j's own JSON.
     *
     * <p>Values of attributes become values of JSON. Instants, UUIDs, URIs and characters become strings, and sets become
     * lists. Numbers stay numbers, except that those that are not finite, are too long or do not fit in a double become
     * strings. All other parts of the messages are read back equal. Unpaired surrogates are escaped, so that the text can be
     * stored as UTF-8.
     *
     * @param messages the messages, such as those of a page of a history
     * @return a JSON array
     */
    public static String toJson(List<? extends ChatMessage> messages) {
        String json = ChatMessageSerializer.messagesToJson(
                messages.stream().map(LangChain4jExport::plain).toList());
        return LONE_SURROGATE.matcher(json).replaceAll(half -> "\\\\u%04x"
                .formatted((int) half.group().charAt(0)));
    }

    private static ChatMessage plain(ChatMessage message) {
        InvalidInputException.given("message", message);
        return MessageAttributes.with(message, map(MessageAttributes.of(message)));
    }

    private static Map<String, Object> map(Map<?, ?> values) {
        Map<String, Object> plain = new LinkedHashMap<>();
        values.forEach((key, value) -> plain.put(String.valueOf(key), value(value)));
        return plain;
    }

    private static @Nullable Object value(@Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return map(map);
        }
        if (value instanceof Collection<?> collection) {
            return collection.stream().map(LangChain4jExport::value).toList();
        }
        if (value instanceof Instant) {
            return value.toString();
        }
        if (value instanceof BigInteger number) {
            String digits = number.toString();
            return digits.length() > MAX_DIGITS ? digits : number;
        }
        if (value instanceof BigDecimal number) {
            double nearest = number.doubleValue();
            boolean fits =
                    Double.isFinite(nearest) && BigDecimal.valueOf(nearest).compareTo(number) == 0;
            return fits ? (Object) nearest : number.toString();
        }
        return value;
    }
}
