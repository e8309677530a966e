package io.github.keepsake4j.log.file;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.backend.RecordJson;
import io.github.keepsake4j.backend.TreeStep;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.function.Supplier;

/** Converts the content of lines between JSON and records. */
final class Contents {

    static final MessageCodec CODEC = new MessageCodec();

    private Contents() {}

    /**
     * Reads the fields of a JSON object.
     *
     * @throws BadLineException if it cannot be read; also the error of its fields
     */
    static JsonFields fields(byte[] bytes, int start, int end) {
        return JsonFields.read(
                bytes,
                start,
                end,
                (place, problem) ->
                        new BadLineException((place.isEmpty() ? "it " : "its field " + place + " ") + problem));
    }

    static JsonFields fields(byte[] bytes) {
        return fields(bytes, 0, bytes.length);
    }

    /** Reads records. Some records refuse values that are out of range. */
    static <T> T checked(Supplier<T> read) {
        try {
            return read.get();
        } catch (InvalidInputException e) {
            throw new BadLineException("one of its values is out of range");
        }
    }

    /** Returns the place of an object in the file. Its line begins at the offset. */
    static Part part(JsonFields json, long offset) {
        JsonFields.Range range = json.range();
        return new Part(offset + range.begin(), Math.toIntExact(range.end() - range.begin()));
    }

    /** Writes a message. Its place comes first, so that the place can be read even if the message cannot. */
    static JsonObject message(TreeStep.Added added) {
        Entry entry = added.entry();
        TreeStep.Inherited inherited = added.inherited();
        JsonObject json = new JsonObject()
                .with("seq", entry.sequence())
                .with("id", entry.id())
                .withPresent("parent", entry.parentId())
                .withAny("after", inherited.parent())
                .with("run", inherited.run())
                .with("depth", inherited.depth())
                .with("path", inherited.path())
                .withAny("system", inherited.system())
                .withAny("user", inherited.user());
        return RecordJson.put(
                json,
                entry.createdAt(),
                entry.tokens(),
                entry.tokenCounter(),
                entry.question(),
                entry.outcome(),
                entry.made(),
                entry.payload());
    }

    /** Reads a message without its content. */
    static TreeStep.Added added(JsonFields json, Part part) {
        long seq = json.neededNumber("seq");
        TreeStep.Inherited inherited = new TreeStep.Inherited(
                json.numberOr("after", 0),
                json.neededNumber("run"),
                json.neededNumber("depth"),
                json.neededNumber("path"),
                json.numberOr("system", 0),
                json.numberOr("user", 0));
        ChatMessageType type = inherited.system() == seq
                ? ChatMessageType.SYSTEM
                : inherited.user() == seq ? ChatMessageType.USER : ChatMessageType.AI;
        Entry entry = new Entry(
                json.neededText("id"),
                json.text("parent"),
                seq,
                part,
                type,
                (int) json.neededNumber("tokens", Integer.MAX_VALUE),
                json.neededText("counter"),
                json.neededTime("at"),
                RecordJson.outcome(json.object("outcome")),
                json.text("question"));
        return new TreeStep.Added(entry, inherited, RecordJson.usage(json));
    }

    static JsonObject view(View view) {
        JsonObject json = new JsonObject().with("anchor", view.anchor()).with("seq", view.anchorSequence());
        return RecordJson.put(json, view);
    }

    static View view(JsonFields json) {
        // If a stored view names the head, there was no head: the memory was empty.
        return RecordJson.view(json, json.neededText("anchor"), json.neededNumber("seq"))
                .resolved(null);
    }

    static JsonObject summary(TreeStep.Summarized put) {
        Summary summary = put.summary();
        JsonObject json = new JsonObject().with("version", summary.version()).with("seq", put.sequence());
        return RecordJson.put(json, summary);
    }

    static TreeStep.Summarized summary(JsonFields json) {
        return new TreeStep.Summarized(
                RecordJson.summary(json).withVersion(json.neededNumber("version")), json.neededNumber("seq"));
    }

    static JsonObject description(TreeStep.Described described) {
        return new JsonObject().withPresent("title", described.title()).with("metadata", described.metadata());
    }

    static TreeStep.Described description(JsonFields json) {
        return new TreeStep.Described(
                json.text("title"), json.neededObject("metadata").strings());
    }
}
