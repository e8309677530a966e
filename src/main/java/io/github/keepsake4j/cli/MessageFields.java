package io.github.keepsake4j.cli;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.component.MemoryOutput;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Messages as the fields of the component's JSON: {@code role}, {@code content}, {@code tool_calls}. */
final class MessageFields {

    private MessageFields() {}

    static List<Map<?, ?>> of(List<ChatMessage> messages) {
        String json = new MemoryOutput(messages, messages.size(), 0, null).toJson();
        List<Map<?, ?>> fields = new ArrayList<>();
        if (PlainJson.read("messages", json) instanceof Map<?, ?> output
                && output.get("messages") instanceof List<?> list) {
            for (Object message : list) {
                fields.add((Map<?, ?>) message);
            }
        }
        return fields;
    }

    static Map<?, ?> of(ChatMessage message) {
        return of(List.of(message)).get(0);
    }

    static @Nullable Object get(@Nullable Object object, String name) {
        return object instanceof Map<?, ?> map ? map.get(name) : null;
    }

    static List<?> list(@Nullable Object value) {
        return value instanceof List<?> list ? list : List.of();
    }
}
