package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.codec.PlainJson;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request to a script. Numbers are sent as text, because numbers of Lua have only 53 bits. Not thread-safe. */
final class Request {

    private final Map<String, Object> fields = new LinkedHashMap<>();
    private final List<byte[]> texts = new ArrayList<>();

    Request(String op) {
        fields.put("op", op);
    }

    /** Sets a field. Leaves out null, false and empty values, because Lua has one empty table for lists and maps. */
    Request with(String name, @Nullable Object value) {
        boolean isNone = value == null || value.equals(false) || value.equals(List.of()) || value.equals(Map.of());
        if (!isNone) {
            fields.put(name, value instanceof Number ? value.toString() : value);
        }
        return this;
    }

    /** Adds a text that the script does not interpret; an empty one for null. */
    Request text(@Nullable String text) {
        texts.add(Text.bytes(text == null ? "" : text));
        return this;
    }

    List<byte[]> arguments() {
        List<byte[]> arguments = new ArrayList<>(texts.size() + 1);
        arguments.add(Text.bytes(PlainJson.write(fields)));
        arguments.addAll(texts);
        return arguments;
    }
}
