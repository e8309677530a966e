package io.github.keepsake4j.log.file;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.AppendRules;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What lines hold, between JSON and records. */
final class Contents {

    static final MessageCodec CODEC = new MessageCodec();

    /** A title with its metadata. */
    record Description(@Nullable String title, Map<String, String> metadata) {
        static final Description NONE = new Description(null, Map.of());
    }

    private Contents() {}

    /** Writes a message. Its own fields come first, so that a prefix tells which one it is. */
    static String message(NewMessage message, Node node, @Nullable String parentId, String text, Instant now) {
        Instant made = message.createdAt();
        JsonText json = new JsonText()
                .number("seq", node.seq())
                .text("id", message.id())
                .text("parent", parentId)
                .numberIfAny("after", node.parent())
                .number("run", node.run())
                .number("depth", node.depth())
                .number("path", node.path())
                .numberIfAny("system", node.system())
                .numberIfAny("user", node.user())
                .text("at", (made == null ? now : made).toString())
                .number("tokens", message.tokens())
                .text("counter", message.tokenCounter())
                .text("question", message.question());
        if (message.outcome() != null) {
            json.raw("outcome", outcome(new JsonText(), message.outcome()));
        }
        Made how = message.made();
        if (how.seen() != null) {
            json.raw("seen", seen(how.seen()));
        }
        if (how.usage() != null) {
            Usage usage = how.usage();
            json.raw(
                    "usage",
                    new JsonText()
                            .number("input", usage.input())
                            .number("output", usage.output())
                            .number("cached", usage.cached())
                            .end());
        }
        json.raw("message", text);
        return json.text("model", how.modelName())
                .text("finish", how.finishReason())
                .text("request", how.request())
                .end();
    }

    /** Reads a message. Another one than the index says is no message of this file's. */
    static LoggedMessage message(MemoryKey key, Node node, Fields json, @Nullable Fields outcome)
            throws BadLineException {
        if (json.number("seq") != node.seq()) {
            throw new BadLineException("it is another message");
        }
        String id = json.text("id");
        try {
            return new LoggedMessage(
                    id,
                    json.nullableText("parent"),
                    node.seq(),
                    CODEC.decode(json.raw("message")),
                    json.smallNumber("tokens"),
                    json.text("counter"),
                    json.time("at"),
                    outcome(outcome == null ? json.object("outcome") : outcome),
                    json.nullableText("question"));
        } catch (UnreadableDataException e) {
            throw AppendRules.unreadable(key, id, e);
        }
    }

    /** Adds an outcome's fields; none of them for a removed outcome. */
    static String outcome(JsonText json, @Nullable Outcome outcome) {
        return outcome == null
                ? json.end()
                : json.text("kind", outcome.kind().name())
                        .text("reason", outcome.reason())
                        .end();
    }

    static boolean isUnreadable(Fields json) throws BadLineException {
        return Outcome.UNREADABLE.equals(outcome(json));
    }

    private static @Nullable Outcome outcome(@Nullable Fields json) throws BadLineException {
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

    static @Nullable Usage usage(Fields message) throws BadLineException {
        Fields json = message.object("usage");
        return json == null ? null : new Usage(json.number("input"), json.number("output"), json.number("cached"));
    }

    static String view(View view, String anchor, long anchorSeq) {
        return new JsonText()
                .text("anchor", anchor)
                .number("seq", anchorSeq)
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
        return new View(json.text("anchor"), json.number("seq"), runs, json.nullableText("summary"));
    }

    static String summary(Summary summary, long seq, long version) {
        return new JsonText()
                .number("version", version)
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

    static Description description(Fields json) throws BadLineException {
        try {
            return new Description(json.nullableText("title"), CODEC.decodeStrings(json.raw("metadata")));
        } catch (UnreadableDataException e) {
            throw new BadLineException("its metadata are no texts");
        }
    }
}
