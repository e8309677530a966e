package io.github.keepsake4j.log.file;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryTree.Entry;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Step;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What lines hold, between JSON and records. */
final class Contents {

    static final MessageCodec CODEC = new MessageCodec();

    private Contents() {}

    /** Writes a message. Its place comes first, so that it can be read where the message itself cannot. */
    static String message(Step.Added added) {
        Entry entry = added.entry();
        Step.Inherited inherited = added.inherited();
        JsonText json = new JsonText()
                .number("seq", entry.sequence())
                .text("id", entry.id())
                .text("parent", entry.parentId())
                .numberIfAny("after", inherited.parent())
                .number("run", inherited.run())
                .number("depth", inherited.depth())
                .number("path", inherited.path())
                .numberIfAny("system", inherited.system())
                .numberIfAny("user", inherited.user())
                .text("at", entry.createdAt().toString())
                .number("tokens", entry.tokens())
                .text("counter", entry.tokenCounter())
                .text("question", entry.question());
        if (entry.outcome() != null) {
            json.raw("outcome", outcome(new JsonText(), entry.outcome()));
        }
        Made made = entry.made();
        if (made.seen() != null) {
            json.raw("seen", seen(made.seen()));
        }
        if (made.usage() != null) {
            Usage usage = made.usage();
            json.raw(
                    "usage",
                    new JsonText()
                            .number("input", usage.input())
                            .number("output", usage.output())
                            .number("cached", usage.cached())
                            .end());
        }
        return json.raw("message", entry.payload())
                .text("model", made.modelName())
                .text("finish", made.finishReason())
                .text("request", made.request())
                .end();
    }

    /** Reads a message but for what it says. */
    static Step.Added added(Fields json, Part part) throws BadLineException {
        long seq = json.number("seq");
        Step.Inherited inherited = new Step.Inherited(
                json.numberOr("after", 0),
                json.number("run"),
                json.number("depth"),
                json.number("path"),
                json.numberOr("system", 0),
                json.numberOr("user", 0));
        ChatMessageType type = inherited.system() == seq
                ? ChatMessageType.SYSTEM
                : inherited.user() == seq ? ChatMessageType.USER : ChatMessageType.AI;
        Entry entry = new Entry(
                json.text("id"),
                json.nullableText("parent"),
                seq,
                part,
                type,
                json.smallNumber("tokens"),
                json.text("counter"),
                json.time("at"),
                outcome(json.object("outcome")),
                json.nullableText("question"));
        return new Step.Added(entry, inherited, usage(json));
    }

    /** Adds an outcome's fields; none of them for a removed outcome. */
    static String outcome(JsonText json, @Nullable Outcome outcome) {
        return outcome == null
                ? json.end()
                : json.text("kind", outcome.kind().name())
                        .text("reason", outcome.reason())
                        .end();
    }

    static @Nullable Outcome outcome(@Nullable Fields json) throws BadLineException {
        if (json == null || !json.has("kind")) {
            return null;
        }
        try {
            Outcome.Kind kind = Outcome.Kind.named(json.text("kind")).orElse(null);
            return kind == null ? null : new Outcome(kind, json.nullableText("reason"));
        } catch (InvalidInputException e) {
            throw new BadLineException("its outcome has no valid reason");
        }
    }

    private static String seen(Seen seen) {
        List<Long> shown = new ArrayList<>();
        seen.shown().forEach(range -> {
            shown.add(range.first());
            shown.add(range.last());
        });
        JsonText json = new JsonText().numbers("shown", shown);
        if (!seen.shortened().isEmpty()) {
            json.numbers("shortened", seen.shortened());
        }
        json.numberIfAny("summary", seen.summary());
        if (!seen.memories().isEmpty()) {
            json.texts("memories", seen.memories());
        }
        return seen.altered() ? json.raw("altered", "true").end() : json.end();
    }

    /** Reads what is kept beside an answer. */
    static Made made(Fields message) throws BadLineException {
        Fields json = message.object("seen");
        return new Made(
                json == null ? null : seen(json),
                usage(message),
                message.nullableText("model"),
                message.nullableText("finish"),
                message.nullableText("request"));
    }

    private static Seen seen(Fields json) throws BadLineException {
        List<Long> shown = json.numbers("shown");
        List<Seen.Range> ranges = new ArrayList<>();
        try {
            for (int i = 0; i < shown.size(); i += 2) {
                ranges.add(new Seen.Range(shown.get(i), shown.get(i + 1)));
            }
            return new Seen(
                    ranges,
                    json.numbers("shortened"),
                    json.numberOr("summary", 0),
                    json.isTrue("altered"),
                    json.texts("memories"));
        } catch (InvalidInputException | IndexOutOfBoundsException e) {
            throw new BadLineException("what it was made from is out of range");
        }
    }

    private static @Nullable Usage usage(Fields message) throws BadLineException {
        Fields json = message.object("usage");
        return json == null ? null : new Usage(json.number("input"), json.number("output"), json.number("cached"));
    }

    static String view(View view) {
        return new JsonText()
                .text("anchor", view.anchor())
                .number("seq", view.anchorSequence())
                .objects(
                        "runs",
                        view.runs().stream()
                                .map(run -> new JsonText()
                                        .text("after", run.after())
                                        .text("last", run.last())
                                        .end())
                                .toList())
                .text("summary", view.summary())
                .end();
    }

    static View view(Fields json) throws BadLineException {
        List<View.Run> runs = new ArrayList<>();
        for (Fields run : json.objects("runs")) {
            runs.add(new View.Run(run.nullableText("after"), run.text("last")));
        }
        // Where a stored view names the head, there was none: the memory was empty.
        return new View(json.text("anchor"), json.number("seq"), runs, json.nullableText("summary")).resolved(null);
    }

    static String summary(Summary summary, long seq) {
        return new JsonText()
                .number("version", summary.version())
                .text("covers", summary.coversUpTo())
                .number("seq", seq)
                .text("text", summary.text())
                .number("tokens", summary.tokens())
                .text("counter", summary.tokenCounter())
                .number("replacedMessages", summary.replacedMessages())
                .number("replacedTokens", summary.replacedTokens())
                .text("model", summary.model())
                .text("at", summary.createdAt().toString())
                .end();
    }

    static Summary summary(Fields json) throws BadLineException {
        try {
            return new Summary(
                    json.text("covers"),
                    json.text("text"),
                    json.smallNumber("tokens"),
                    json.text("counter"),
                    json.number("replacedMessages"),
                    json.number("replacedTokens"),
                    json.nullableText("model"),
                    json.time("at"),
                    json.number("version"));
        } catch (InvalidInputException e) {
            throw new BadLineException("its summary is out of range");
        }
    }

    static String description(@Nullable String title, Map<String, String> metadata) {
        return new JsonText()
                .text("title", title)
                .raw("metadata", CODEC.encodeStrings(metadata))
                .end();
    }

    static Step.Described description(Fields json) throws BadLineException {
        try {
            return new Step.Described(json.nullableText("title"), CODEC.decodeStrings(json.raw("metadata")));
        } catch (UnreadableDataException e) {
            throw new BadLineException("its metadata are no texts");
        }
    }
}
