package io.github.keepsake4j.transfer;

import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A line that {@link Lines} wrote, or a JSON object in it. Fields that are not known are ignored. Whatever is wrong with it is
 * an {@link InvalidInputException} that names the line and the field, and quotes nothing.
 */
final class Line {

    private static final MessageCodec CODEC = new MessageCodec();

    /** Names the line in errors. */
    private final String name;

    private final JsonFields json;

    private Line(String name, JsonFields json) {
        this.name = name;
        this.json = json;
    }

    static Line read(String name, String text) {
        return new Line(
                name,
                JsonFields.read(name, text, (place, problem) -> new WrongLineException(name, place + " " + problem)));
    }

    /** Returns the kind, or an empty text for an object that is no line of an export. */
    String kind() {
        return json.values().get("kind") instanceof String kind ? kind : "";
    }

    MemoryKey memory() {
        return checked(() -> switch (text("scope")) {
            case Lines.CONVERSATION -> ConversationKey.of(text("tenant"), text("conversation"));
            case Lines.NODE -> NodeKey.of(text("tenant"), text("app"), text("conversation"), text("node"));
            default -> throw json.wrong("scope", "is not known. A newer version wrote it");
        });
    }

    Map<String, String> metadata() {
        JsonFields texts = json.object("metadata");
        Map<String, String> metadata = new LinkedHashMap<>();
        if (texts != null) {
            texts.values().keySet().forEach(each -> metadata.put(each, texts.neededText(each)));
        }
        return metadata;
    }

    Moved message() {
        return checked(() -> {
            JsonFields outcome = json.object("outcome");
            JsonFields seen = json.object("seen");
            JsonFields usage = json.object("usage");
            NewMessage read = new NewMessage(
                            text("id"),
                            CODEC.decode(
                                    PlainJson.write(json.neededObject("message").values())),
                            smallNumber("tokens"),
                            text("counter"),
                            time("at"))
                    .withOutcome(outcome == null ? null : outcome(outcome))
                    .ofTurn(nullableText("question"))
                    .withMade(new Made(
                            seen == null ? null : seen(seen),
                            usage == null
                                    ? null
                                    : new Usage(
                                            usage.neededNumber("input", Long.MAX_VALUE),
                                            usage.neededNumber("output", Long.MAX_VALUE),
                                            usage.neededNumber("cached", Long.MAX_VALUE)),
                            nullableText("model"),
                            nullableText("finish"),
                            nullableText("request")));
            return new Moved(read, nullableText("parent"));
        });
    }

    private static @Nullable Outcome outcome(JsonFields json) {
        return Outcome.Kind.named(json.neededText("kind"))
                .map(kind -> new Outcome(kind, json.text("reason")))
                .orElse(null);
    }

    private static Seen seen(JsonFields json) {
        List<Long> shown = json.numbers("shown");
        if (shown.size() % 2 != 0) {
            throw json.wrong("shown", "must be pairs of numbers");
        }
        List<Seen.Range> ranges = IntStream.range(0, shown.size() / 2)
                .mapToObj(pair -> new Seen.Range(shown.get(2 * pair), shown.get(2 * pair + 1)))
                .toList();
        return new Seen(
                ranges,
                json.numbers("shortened"),
                json.has("summary") ? json.neededNumber("summary", Long.MAX_VALUE) : 0,
                Boolean.TRUE.equals(json.flag("altered")),
                json.texts("memories"));
    }

    Summary summary() {
        return checked(() -> new Summary(
                text("covers"),
                text("text"),
                smallNumber("tokens"),
                text("counter"),
                number("replacedMessages"),
                number("replacedTokens"),
                nullableText("model"),
                time("at")));
    }

    View view() {
        return checked(() -> {
            List<View.Run> runs = json.objects("runs").stream()
                    .map(run -> new View.Run(run.text("after"), run.neededText("last")))
                    .toList();
            return View.of(text("anchor"), runs).behindSummary(nullableText("summary"));
        });
    }

    String text(String field) {
        return json.neededText(field);
    }

    @Nullable
    String nullableText(String field) {
        return json.text(field);
    }

    /** Reads a number from 0. */
    long number(String field) {
        return json.neededNumber(field, Long.MAX_VALUE);
    }

    private int smallNumber(String field) {
        return (int) json.neededNumber(field, Integer.MAX_VALUE);
    }

    private Instant time(String field) {
        try {
            return Instant.parse(text(field));
        } catch (DateTimeException e) {
            throw json.wrong(field, "is not a time");
        }
    }

    private interface Read<T> {
        T read();
    }

    /** Names the line in the errors of what is read. */
    private <T> T checked(Read<T> read) {
        try {
            return read.read();
        } catch (WrongLineException e) {
            throw e;
        } catch (InvalidInputException | UnreadableDataException e) {
            throw new WrongLineException(name, "is not as it was written: " + e.getMessage());
        }
    }

    /** An error that names its line. */
    private static final class WrongLineException extends InvalidInputException {

        private static final long serialVersionUID = 1L;

        WrongLineException(String name, String problem) {
            super(name, problem);
        }
    }
}
