package io.github.keepsake4j.transfer;

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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A line that {@link Lines} wrote, or a JSON object in it. Fields that are not known are ignored. Whatever is wrong with it is
 * an {@link InvalidInputException} that names the line and the field, and quotes nothing.
 */
final class Line {

    private static final MessageCodec CODEC = new MessageCodec();

    /** Names the line in errors. */
    private final String name;

    private final Map<?, ?> json;

    private Line(String name, Map<?, ?> json) {
        this.name = name;
        this.json = json;
    }

    static Line read(String name, String text) {
        if (PlainJson.read(name, text) instanceof Map<?, ?> json) {
            return new Line(name, json);
        }
        throw new InvalidInputException(name, "is not a JSON object");
    }

    /** Returns the kind, or an empty text for an object that is no line of an export. */
    String kind() {
        return json.get("kind") instanceof String kind ? kind : "";
    }

    MemoryKey memory() {
        return checked(() -> switch (text("scope")) {
            case Lines.CONVERSATION -> ConversationKey.of(text("tenant"), text("conversation"));
            case Lines.NODE -> NodeKey.of(text("tenant"), text("app"), text("conversation"), text("node"));
            default -> throw wrong("scope", "is not known. A newer version wrote it");
        });
    }

    Map<String, String> metadata() {
        Line texts = object("metadata");
        Map<String, String> metadata = new LinkedHashMap<>();
        if (texts != null) {
            texts.json.keySet().forEach(each -> metadata.put((String) each, texts.text((String) each)));
        }
        return metadata;
    }

    Moved message() {
        return checked(() -> {
            Line outcome = object("outcome");
            Line seen = object("seen");
            Line usage = object("usage");
            Line message = object("message");
            if (message == null) {
                throw wrong("message", "is missing");
            }
            NewMessage read = new NewMessage(
                            text("id"),
                            CODEC.decode(PlainJson.write(message.json)),
                            smallNumber("tokens"),
                            text("counter"),
                            time("at"))
                    .withOutcome(outcome == null ? null : outcome.outcome())
                    .ofTurn(nullableText("question"))
                    .withMade(new Made(
                            seen == null ? null : seen.seen(),
                            usage == null
                                    ? null
                                    : new Usage(usage.number("input"), usage.number("output"), usage.number("cached")),
                            nullableText("model"),
                            nullableText("finish"),
                            nullableText("request")));
            return new Moved(read, nullableText("parent"));
        });
    }

    private @Nullable Outcome outcome() {
        return Outcome.Kind.named(text("kind"))
                .map(kind -> new Outcome(kind, nullableText("reason")))
                .orElse(null);
    }

    private Seen seen() {
        List<Long> shown = numbers("shown");
        if (shown.size() % 2 != 0) {
            throw wrong("shown", "must be pairs of numbers");
        }
        List<Seen.Range> ranges = LongStream.range(0, shown.size() / 2)
                .mapToObj(pair -> new Seen.Range(shown.get((int) (2 * pair)), shown.get((int) (2 * pair + 1))))
                .toList();
        return new Seen(
                ranges,
                numbers("shortened"),
                has("summary") ? number("summary") : 0,
                Boolean.TRUE.equals(json.get("altered")),
                has("memories") ? texts("memories") : List.of());
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
            List<View.Run> runs = new ArrayList<>();
            for (Object each : list("runs")) {
                if (!(each instanceof Map<?, ?> run)) {
                    throw wrong("runs", "must be a list of objects");
                }
                Line line = new Line(name, run);
                runs.add(new View.Run(line.nullableText("after"), line.text("last")));
            }
            return View.of(text("anchor"), runs).behindSummary(nullableText("summary"));
        });
    }

    boolean has(String field) {
        return json.get(field) != null;
    }

    String text(String field) {
        String text = nullableText(field);
        if (text == null) {
            throw wrong(field, "is missing");
        }
        return text;
    }

    @Nullable
    String nullableText(String field) {
        Object value = json.get(field);
        if (value == null || value instanceof String) {
            return (String) value;
        }
        throw wrong(field, "must be a string");
    }

    /** Reads a number from 0. */
    long number(String field) {
        if (!has(field)) {
            throw wrong(field, "is missing");
        }
        return number(field, json.get(field));
    }

    private long number(String field, @Nullable Object value) {
        if (value instanceof Integer || value instanceof Long) {
            long number = ((Number) value).longValue();
            if (number >= 0) {
                return number;
            }
        }
        throw wrong(field, "must be a whole number of 0 or more");
    }

    private int smallNumber(String field) {
        long number = number(field);
        if (number > Integer.MAX_VALUE) {
            throw wrong(field, "is too large");
        }
        return (int) number;
    }

    private Instant time(String field) {
        try {
            return Instant.parse(text(field));
        } catch (DateTimeException e) {
            throw wrong(field, "is not a time");
        }
    }

    private List<?> list(String field) {
        Object value = json.get(field);
        if (value == null) {
            return List.of();
        }
        if (value instanceof List<?> list) {
            return list;
        }
        throw wrong(field, "must be a list");
    }

    private List<Long> numbers(String field) {
        List<Long> numbers = new ArrayList<>();
        list(field).forEach(each -> numbers.add(number(field, each)));
        return numbers;
    }

    private List<String> texts(String field) {
        List<String> texts = new ArrayList<>();
        for (Object each : list(field)) {
            if (!(each instanceof String text)) {
                throw wrong(field, "must be a list of texts");
            }
            texts.add(text);
        }
        return texts;
    }

    private @Nullable Line object(String field) {
        Object value = json.get(field);
        if (value == null) {
            return null;
        }
        if (value instanceof Map<?, ?> map) {
            return new Line(name, map);
        }
        throw wrong(field, "must be an object");
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

    private InvalidInputException wrong(String field, String problem) {
        return new WrongLineException(name, field + " " + problem);
    }

    /** An error that names its line. */
    private static final class WrongLineException extends InvalidInputException {

        private static final long serialVersionUID = 1L;

        WrongLineException(String name, String problem) {
            super(name, problem);
        }
    }
}
