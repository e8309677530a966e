package io.github.keepsake4j.log.s3;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.MemoryTree;
import io.github.keepsake4j.log.MemoryTree.Entry;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One element of the document's {@code messages}.
 *
 * @param id the message's id
 * @param parentId the real parent's id, or null
 * @param role the role's name
 * @param tokens how many tokens, or null if nobody counted
 * @param estimate about how many tokens, for want of a count
 * @param createdAt when it was made, or 1970 if nobody wrote it down
 * @param raw the element as it is written
 */
record Element(
        String id,
        @Nullable String parentId,
        String role,
        @Nullable Integer tokens,
        int estimate,
        Instant createdAt,
        String raw) {

    /** Holds what a plain reader ignores, and is there only when there is something to say. */
    static final String EXTRA = "keepsake";

    private static final MessageCodec CODEC = new MessageCodec();

    /** A message as the fields of an element that say what it is; and back from these or from a whole element. */
    static final MemoryTree.Payloads PAYLOADS = new MemoryTree.Payloads(Element::encode, Element::decode);

    private static String encode(ChatMessage message) {
        // First of all: it refuses what cannot be stored.
        String whole = CODEC.encode(message);
        PlainMessage plain = PlainMessage.of(message);
        Map<String, String> fields = plainFields(plain);
        if (!isWhole(plain, message)) {
            fields.put(EXTRA, RawJson.object(Map.of("message", whole)));
        }
        return RawJson.object(fields);
    }

    /** The fields of an element that say what a message is. */
    static Map<String, String> plainFields(PlainMessage plain) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("role", RawJson.write(plain.role()));
        fields.put("content", RawJson.write(plain.content()));
        fields.put("files", plain.files());
        return fields;
    }

    private static boolean isWhole(PlainMessage plain, ChatMessage message) {
        try {
            return plain.toMessage().equals(message);
        } catch (UnreadableDataException e) {
            return false;
        }
    }

    /** Somebody who changed the role, the content or the files knew nothing of our field: then theirs count. */
    private static ChatMessage decode(String payload) {
        try {
            Map<String, String> fields = RawJson.fields(payload);
            String files = value(fields.get("files"));
            PlainMessage plain = new PlainMessage(
                    text(fields.get("role")),
                    text(fields.get("content")),
                    files == null ? PlainMessage.NO_FILES : files);
            String extra = value(fields.get(EXTRA));
            String whole = extra == null ? null : value(RawJson.fields(extra).get("message"));
            if (whole != null) {
                ChatMessage message = CODEC.decode(whole);
                if (PlainMessage.of(message).says(plain)) {
                    return message;
                }
            }
            return plain.toMessage();
        } catch (JsonProcessingException e) {
            throw new UnreadableDataException("it is no JSON" + RawJson.place(e), null);
        } catch (IOException e) {
            throw new UnreadableDataException("it is no JSON", null);
        }
    }

    /** The element of a new message, whose payload {@link #PAYLOADS} made. */
    static String render(Entry entry, boolean parentIsKept) {
        Map<String, String> body = RawJson.fieldsOf(entry.payload());
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("message_id", RawJson.write(entry.id()));
        fields.put("parent_message_id", "null");
        body.forEach((name, value) -> {
            if (!name.equals(EXTRA)) {
                fields.put(name, value);
            }
        });
        fields.put("token_count", Integer.toString(entry.tokens()));
        fields.put("created_at", RawJson.write(entry.createdAt().toString()));
        if (body.containsKey(EXTRA)) {
            fields.put(EXTRA, body.get(EXTRA));
        }
        return withParent(fields, entry.parentId(), parentIsKept);
    }

    /** The same element, shown as a root if its parent is among those that a plain reader does not get to see. */
    static String withParent(String raw, @Nullable String parentId, boolean parentIsKept) {
        return withParent(RawJson.fieldsOf(raw), parentId, parentIsKept);
    }

    private static String withParent(Map<String, String> fields, @Nullable String parentId, boolean parentIsKept) {
        String parent = parentId == null ? "null" : RawJson.write(parentId);
        fields.put("parent_message_id", parentIsKept ? "null" : parent);
        Map<String, String> extra =
                fields.containsKey(EXTRA) ? RawJson.fieldsOf(fields.get(EXTRA)) : new LinkedHashMap<>();
        extra.remove("parent");
        if (parentIsKept) {
            extra.put("parent", parent);
        }
        fields.remove(EXTRA);
        if (!extra.isEmpty()) {
            fields.put(EXTRA, RawJson.object(extra));
        }
        return RawJson.object(fields);
    }

    /**
     * Reads an element; the parser stands at its beginning, and afterwards at its end.
     *
     * @param what what to call it in an error until its id is known
     */
    static Element read(JsonParser in, String source, String what) throws IOException {
        int start = (int) in.currentTokenLocation().getCharOffset();
        if (in.currentToken() != JsonToken.START_OBJECT) {
            throw new UnreadableDataException(what + " is no object", null);
        }
        Fields fields = new Fields(what);
        while (in.nextToken() == JsonToken.FIELD_NAME) {
            String name = in.currentName();
            fields.read(name, in.nextToken(), in);
        }
        int end = (int) in.currentLocation().getCharOffset();
        return fields.element(source.substring(start, end));
    }

    /** What was read of an element so far. */
    private static final class Fields {
        private final String what;
        private @Nullable String id;
        private @Nullable String parent;
        private @Nullable String keptParent;
        private @Nullable String role;
        private String content = "";
        private @Nullable Integer tokens;
        private Instant createdAt = Instant.EPOCH;

        Fields(String what) {
            this.what = what;
        }

        void read(String name, JsonToken token, JsonParser in) throws IOException {
            switch (name) {
                case "message_id" -> id = string(name, token, in);
                case "parent_message_id" -> parent = string(name, token, in);
                case "role" -> role = string(name, token, in);
                case "content" -> {
                    String text = string(name, token, in);
                    content = text == null ? "" : text;
                }
                case "files" -> files(token, in);
                case "token_count" -> tokens = count(token, in);
                case "created_at" -> createdAt = time(token, in);
                case EXTRA -> extra(token, in);
                default -> in.skipChildren();
            }
        }

        private @Nullable String string(String name, JsonToken token, JsonParser in) throws IOException {
            if (token == JsonToken.VALUE_NULL) {
                return null;
            }
            if (token != JsonToken.VALUE_STRING) {
                throw wrong(name, "no string");
            }
            return in.getText();
        }

        private void files(JsonToken token, JsonParser in) throws IOException {
            if (token == JsonToken.VALUE_NULL) {
                return;
            }
            if (token != JsonToken.START_ARRAY) {
                throw wrong("files", "no array");
            }
            while (in.nextToken() != JsonToken.END_ARRAY) {
                if (in.currentToken() != JsonToken.START_OBJECT) {
                    throw wrong("files", "no array of objects");
                }
                in.skipChildren();
            }
        }

        private @Nullable Integer count(JsonToken token, JsonParser in) throws IOException {
            if (token == JsonToken.VALUE_NULL) {
                return null;
            }
            if (token != JsonToken.VALUE_NUMBER_INT || in.getTextLength() > 10) {
                throw wrong("token_count", "no whole number");
            }
            long count = in.getLongValue();
            if (count < 0 || count > Integer.MAX_VALUE) {
                throw wrong("token_count", "out of range");
            }
            return (int) count;
        }

        private Instant time(JsonToken token, JsonParser in) throws IOException {
            try {
                return switch (token) {
                    case VALUE_NULL -> Instant.EPOCH;
                    case VALUE_STRING -> parsed(in.getText());
                    case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> seconds(in);
                    default -> throw wrong("created_at", "no time");
                };
            } catch (DateTimeException | ArithmeticException e) {
                throw wrong("created_at", "no time");
            }
        }

        /** What is no time of ISO 8601 is no time; without a zone it is taken for UTC. */
        private static Instant parsed(String text) {
            Instant time;
            if (text.endsWith("Z")) {
                time = Instant.parse(text);
            } else if (text.indexOf('T') > 0 && text.lastIndexOf('-') < text.indexOf('T') && text.indexOf('+') < 0) {
                time = LocalDateTime.parse(text).toInstant(ZoneOffset.UTC);
            } else {
                time = OffsetDateTime.parse(text).toInstant();
            }
            return time.truncatedTo(ChronoUnit.MICROS);
        }

        /** Seconds since 1970; what would lie thousands of years away counts something else. */
        private Instant seconds(JsonParser in) throws IOException {
            double seconds = in.getTextLength() > 30 ? Double.NaN : in.getDoubleValue();
            if (!(Math.abs(seconds) < 1e11)) {
                throw wrong("created_at", "no time");
            }
            return Instant.EPOCH.plus(Math.round(seconds * 1e6), ChronoUnit.MICROS);
        }

        private void extra(JsonToken token, JsonParser in) throws IOException {
            if (token != JsonToken.START_OBJECT) {
                throw wrong(EXTRA, "no object");
            }
            while (in.nextToken() == JsonToken.FIELD_NAME) {
                if (in.currentName().equals("parent")) {
                    keptParent = string("parent", in.nextToken(), in);
                } else {
                    in.nextToken();
                    in.skipChildren();
                }
            }
        }

        Element element(String raw) {
            if (id == null || id.isEmpty()) {
                throw wrong("message_id", "missing");
            }
            if (role == null) {
                throw wrong("role", "missing");
            }
            String of = parent == null ? keptParent : parent;
            return new Element(
                    id, of == null || of.isEmpty() ? null : of, role, tokens, estimate(content), createdAt, raw);
        }

        private UnreadableDataException wrong(String field, String problem) {
            return new UnreadableDataException(
                    (id == null ? what : "message " + id) + " cannot be read: its " + field + " is " + problem, null);
        }
    }

    /** Rather too much than too little: four letters a token, and one for each other character. */
    static int estimate(String content) {
        long ascii = content.chars().filter(c -> c < 128).count();
        return (int) ((ascii + 3) / 4 + (content.length() - ascii) + 4);
    }

    private static @Nullable String value(@Nullable String raw) {
        return raw == null || raw.equals("null") ? null : raw;
    }

    private static String text(@Nullable String raw) throws IOException {
        return value(raw) == null ? "" : RawJson.MAPPER.readValue(raw, String.class);
    }
}
