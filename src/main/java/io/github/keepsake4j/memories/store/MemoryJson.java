package io.github.keepsake4j.memories.store;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.MadeMemory.Status;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the stored fields of a memory other than its text. WilmerAI's fields are at the top level. This
 * library's fields are in one more field, which WilmerAI ignores. Unknown fields are ignored. An unknown trust is read
 * as the least, and an unknown status as one that is not shown. This class is for stores.
 */
public final class MemoryJson {

    private MemoryJson() {}

    /**
     * Writes the metadata of a memory.
     *
     * @param memory the memory
     * @return JSON
     */
    public static String metadata(MadeMemory memory) {
        return PlainJson.write(new JsonObject()
                .with("title", memory.title())
                .with("summary", memory.summary())
                .with("entities", memory.entities())
                .with("key_phrases", memory.keyPhrases())
                .with("keepsake", own(memory)));
    }

    /**
     * Returns the fields that are ours.
     *
     * @param memory a memory
     * @return its fields
     */
    public static JsonObject own(MadeMemory memory) {
        JsonObject json = new JsonObject()
                .with("id", memory.id())
                .with("kind", memory.kind().name());
        return put(json, memory.source())
                .withPresent("model", memory.model())
                .with("prompt", memory.promptVersion())
                .with("at", memory.madeAt().toString())
                .with("trust", memory.trust().name())
                .with("pinned", memory.pinned())
                .withPresent("replaces", memory.replaces())
                .with("status", memory.status().name())
                .withPresent("vector", memory.vector());
    }

    /**
     * Adds the fields of a passage.
     *
     * @param json gets the fields
     * @param passage the passage
     * @return the same object
     */
    public static JsonObject put(JsonObject json, Passage passage) {
        return json.with("message_ids", passage.messageIds())
                .with("messages", passage.messages())
                .with("message_hash", passage.messageHash())
                .with("after", passage.after())
                .with("up_to", passage.upTo());
    }

    /**
     * Reads a memory.
     *
     * @param where the place, for errors
     * @param text the memory's text
     * @param metadata JSON
     * @return the memory
     */
    public static MadeMemory memory(String where, String text, String metadata) {
        Map<?, ?> json = object(where, metadata);
        return memory(where, text, json, json.get("keepsake") instanceof Map<?, ?> own ? own : Map.of());
    }

    /**
     * Reads a memory from the fields of WilmerAI and of this library.
     *
     * @param where the place, for errors
     * @param text the text
     * @param json the fields of WilmerAI
     * @param own our fields
     * @return the memory
     * @throws UnreadableDataException if a field is missing or has a wrong value
     */
    public static MadeMemory memory(String where, String text, Map<?, ?> json, Map<?, ?> own) {
        try {
            return new MadeMemory(
                    text(own, "id"),
                    MadeMemory.Kind.valueOf(text(own, "kind")),
                    text,
                    textOr(json, "title", ""),
                    textOr(json, "summary", ""),
                    texts(json.get("entities")),
                    texts(json.get("key_phrases")),
                    passage(own),
                    own.get("model") instanceof String model ? model : null,
                    textOr(own, "prompt", ""),
                    Instant.parse(text(own, "at")),
                    named(Trust.class, own.get("trust"), Trust.RETRIEVED),
                    Boolean.TRUE.equals(own.get("pinned")),
                    own.get("replaces") instanceof String replaces ? replaces : null,
                    named(Status.class, own.get("status"), Status.REPLACED),
                    own.get("vector") instanceof String vector ? vector : null);
        } catch (IllegalArgumentException | DateTimeException | InvalidInputException e) {
            throw unreadable(where, "a field is missing or has a wrong value");
        }
    }

    /**
     * Reads the fields of a passage.
     *
     * @param own our fields
     * @return the passage; missing parts are empty or 0
     */
    public static Passage passage(Map<?, ?> own) {
        return new Passage(
                texts(own.get("message_ids")),
                own.get("messages") instanceof Number number ? number.intValue() : 0,
                textOr(own, "message_hash", ""),
                textOr(own, "after", ""),
                textOr(own, "up_to", ""));
    }

    /**
     * Writes a list.
     *
     * @param texts the texts
     * @return JSON
     */
    public static String list(Iterable<String> texts) {
        List<String> list = new ArrayList<>();
        texts.forEach(list::add);
        return PlainJson.write(list);
    }

    /**
     * Reads a list.
     *
     * @param where the place, for errors
     * @param json the list
     * @return the texts
     */
    public static List<String> list(String where, String json) {
        return texts(read(where, json));
    }

    /**
     * Reads an object.
     *
     * @param where the place, for errors
     * @param json the text
     * @return its fields
     * @throws UnreadableDataException if it is not a JSON object
     */
    public static Map<?, ?> object(String where, String json) {
        if (read(where, json) instanceof Map<?, ?> map) {
            return map;
        }
        throw unreadable(where, "it is not a JSON object");
    }

    private static @Nullable Object read(String where, String json) {
        try {
            return PlainJson.read("json", json);
        } catch (InvalidInputException e) {
            throw unreadable(where, "it is not valid JSON");
        }
    }

    /**
     * Creates an error.
     *
     * @param where the place
     * @param problem why it cannot be read
     * @return the error
     */
    public static UnreadableDataException unreadable(String where, String problem) {
        return new UnreadableDataException(
                where + " cannot be read: " + problem
                        + ". Nothing was changed. Restore the data, or erase the memories of this discussion",
                null);
    }

    private static String text(Map<?, ?> json, String name) {
        if (json.get(name) instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException(name);
    }

    /**
     * Returns a field.
     *
     * @param json the fields
     * @param name the name
     * @param otherwise the text if there is none
     * @return the text
     */
    public static String textOr(Map<?, ?> json, String name, String otherwise) {
        return json.get(name) instanceof String text ? text : otherwise;
    }

    private static <E extends Enum<E>> E named(Class<E> type, @Nullable Object name, E otherwise) {
        for (E each : type.getEnumConstants()) {
            if (each.name().equals(name)) {
                return each;
            }
        }
        return otherwise;
    }

    private static List<String> texts(@Nullable Object value) {
        return value instanceof List<?> list
                ? list.stream()
                        .filter(String.class::isInstance)
                        .map(String.class::cast)
                        .toList()
                : List.of();
    }
}
