package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.Step;
import io.github.keepsake4j.message.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One line of a memory's file, which is one change.
 *
 * @param revision the revision in force behind it
 * @param steps the change; none for a kind of a later version
 * @param description where the title is in the file that it sets, or null
 * @param totals the totals behind it, or null if an older version wrote it
 */
record Line(long revision, List<Step> steps, @Nullable Part description, @Nullable Totals totals) {

    private static final String TEXT = "\"(?:[^\"\\\\]|\\\\.)*+\"";

    /** What comes before a message itself, as {@link Contents#message} writes it. */
    private static final Pattern PLACE = Pattern.compile("\\{\"seq\":\\d++,\"id\":" + TEXT + "(?:,\"parent\":" + TEXT
            + ")?(?:,\"(?:after|run|depth|path|system|user)\":\\d++)*+,\"at\":" + TEXT
            + ",\"tokens\":\\d++,\"counter\":" + TEXT);

    private static final Pattern REFERENCE = Pattern.compile("\"reference\":(" + TEXT + ")");

    /** Writes a change, without the totals and the end of the line. */
    static String write(long revision, List<Step> steps) {
        JsonText line = new JsonText().number("revision", revision);
        steps.forEach(step -> write(line, step));
        String json = line.end();
        return json.substring(0, json.length() - 1);
    }

    private static void write(JsonText line, Step step) {
        if (step instanceof Step.Appended appended) {
            if (!appended.messages().isEmpty()) {
                line.objects(
                                "messages",
                                appended.messages().stream()
                                        .map(Contents::message)
                                        .toList())
                        .text("reference", appended.reference());
            }
            if (appended.view() != null) {
                line.raw("view", Contents.view(appended.view()));
            }
        } else if (step instanceof Step.HeadMoved moved) {
            line.raw("head", place(moved.sequence(), moved.id()));
        } else if (step instanceof Step.BranchMoved moved) {
            line.raw("branch", place(moved.sequence(), moved.id())).text("reference", moved.name());
        } else if (step instanceof Step.Ended ended) {
            JsonText set = new JsonText().text("id", ended.id()).number("seq", ended.sequence());
            line.raw("outcome", Contents.outcome(set, ended.outcome()));
        } else if (step instanceof Step.Described described) {
            line.raw("description", Contents.description(described.title(), described.metadata()));
        } else if (step instanceof Step.Summarized put) {
            line.raw("summary", Contents.summary(put.summary(), put.sequence()));
        } else if (step instanceof Step.Repaired repaired) {
            line.raw("repair", repair(repaired));
        }
    }

    private static String place(long sequence, @Nullable String id) {
        return new JsonText().text("id", id).numberIfAny("seq", sequence).end();
    }

    private static String repair(Step.Repaired repaired) {
        JsonText json = new JsonText().numbers("views", repaired.views()).texts("references", repaired.references());
        if (!repaired.summaries().isEmpty()) {
            json.numbers("summaries", repaired.summaries());
        }
        return json.objects(
                        "unreadable",
                        repaired.unreadable().stream()
                                .map(seq -> Contents.outcome(new JsonText().number("seq", seq), Outcome.UNREADABLE))
                                .toList())
                .end();
    }

    /**
     * Reads a line.
     *
     * @param bytes holds the line, without its end
     * @param start where it begins in the array
     * @param end where it ends in the array
     * @param offset where it begins in the file
     */
    static Line read(byte[] bytes, int start, int end, long offset) throws BadLineException {
        Fields line = Fields.of(bytes, start, end);
        List<Step> steps = new ArrayList<>();
        List<Step.Added> messages = new ArrayList<>();
        for (Fields message : line.objects("messages")) {
            if (!message.has("message")) {
                throw new BadLineException("a message is missing");
            }
            messages.add(Contents.added(message, message.part().movedBy(offset)));
        }
        Fields view = line.object("view");
        String reference = line.nullableText("reference");
        if (!messages.isEmpty() || view != null) {
            steps.add(new Step.Appended(messages, reference, view == null ? null : Contents.view(view)));
        }
        Fields head = line.object("head");
        if (head != null) {
            steps.add(new Step.HeadMoved(head.nullableText("id"), head.numberOr("seq", 0)));
        }
        Fields branch = line.object("branch");
        if (branch != null) {
            steps.add(new Step.BranchMoved(line.text("reference"), branch.nullableText("id"), branch.number("seq")));
        }
        Fields description = line.object("description");
        if (description != null) {
            steps.add(Contents.description(description));
        }
        Fields summary = line.object("summary");
        if (summary != null) {
            steps.add(new Step.Summarized(Contents.summary(summary), summary.number("seq")));
        }
        Fields outcome = line.object("outcome");
        if (outcome != null) {
            steps.add(new Step.Ended(outcome.nullableText("id"), outcome.number("seq"), Contents.outcome(outcome)));
        }
        Fields repair = line.object("repair");
        if (repair != null) {
            steps.add(repaired(repair));
        }
        // A newer version may know more kinds of changes.
        Fields totals = line.object("totals");
        if (steps.isEmpty() && line.size() < (totals == null ? 2 : 3)) {
            throw new BadLineException("it holds no change");
        }
        return new Line(
                line.number("revision"),
                steps,
                description == null ? null : description.part().movedBy(offset),
                totals == null ? null : Totals.read(totals));
    }

    private static Step repaired(Fields json) throws BadLineException {
        List<Long> unreadable = new ArrayList<>();
        for (Fields outcome : json.objects("unreadable")) {
            unreadable.add(outcome.number("seq"));
        }
        return new Step.Repaired(
                json.numbers("views"), json.texts("references"), json.numbers("summaries"), unreadable);
    }

    /**
     * Returns the messages of a line that cannot be read, as far as their places can: what says the place comes before the
     * message itself. Within a text of JSON, what begins a place cannot occur.
     */
    static Step.Appended salvaged(byte[] bytes, int start, int end, long offset) {
        List<Step.Added> messages = new ArrayList<>();
        String raw = new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
        Matcher place = PLACE.matcher(raw);
        while (place.find()) {
            byte[] json = (place.group() + "}").getBytes(StandardCharsets.ISO_8859_1);
            try {
                // Its part is no JSON, so that it cannot be read.
                Part part = new Part(offset + place.start(), place.end() - place.start());
                Step.Added added = Contents.added(Fields.of(json), part);
                messages.add(new Step.Added(added.entry(), added.inherited(), null));
            } catch (BadLineException e) {
                // Its place cannot be read either.
            }
        }
        Matcher reference = REFERENCE.matcher(raw);
        byte[] name = reference.find() ? reference.group(1).getBytes(StandardCharsets.ISO_8859_1) : null;
        return new Step.Appended(
                messages,
                name == null ? null : Contents.CODEC.decodeText(new String(name, StandardCharsets.UTF_8)),
                null);
    }

    /** Returns the damage that a message is of which only the place can be read. */
    static Damage damage(Step.Added salvaged) {
        return new Damage(
                Damage.Kind.MESSAGE,
                salvaged.entry().sequence(),
                salvaged.entry().id(),
                "the message cannot be read");
    }
}
