package io.github.keepsake4j.transfer;

import io.github.keepsake4j.backend.RecordJson;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.codec.MessageCodec.Row;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnknownMessage;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The lines of an export, each a JSON object that begins with its kind. {@link NdjsonLine} reads them. Pure functions. */
final class Lines {

    /**
     * The version of the format. A reader ignores unknown kinds and fields, so additions do not raise it. A higher
     * version is one that an older reader would misread.
     */
    static final int VERSION = 1;

    static final String EXPORT = "export";
    static final String MEMORY = "memory";
    static final String MESSAGE = "message";
    static final String SUMMARY = "summary";
    static final String VIEW = "view";
    static final String BRANCH = "branch";
    static final String HEAD = "head";
    static final String END = "end";
    static final String DONE = "done";

    private static final MessageCodec CODEC = new MessageCodec();

    private Lines() {}

    /** Begins an export. */
    static String export() {
        return PlainJson.write(line(EXPORT).with("version", VERSION));
    }

    /** Ends an export. */
    static String done(MemoryCopy.Report report) {
        return PlainJson.write(line(DONE)
                .with("memories", report.memories())
                .with("messages", report.messages())
                .with("damaged", report.damaged()));
    }

    /** Begins a memory. */
    static String memory(MemoryKey key, BesideMessages beside) {
        return PlainJson.write(memoryFields(key, beside));
    }

    static JsonObject memoryFields(MemoryKey key, BesideMessages beside) {
        JsonObject json = RecordJson.put(line(MEMORY), key);
        return json.withPresent("title", beside.title()).with("metadata", new TreeMap<>(beside.metadata()));
    }

    /** Ends a memory. */
    static String end(Fingerprint fingerprint) {
        return PlainJson.write(
                line(END).with("messages", fingerprint.messages()).with("sha256", fingerprint.sha256()));
    }

    static String message(Moved moved) {
        NewMessage message = moved.message();
        JsonObject json = line(MESSAGE).with("id", message.id()).withPresent("parent", moved.parentId());
        return PlainJson.write(RecordJson.put(
                json,
                message.createdAt(),
                message.tokens(),
                message.tokenCounter(),
                message.question(),
                message.outcome(),
                message.made(),
                json(new Row(message.message(), null, message.asked()))));
    }

    /** Writes a message. Maps and sets of its attributes may have another order in each process, so they are sorted. */
    private static String json(Row row) {
        String json = CODEC.encode(row);
        boolean isUnknown = row.message() instanceof UnknownMessage;
        if ((!isUnknown && !json.contains("\"attributes\""))
                || !(PlainJson.read("message", json) instanceof Map<?, ?> fields)) {
            return json;
        }
        Map<Object, Object> sorted = new LinkedHashMap<>(fields);
        sorted.computeIfPresent("attributes", (name, attributes) -> sorted(attributes));
        return PlainJson.write(isUnknown ? sorted(fields) : sorted);
    }

    private static Object sorted(Object value) {
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> sorted = new TreeMap<>(map);
            sorted.replaceAll((name, each) -> each == null ? null : sorted(each));
            if ("set".equals(map.get("@type")) && sorted.get("value") instanceof List<?> elements) {
                sorted.put(
                        "value",
                        elements.stream()
                                .sorted(Comparator.comparing(PlainJson::write))
                                .toList());
            }
            return sorted;
        }
        return value instanceof List<?> list
                ? list.stream().map(each -> each == null ? null : sorted(each)).toList()
                : value;
    }

    static String summary(Summary summary) {
        return PlainJson.write(RecordJson.put(line(SUMMARY), summary));
    }

    static String view(View view) {
        return PlainJson.write(RecordJson.put(line(VIEW).withPresent("anchor", view.anchor()), view));
    }

    static String branch(String name, String end) {
        return PlainJson.write(line(BRANCH).with("name", name).with("end", end));
    }

    static String head(String id) {
        return PlainJson.write(line(HEAD).with("id", id));
    }

    private static JsonObject line(String kind) {
        return new JsonObject().with("kind", kind);
    }
}
