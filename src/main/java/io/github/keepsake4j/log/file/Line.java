package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.Usage;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One line of a memory's file, which is one change. All places are in the file.
 *
 * @param revision the revision in force behind it
 * @param messages the messages that it appends
 * @param reference the named branch that it moves to the last message instead of the head, or null
 * @param referencePart where that name is
 * @param view the view that it sets, or null
 * @param head where it moves the head, 0 for nowhere, or null if it does not
 * @param branch where it moves the named branch without a message, or null if it does not
 * @param summary the summary that it puts, or null
 * @param version the summary's version
 * @param description where the title is that it sets, or null
 * @param outcome the outcome that it sets, or null
 * @param mend what it mends, or null
 */
record Line(
        long revision,
        List<Entry> messages,
        @Nullable String reference,
        @Nullable Part referencePart,
        @Nullable Anchored view,
        @Nullable Long head,
        @Nullable Long branch,
        @Nullable Anchored summary,
        long version,
        @Nullable Part description,
        @Nullable Anchored outcome,
        @Nullable Mend mend) {

    private static final String TEXT = "\"(?:[^\"\\\\]|\\\\.)*+\"";

    /** What comes before a message itself, as {@link Contents#message} writes it. */
    private static final Pattern PLACE = Pattern.compile("\\{\"seq\":\\d++,\"id\":" + TEXT + "(?:,\"parent\":" + TEXT
            + ")?(?:,\"(?:after|run|depth|path|system|user)\":\\d++)*+,\"at\":" + TEXT
            + ",\"tokens\":\\d++,\"counter\":" + TEXT);

    /** A message that is appended. */
    record Entry(Node node, String id, @Nullable String parentId, Instant createdAt, @Nullable Usage usage) {}

    /** Something at a message, and where it is. */
    record Anchored(long seq, Part part) {}

    /** What a repair drops, and the outcomes that it sets on messages that cannot be read. */
    record Mend(List<Long> views, List<String> references, List<Anchored> unreadable) {}

    /**
     * Reads a line.
     *
     * @param bytes holds the line, without its end
     * @param start where it begins in the array
     * @param end where it ends in the array
     * @param offset where it begins in the file
     */
    static Line read(UUID fileId, byte[] bytes, int start, int end, long offset) throws BadLineException {
        Fields line = Fields.of(bytes, start, end);
        List<Entry> messages = new ArrayList<>();
        for (Fields message : line.objects("messages")) {
            if (!message.has("message")) {
                throw new BadLineException("a message is missing");
            }
            messages.add(entry(fileId, message, message.part().movedBy(offset)));
        }
        Fields view = line.object("view");
        Fields head = line.object("head");
        Fields branch = line.object("branch");
        Fields summary = line.object("summary");
        Fields outcome = line.object("outcome");
        Fields mend = line.object("repair");
        if (view != null) {
            Contents.view(view);
        }
        if (summary != null) {
            Contents.summary(summary);
        }
        Fields description = line.object("description");
        if (description != null) {
            Contents.description(description);
        }
        Line read = new Line(
                line.number("revision"),
                messages,
                line.nullableText("reference"),
                line.has("reference") ? line.part("reference").movedBy(offset) : null,
                anchored(view, offset),
                head == null ? null : (Long) head.numberOr("seq", 0),
                branch == null ? null : (Long) branch.number("seq"),
                anchored(summary, offset),
                summary == null ? 0 : summary.number("version"),
                description == null ? null : description.part().movedBy(offset),
                anchored(outcome, offset),
                mend == null ? null : mend(mend, offset));
        if (messages.isEmpty()
                && view == null
                && head == null
                && branch == null
                && summary == null
                && description == null
                && outcome == null
                && mend == null
                // A newer version may know more kinds of changes.
                && line.size() < 2) {
            throw new BadLineException("it holds no change");
        }
        return read;
    }

    private static Mend mend(Fields json, long offset) throws BadLineException {
        List<Anchored> unreadable = new ArrayList<>();
        for (Fields outcome : json.objects("unreadable")) {
            unreadable.add(new Anchored(outcome.number("seq"), outcome.part().movedBy(offset)));
        }
        return new Mend(json.numbers("views"), json.texts("references"), unreadable);
    }

    /**
     * Returns the messages of a line that cannot be read, as far as their places can: what says the place comes before the
     * message itself. Within a text of JSON, what begins a place cannot occur.
     */
    static List<Entry> salvaged(UUID fileId, byte[] bytes, int start, int end, long offset) {
        List<Entry> messages = new ArrayList<>();
        Matcher place = PLACE.matcher(new String(bytes, start, end - start, StandardCharsets.ISO_8859_1));
        while (place.find()) {
            byte[] json = (place.group() + "}").getBytes(StandardCharsets.ISO_8859_1);
            Part part = new Part(offset + place.start(), place.end() - place.start());
            try {
                Entry entry = entry(fileId, Fields.of(json), part);
                messages.add(
                        new Entry(entry.node().inDamagedLine(), entry.id(), entry.parentId(), entry.createdAt(), null));
            } catch (BadLineException e) {
                // Its place cannot be read either.
            }
        }
        return messages;
    }

    /** Returns a line that only appends the given messages. */
    static Line of(List<Entry> messages) {
        return new Line(0, messages, null, null, null, null, null, null, 0, null, null, null);
    }

    private static @Nullable Anchored anchored(@Nullable Fields json, long offset) throws BadLineException {
        return json == null
                ? null
                : new Anchored(json.number("seq"), json.part().movedBy(offset));
    }

    private static Entry entry(UUID fileId, Fields json, Part part) throws BadLineException {
        String id = json.text("id");
        long seq = json.number("seq");
        json.text("counter");
        Node node = new Node(
                seq,
                part,
                false,
                hash(fileId, id),
                json.numberOr("after", 0),
                json.number("run"),
                json.number("depth"),
                json.number("path"),
                json.numberOr("system", 0),
                json.numberOr("user", 0),
                json.smallNumber("tokens"),
                0,
                0,
                0);
        return new Entry(node, id, json.nullableText("parent"), json.time("at"), Contents.usage(json));
    }

    /** Returns the hash of an id or a name. It is another one in each file, so that no one can choose ids that collide. */
    static long hash(UUID fileId, String id) {
        byte[] utf8 = id.getBytes(StandardCharsets.UTF_8);
        byte[] both = ByteBuffer.allocate(2 * Long.BYTES + utf8.length)
                .putLong(fileId.getMostSignificantBits())
                .putLong(fileId.getLeastSignificantBits())
                .put(utf8)
                .array();
        return ByteBuffer.wrap(Names.sha256(both)).getLong();
    }
}
