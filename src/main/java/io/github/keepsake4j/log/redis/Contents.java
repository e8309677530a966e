package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.backend.AppendRules;
import io.github.keepsake4j.backend.NotesText;
import io.github.keepsake4j.backend.RecordJson;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.MessageCodec.Row;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Converts records to the stored texts and back. Fields of newer versions are ignored. */
final class Contents {

    /** A number of a summary as a text, as earlier builds wrote it. In a text of JSON, quotation marks are escaped. */
    private static final Pattern TEXT_NUMBER =
            Pattern.compile("(\"(?:tokens|replacedMessages|replacedTokens)\":)\"(\\d+)\"");

    private Contents() {}

    /** A line about the message, and the message. JSON has no line breaks of its own. */
    static String message(NewMessage message, Instant now) {
        Map<String, String> line = new LinkedHashMap<>();
        line.put("at", time(message, now).toString());
        line.put("counter", message.tokenCounter());
        if (message.question() != null) {
            line.put("question", message.question());
        }
        return Text.CODEC.encodeStrings(line) + "\n"
                + Text.CODEC.encode(new Row(message.message(), null, message.asked()));
    }

    /** Reads a message as the script answers it. */
    static LoggedMessage message(MemoryKey key, Reply row) {
        String id = row.text(1);
        return message(key, row.number(0), id, row.nullableText(2), row.number(3), row.text(4), row.nullableText(5));
    }

    static LoggedMessage message(
            MemoryKey key,
            long seq,
            String id,
            @Nullable String parentId,
            long tokens,
            String text,
            @Nullable String outcome) {
        try {
            Outcome ended = NotesText.outcome(outcome);
            if (Outcome.UNREADABLE.equals(ended)) {
                return AppendRules.marker(id, parentId, seq, tokens);
            }
            int end = text.indexOf('\n');
            if (end < 0 || tokens > Integer.MAX_VALUE) {
                throw new UnreadableDataException("it is not a message", null);
            }
            Map<String, String> line = Text.CODEC.decodeStrings(text.substring(0, end));
            Row row = Text.CODEC.decodeRow(text.substring(end + 1));
            return new LoggedMessage(
                    id,
                    parentId,
                    seq,
                    row.message(),
                    (int) tokens,
                    needed(line, "counter"),
                    time(needed(line, "at")),
                    ended,
                    line.get("question"),
                    row.asked());
        } catch (UnreadableDataException e) {
            throw AppendRules.unreadable(key, id, e);
        }
    }

    /** Reads how a message was made, which the script returns behind the message; null if nothing is known. */
    static @Nullable Made made(MemoryKey key, Reply row) {
        try {
            return NotesText.made(row.nullableText(8))
                    .withRequest(row.nullableText(9))
                    .ifKnown()
                    .orElse(null);
        } catch (UnreadableDataException e) {
            throw AppendRules.unreadable(key, row.text(1), e);
        }
    }

    /** Reads the time in the first line of a message. */
    static Instant time(MemoryKey key, String id, String line, @Nullable String outcome) {
        try {
            return Outcome.UNREADABLE.equals(NotesText.outcome(outcome))
                    ? Instant.EPOCH
                    : time(needed(Text.CODEC.decodeStrings(line), "at"));
        } catch (UnreadableDataException e) {
            throw AppendRules.unreadable(key, id, e);
        }
    }

    /** Reads the entry of an existing memory in a list, as the script returns it. */
    static MemoryInfo info(MemoryKey key, Reply reply) {
        Instant stored = time(reply.text(2));
        Instant first = reply.nullableText(5) == null ? stored : time(reply.text(5));
        Reply title = reply.list(8);
        String metadata = reply.nullableText(7);
        return new MemoryInfo(
                key,
                title.size() == 0 ? null : title.text(0),
                metadata == null ? Map.of() : metadata(key, metadata),
                reply.number(3),
                reply.number(4),
                first.isBefore(stored) ? first : stored,
                reply.nullableText(6) == null ? null : time(reply.text(6)),
                stored);
    }

    static Map<String, String> metadata(MemoryKey key, String text) {
        try {
            return Map.copyOf(Text.CODEC.decodeStrings(text));
        } catch (UnreadableDataException e) {
            throw new UnreadableDataException("Memory " + key + ": its metadata cannot be read", e);
        }
    }

    /** Reads a view, whose text begins with the earlier head. */
    static View view(MemoryKey key, long seq, String anchor, String text) {
        int end = text.indexOf('\0');
        String head = end <= 0 ? null : text.substring(0, end);
        return RecordJson.view(key, text.substring(end + 1), anchor, seq).resolved(head);
    }

    static String summary(Summary summary) {
        return PlainJson.write(RecordJson.put(new JsonObject(), summary));
    }

    static Summary summary(MemoryKey key, long version, String text) {
        try {
            String json = TEXT_NUMBER.matcher(text).replaceAll("$1$2");
            return RecordJson.summary(JsonFields.read("summary", json)).withVersion(version);
        } catch (InvalidInputException e) {
            throw new UnreadableDataException(
                    "Memory " + key + ": version " + version + " of its summary cannot be read. Its bytes are kept", e);
        }
    }

    /** Returns the time of a message that is appended now. */
    static Instant time(NewMessage message, Instant now) {
        return message.createdAt() == null ? now : message.createdAt();
    }

    static Instant time(String text) {
        try {
            return Instant.parse(text);
        } catch (RuntimeException e) {
            throw new UnreadableDataException("its time cannot be read", e);
        }
    }

    private static String needed(Map<String, String> fields, String name) {
        String value = fields.get(name);
        if (value == null) {
            throw new UnreadableDataException("its field " + name + " is missing", null);
        }
        return value;
    }
}
