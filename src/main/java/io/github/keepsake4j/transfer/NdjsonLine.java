package io.github.keepsake4j.transfer;

import io.github.keepsake4j.backend.RecordJson;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A line that {@link Lines} wrote, or a JSON object in it. Unknown fields are ignored. Any error is an
 * {@link InvalidInputException} that names the line and the field, and quotes nothing.
 *
 * @param name names the line in errors
 */
record NdjsonLine(String name, JsonFields json) {

    private static final MessageCodec CODEC = new MessageCodec();

    static NdjsonLine read(String name, String text) {
        return new NdjsonLine(
                name,
                JsonFields.read(name, text, (place, problem) -> new WrongLineException(name, place + " " + problem)));
    }

    /** Returns the kind, or an empty text for an object that is not a line of an export. */
    String kind() {
        return json.values().get("kind") instanceof String kind ? kind : "";
    }

    MemoryKey memory() {
        return checked(() -> RecordJson.key(json));
    }

    Map<String, String> metadata() {
        JsonFields texts = json.object("metadata");
        return texts == null ? Map.of() : texts.strings();
    }

    Moved message() {
        return checked(() -> {
            MessageCodec.Row row = CODEC.decodeRow(json.neededObject("message"));
            NewMessage read = new NewMessage(
                            json.neededText("id"),
                            row.message(),
                            (int) json.neededNumber("tokens", Integer.MAX_VALUE),
                            json.neededText("counter"),
                            json.neededTime("at"))
                    .withOutcome(RecordJson.outcome(json.object("outcome")))
                    .ofTurn(json.text("question"))
                    .withAsked(row.asked())
                    .withMade(RecordJson.made(json));
            return new Moved(read, json.text("parent"));
        });
    }

    Summary summary() {
        return checked(() -> RecordJson.summary(json));
    }

    View view() {
        return checked(() -> RecordJson.view(json, json.neededText("anchor"), 0));
    }

    /** Adds the line to the errors of a read. */
    private <T> T checked(Supplier<T> read) {
        try {
            return read.get();
        } catch (WrongLineException e) {
            throw e;
        } catch (InvalidInputException | UnreadableDataException e) {
            throw new WrongLineException(name, "was changed since it was written: " + e.getMessage());
        }
    }

    /** An error that names its line. */
    private static final class WrongLineException extends InvalidInputException {

        WrongLineException(String name, String problem) {
            super(name, problem);
        }
    }
}
