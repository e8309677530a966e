package io.github.keepsake4j.log.s3;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.backend.NotesText;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.codec.MessageCodec.Row;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAccessor;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An element of the document's {@code messages}. The payload of an invalid element marks it as broken; it is written
 * back unchanged.
 *
 * @param id the message's id
 * @param parentId the real parent's id, or null for a root
 * @param type the message's type
 * @param tokens the message's size in tokens
 * @param isEstimate whether the tokens are an estimate of this library and not a count of the element's writer
 * @param createdAt when it was made; 1970 if that is not known
 * @param raw the stored element, after {@link #BROKEN} if it cannot be read
 * @param outcome how it ended if it did not end well, or null
 * @param made how it was made
 * @param question the id of the question of its turn, or null
 */
record Element(
        String id,
        @Nullable String parentId,
        ChatMessageType type,
        int tokens,
        boolean isEstimate,
        Instant createdAt,
        String raw,
        @Nullable Outcome outcome,
        Made made,
        @Nullable String question) {

    /** The field that a plain reader ignores. It is written only when it has content. */
    static final String EXTRA = "keepsake";

    /** The beginning of a payload that cannot be read. No JSON begins like this. */
    private static final String BROKEN = "\0";

    private static final String OUTCOME = "outcome";
    private static final String MADE = "made";
    private static final String REQUEST = "request";
    private static final String QUESTION = "question";
    private static final String PARENT = "parent_message_id";
    private static final MessageCodec CODEC = new MessageCodec();

    /** Returns this element with another id and parent in the view. */
    Element at(String otherId, @Nullable String otherParent) {
        return new Element(otherId, otherParent, type, tokens, isEstimate, createdAt, raw, outcome, made, question);
    }

    /** Returns the bytes of an element from a payload. */
    static String written(String payload) {
        return isBroken(payload) ? payload.substring(BROKEN.length()) : payload;
    }

    static boolean isBroken(String payload) {
        return payload.startsWith(BROKEN);
    }

    /**
     * Reads an element, or returns a broken one in its place.
     *
     * @param number its number in the document
     * @param json the element
     * @param raw the same as it is written
     * @param previous the id of the element before it, or null
     */
    static Element of(int number, JsonNode json, String raw, @Nullable String previous) {
        try {
            return of("message number " + number, json, raw);
        } catch (UnreadableDataException e) {
            String id = json.path("message_id").asText("");
            String parent = json.path(PARENT).textValue();
            JsonNode count = json.path("token_count");
            return new Element(
                    id.isEmpty() ? "unreadable-" + number : id,
                    json.has(PARENT) && (parent != null || json.get(PARENT).isNull()) ? parent : previous,
                    PlainMessage.type(json.path("role").asText("assistant"), ""),
                    count.canConvertToInt() && count.intValue() >= 0 ? count.intValue() : 0,
                    false,
                    json.hasNonNull("created_at") ? time(json.get("created_at")) : Instant.EPOCH,
                    BROKEN + raw,
                    null,
                    Made.NOTHING,
                    null);
        }
    }

    Element withRaw(String written) {
        return new Element(id, parentId, type, tokens, isEstimate, createdAt, written, outcome, made, question);
    }

    /**
     * Reads an element.
     *
     * @param what its name in errors until its id is known
     * @param json the element
     * @param raw the same as it is written
     * @throws UnreadableDataException if it is invalid
     */
    static Element of(String what, JsonNode json, String raw) {
        if (!json.isObject()) {
            throw new UnreadableDataException(what + " is not an object", null);
        }
        String id = text(what, json, "message_id");
        if (id == null || id.isEmpty()) {
            throw wrong(what, "message_id", "missing");
        }
        String named = "message " + id;
        String role = text(named, json, "role");
        if (role == null) {
            throw wrong(named, "role", "missing");
        }
        if (!json.has("content")) {
            throw wrong(named, "content", "missing");
        }
        String content = text(named, json, "content");
        checkFiles(named, json.path("files"));
        String parent = text(named, json, PARENT);
        Outcome outcome = null;
        Made made = Made.NOTHING;
        String question = null;
        if (json.has(EXTRA)) {
            JsonNode extra = json.get(EXTRA);
            if (!extra.isObject()) {
                throw wrong(named, EXTRA, "not an object");
            }
            String real = text(named, extra, "parent");
            parent = parent == null ? real : parent;
            outcome = NotesText.outcome(text(named, extra, OUTCOME));
            made = NotesText.made(text(named, extra, MADE)).withRequest(text(named, extra, REQUEST));
            question = text(named, extra, QUESTION);
        }
        boolean counted = json.hasNonNull("token_count");
        return new Element(
                id,
                parent == null || parent.isEmpty() ? null : parent,
                PlainMessage.type(role, content == null ? "" : content),
                counted ? count(named, json.get("token_count")) : estimate(content == null ? "" : content),
                !counted,
                json.hasNonNull("created_at") ? time(json.get("created_at")) : Instant.EPOCH,
                raw,
                outcome,
                made,
                question);
    }

    private static @Nullable String text(String what, JsonNode json, String field) {
        if (!json.hasNonNull(field)) {
            return null;
        }
        if (!json.get(field).isTextual()) {
            throw wrong(what, field, "not a string");
        }
        return json.get(field).textValue();
    }

    private static void checkFiles(String what, JsonNode files) {
        if (!files.isMissingNode() && !files.isNull() && !files.isArray()) {
            throw wrong(what, "files", "not an array");
        }
        for (JsonNode file : files) {
            if (!file.isObject()) {
                throw wrong(what, "files", "not an array of objects");
            }
        }
    }

    private static int count(String what, JsonNode count) {
        if (!count.isIntegralNumber() || !count.canConvertToInt() || count.intValue() < 0) {
            throw wrong(what, "token_count", "not a whole number in range");
        }
        return count.intValue();
    }

    /**
     * Reads a time of ISO 8601, in UTC if it has no zone, or the seconds since 1970. Any other time counts as missing:
     * the order of the messages does not depend on it, and the stored element stays unchanged.
     */
    private static Instant time(JsonNode time) {
        try {
            if (time.isNumber() && Math.abs(time.doubleValue()) < 1e11) {
                return Instant.EPOCH.plus(Math.round(time.doubleValue() * 1e6), ChronoUnit.MICROS);
            }
            if (time.isTextual()) {
                TemporalAccessor read = DateTimeFormatter.ISO_DATE_TIME.parseBest(
                        time.textValue(), OffsetDateTime::from, LocalDateTime::from);
                OffsetDateTime zoned = read instanceof LocalDateTime local
                        ? local.atOffset(ZoneOffset.UTC)
                        : OffsetDateTime.from(read);
                return zoned.toInstant().truncatedTo(ChronoUnit.MICROS);
            }
            return Instant.EPOCH;
        } catch (DateTimeException | ArithmeticException e) {
            return Instant.EPOCH;
        }
    }

    private static UnreadableDataException wrong(String what, String field, String problem) {
        return new UnreadableDataException(what + " cannot be read: its " + field + " is " + problem, null);
    }

    /** Estimates tokens, rather too many than too few: four ASCII characters a token, and one for each other character. */
    private static int estimate(String content) {
        long ascii = content.chars().filter(c -> c < 128).count();
        return (int) ((ascii + 3) / 4 + (content.length() - ascii) + 4);
    }

    /** Encodes a message as the fields of an element. */
    static String encode(Row row) {
        // The codec comes first, since it refuses messages that cannot be stored.
        String whole = CODEC.encode(row);
        PlainMessage plain = PlainMessage.of(row.message());
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("role", RawJson.write(plain.role()));
        fields.put("content", RawJson.write(plain.content()));
        fields.put("files", plain.files());
        if (row.asked() != null || !plain.toMessage().equals(row.message())) {
            fields.put(EXTRA, RawJson.object(Map.of("message", whole)));
        }
        return RawJson.object(fields);
    }

    /**
     * Decodes a message from an element, or from a result of {@link #encode}. If a program that does not know this
     * library's field has changed role, content or files, the message is decoded from these.
     */
    static Row decode(String payload) {
        if (isBroken(payload)) {
            throw new UnreadableDataException("one of its fields is missing or has another type", null);
        }
        try {
            Map<String, String> fields = RawJson.fields(payload);
            String files = value(fields.get("files"));
            PlainMessage plain = new PlainMessage(
                    string(fields.get("role")),
                    string(fields.get("content")),
                    files == null ? PlainMessage.NO_FILES : files);
            String extra = value(fields.get(EXTRA));
            String whole = extra == null ? null : value(RawJson.fields(extra).get("message"));
            if (whole != null) {
                Row row = CODEC.decodeRow(whole);
                if (PlainMessage.of(row.message()).says(plain)) {
                    return row;
                }
            }
            return new Row(plain.toMessage(), null, null);
        } catch (JsonProcessingException e) {
            throw new UnreadableDataException("it is not JSON" + RawJson.place(e), null);
        } catch (IOException e) {
            throw new UnreadableDataException("it is not JSON", null);
        }
    }

    private static @Nullable String value(@Nullable String raw) {
        return raw == null || raw.equals("null") ? null : raw;
    }

    private static String string(@Nullable String raw) throws IOException {
        return value(raw) == null ? "" : RawJson.MAPPER.readValue(raw, String.class);
    }

    /** Writes the element of a new message, whose payload comes from {@link #encode}. */
    static String write(Entry entry, boolean parentIsKept) {
        Map<String, String> body = RawJson.fieldsOf(entry.payload());
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("message_id", RawJson.write(entry.id()));
        fields.put(PARENT, "null");
        fields.putAll(body);
        fields.put("token_count", Integer.toString(entry.tokens()));
        fields.put("created_at", RawJson.write(entry.createdAt().toString()));
        putExtra(fields, OUTCOME, NotesText.of(entry.outcome()));
        putExtra(fields, MADE, NotesText.of(entry.made()));
        putExtra(fields, REQUEST, entry.made().request());
        putExtra(fields, QUESTION, entry.question());
        return withParent(fields, entry.parentId(), parentIsKept);
    }

    /** Writes an element again with another outcome. */
    static String withOutcome(String raw, @Nullable Outcome outcome) {
        Map<String, String> fields = RawJson.fieldsOf(raw);
        putExtra(fields, OUTCOME, NotesText.of(outcome));
        return RawJson.object(fields);
    }

    /** Sets a text of our own field, or removes it. */
    private static void putExtra(Map<String, String> fields, String name, @Nullable String text) {
        String before = fields.remove(EXTRA);
        Map<String, String> extra = before == null ? new LinkedHashMap<>() : RawJson.fieldsOf(before);
        if (text == null) {
            extra.remove(name);
        } else {
            extra.put(name, RawJson.write(text));
        }
        if (!extra.isEmpty()) {
            fields.put(EXTRA, RawJson.object(extra));
        }
    }

    /**
     * Writes an element from its fields. If the parent is among the messages that a plain reader must not see, the
     * element looks like a root to such a reader, and this library's field names the parent.
     */
    static String withParent(Map<String, String> fields, @Nullable String parentId, boolean parentIsKept) {
        fields.put(PARENT, parentIsKept || parentId == null ? "null" : RawJson.write(parentId));
        putExtra(fields, "parent", parentIsKept ? parentId : null);
        return RawJson.object(fields);
    }
}
