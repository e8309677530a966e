package io.github.keepsake4j.log.file;

import io.github.keepsake4j.backend.RecordJson;
import io.github.keepsake4j.backend.TreeStep;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.message.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One line of a memory's file, which is one change.
 *
 * @param revision the revision in force after it
 * @param steps the change; none for a kind of a later version
 * @param description the place of the title that it sets in the file, or null
 * @param totals the totals after it, or null if an older version wrote it
 */
record Line(long revision, List<TreeStep> steps, @Nullable Part description, @Nullable Totals totals) {

    private static final String TEXT = "\"(?:[^\"\\\\]|\\\\.)*+\"";

    /** The text before a message itself, as {@link Contents#message} writes it. */
    private static final Pattern PLACE = Pattern.compile("\\{\"seq\":\\d++,\"id\":" + TEXT + "(?:,\"parent\":" + TEXT
            + ")?(?:,\"(?:after|run|depth|path|system|user)\":\\d++)*+,\"at\":" + TEXT
            + ",\"tokens\":\\d++,\"counter\":" + TEXT);

    private static final Pattern REFERENCE = Pattern.compile("\"reference\":(" + TEXT + ")");

    /** Writes a change, without the totals and the end of the line. */
    static String write(long revision, List<TreeStep> steps) {
        JsonObject line = new JsonObject().with("revision", revision);
        steps.forEach(step -> write(line, step));
        String json = PlainJson.write(line);
        return json.substring(0, json.length() - 1);
    }

    private static void write(JsonObject line, TreeStep step) {
        if (step instanceof TreeStep.Appended appended) {
            if (!appended.messages().isEmpty()) {
                line.with(
                                "messages",
                                appended.messages().stream()
                                        .map(Contents::message)
                                        .toList())
                        .withPresent("reference", appended.reference());
            }
            line.withPresent("view", appended.view() == null ? null : Contents.view(appended.view()));
        } else if (step instanceof TreeStep.HeadMoved moved) {
            line.with("head", place(moved.sequence(), moved.id()));
        } else if (step instanceof TreeStep.BranchMoved moved) {
            line.with("branch", place(moved.sequence(), moved.id())).withPresent("reference", moved.name());
        } else if (step instanceof TreeStep.Ended ended) {
            line.withPresent("outcome", RecordJson.put(place(ended.sequence(), ended.id()), ended.outcome()));
        } else if (step instanceof TreeStep.Described described) {
            line.withPresent("description", Contents.description(described));
        } else if (step instanceof TreeStep.Summarized put) {
            line.withPresent("summary", Contents.summary(put));
        } else if (step instanceof TreeStep.Repaired repaired) {
            line.with("repair", repair(repaired));
        }
    }

    private static JsonObject place(long sequence, @Nullable String id) {
        return new JsonObject().withPresent("id", id).withAny("seq", sequence);
    }

    private static JsonObject repair(TreeStep.Repaired repaired) {
        return new JsonObject()
                .with("views", repaired.views())
                .with("references", repaired.references())
                .withAny("summaries", repaired.summaries())
                .with(
                        "unreadable",
                        repaired.unreadable().stream()
                                .map(seq -> RecordJson.put(place(seq, null), Outcome.UNREADABLE))
                                .toList());
    }

    /**
     * Reads a line.
     *
     * @param bytes holds the line, without its end
     * @param start where it begins in the array
     * @param end where it ends in the array
     * @param offset where it begins in the file
     * @throws BadLineException if it cannot be read
     */
    static Line read(byte[] bytes, int start, int end, long offset) {
        return Contents.checked(() -> read(Contents.fields(bytes, start, end), offset));
    }

    private static Line read(JsonFields line, long offset) {
        List<TreeStep> steps = new ArrayList<>();
        List<TreeStep.Added> messages = new ArrayList<>();
        for (JsonFields message : line.objects("messages")) {
            message.neededObject("message");
            messages.add(Contents.added(message, Contents.part(message, offset)));
        }
        JsonFields view = line.object("view");
        if (!messages.isEmpty() || view != null) {
            steps.add(
                    new TreeStep.Appended(messages, line.text("reference"), view == null ? null : Contents.view(view)));
        }
        add(steps, line.object("head"), head -> new TreeStep.HeadMoved(head.text("id"), head.numberOr("seq", 0)));
        add(
                steps,
                line.object("branch"),
                branch -> new TreeStep.BranchMoved(
                        line.neededText("reference"), branch.text("id"), branch.neededNumber("seq")));
        JsonFields description = line.object("description");
        add(steps, description, Contents::description);
        add(steps, line.object("summary"), Contents::summary);
        add(
                steps,
                line.object("outcome"),
                outcome -> new TreeStep.Ended(
                        outcome.text("id"), outcome.neededNumber("seq"), RecordJson.outcome(outcome)));
        add(steps, line.object("repair"), Line::repaired);
        // A newer version may know more kinds of changes.
        JsonFields totals = line.object("totals");
        if (steps.isEmpty() && line.values().size() < (totals == null ? 2 : 3)) {
            throw new BadLineException("it has no change");
        }
        return new Line(
                line.neededNumber("revision"),
                steps,
                description == null ? null : Contents.part(description, offset),
                totals == null ? null : Totals.read(totals));
    }

    private static void add(List<TreeStep> steps, @Nullable JsonFields json, Function<JsonFields, TreeStep> step) {
        if (json != null) {
            steps.add(step.apply(json));
        }
    }

    private static TreeStep repaired(JsonFields json) {
        return new TreeStep.Repaired(
                json.numbers("views"),
                json.texts("references"),
                json.numbers("summaries"),
                json.objects("unreadable").stream()
                        .map(outcome -> outcome.neededNumber("seq"))
                        .toList());
    }

    /**
     * Returns the messages of a line that cannot be read, as far as their places can be read. The place comes before
     * the message itself. The beginning of a place cannot occur within a text of JSON.
     */
    static TreeStep.Appended salvaged(byte[] bytes, int start, int end, long offset) {
        List<TreeStep.Added> messages = new ArrayList<>();
        String raw = new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
        Matcher place = PLACE.matcher(raw);
        while (place.find()) {
            byte[] json = (place.group() + "}").getBytes(StandardCharsets.ISO_8859_1);
            try {
                // Its part is not JSON, so that it cannot be read.
                Part part = new Part(offset + place.start(), place.end() - place.start());
                TreeStep.Added added = Contents.checked(() -> Contents.added(Contents.fields(json), part));
                messages.add(new TreeStep.Added(added.entry(), added.inherited(), null));
            } catch (BadLineException e) {
                // Its place cannot be read either.
            }
        }
        Matcher reference = REFERENCE.matcher(raw);
        byte[] name = reference.find() ? reference.group(1).getBytes(StandardCharsets.ISO_8859_1) : null;
        return new TreeStep.Appended(
                messages,
                name == null ? null : Contents.CODEC.decodeText(new String(name, StandardCharsets.UTF_8)),
                null);
    }

    /** Returns the damage for a message of which only the place can be read. */
    static Damage damage(TreeStep.Added salvaged) {
        return new Damage(
                Damage.Kind.MESSAGE,
                salvaged.entry().sequence(),
                salvaged.entry().id(),
                "the message cannot be read");
    }
}
