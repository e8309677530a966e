package io.github.keepsake4j.log.file;

import io.github.keepsake4j.backend.TreeStep;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.log.MemoryInfo;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The entry of a memory in a list. Each line ends with it, so that a list needs only the end of a file.
 *
 * @param messages the number of messages of the memory
 * @param tokens their tokens
 * @param first the time of the first message if it is earlier than the memory's creation, or null
 * @param last the latest time of a message, or null if there is none
 * @param description the place of title and metadata, or null if they were never set
 */
record Totals(long messages, long tokens, @Nullable Instant first, @Nullable Instant last, @Nullable Part description) {

    static final Totals NONE = new Totals(0, 0, null, null, null);

    /** The totals of a line and its end. They are shorter. */
    private static final int LONGEST = 512;

    private static final Pattern AT_END = Pattern.compile("\"totals\":(\\{[^{}]*+})}\n[^\n]*+\\z");

    /** Returns the totals behind a line. */
    Totals after(List<TreeStep> steps, @Nullable Part newDescription, Instant createdAt) {
        Totals totals = newDescription == null ? this : new Totals(messages, tokens, first, last, newDescription);
        for (TreeStep step : steps) {
            if (step instanceof TreeStep.Appended appended) {
                for (TreeStep.Added added : appended.messages()) {
                    totals = totals.after(added, createdAt);
                }
            }
        }
        return totals;
    }

    private Totals after(TreeStep.Added added, Instant createdAt) {
        Instant at = added.entry().createdAt();
        return new Totals(
                added.entry().sequence(),
                tokens + added.entry().tokens(),
                messages == 0 && at.isBefore(createdAt) ? at : first,
                last != null && last.isAfter(at) ? last : at,
                description);
    }

    JsonObject json() {
        return new JsonObject()
                .with("messages", messages)
                .with("tokens", tokens)
                .withPresent(
                        "description",
                        description == null ? null : List.of(description.offset(), (long) description.length()))
                .withPresent("first", first == null ? null : first.toString())
                .withPresent("last", last == null ? null : last.toString());
    }

    static Totals read(JsonFields json) {
        List<Long> place = json.numbers("description");
        return new Totals(
                json.neededNumber("messages"),
                json.neededNumber("tokens"),
                json.has("first") ? json.neededTime("first") : null,
                json.has("last") ? json.neededTime("last") : null,
                place.size() < 2 ? null : new Part(place.get(0), place.get(1).intValue()));
    }

    /** Returns the entry for a list. */
    MemoryInfo info(Header header, Disk data) throws IOException {
        TreeStep.Described described = description == null
                ? new TreeStep.Described(null, Map.of())
                : Contents.description(Contents.fields(data.read(description.offset(), description.length())));
        return new MemoryInfo(
                header.key(),
                described.title(),
                described.metadata(),
                messages,
                tokens,
                first == null ? header.createdAt() : first,
                last,
                header.createdAt());
    }

    /** Returns the totals of the last whole line of a file, or null if it has none. */
    static @Nullable Totals last(Disk data) throws IOException {
        byte[] end = new byte[(int) Math.min(LONGEST, data.length())];
        int length = data.read(data.length() - end.length, end);
        Matcher totals = AT_END.matcher(new String(end, 0, Math.max(0, length), StandardCharsets.ISO_8859_1));
        try {
            return totals.find() ? read(Contents.fields(totals.group(1).getBytes(StandardCharsets.ISO_8859_1))) : null;
        } catch (BadLineException e) {
            return null;
        }
    }
}
