package io.github.keepsake4j.log.file;

import io.github.keepsake4j.codec.MessageCodec;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A JSON object that is written. All texts are escaped as in a message, so that UTF-8 can hold them. */
final class JsonText {

    private static final MessageCodec CODEC = new MessageCodec();

    private final StringBuilder json = new StringBuilder("{");

    /** Adds a value that is JSON already. */
    JsonText raw(String name, String value) {
        if (json.length() > 1) {
            json.append(',');
        }
        json.append('"').append(name).append("\":").append(value);
        return this;
    }

    JsonText number(String name, long value) {
        return raw(name, Long.toString(value));
    }

    /** Adds a number unless it is 0, which then means that there is none. */
    JsonText numberIfAny(String name, long value) {
        return value == 0 ? this : number(name, value);
    }

    /** Adds a text unless it is null. */
    JsonText text(String name, @Nullable String value) {
        return value == null ? this : raw(name, CODEC.encodeText(value));
    }

    JsonText numbers(String name, List<Long> values) {
        return raw(name, values.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]")));
    }

    JsonText texts(String name, List<String> values) {
        return raw(name, values.stream().map(CODEC::encodeText).collect(Collectors.joining(",", "[", "]")));
    }

    JsonText objects(String name, List<String> values) {
        return raw(name, values.stream().collect(Collectors.joining(",", "[", "]")));
    }

    String end() {
        return json.append('}').toString();
    }
}
