package io.github.keepsake4j.backend;

import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.Made;
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
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the records of a log as JSON, for files and exports. Readers ignore the fields of newer versions.
 * They throw the exception of the fields that they read, or {@link InvalidInputException} for values that a record
 * refuses. Pure functions.
 */
public final class RecordJson {

    private static final String CONVERSATION = "conversation";
    private static final String NODE = "node";

    private RecordJson() {}

    /**
     * Adds the ids of a memory.
     *
     * @param json the object to which they are added
     * @param key the memory
     * @return the object
     */
    public static JsonObject put(JsonObject json, MemoryKey key) {
        return key instanceof NodeKey node
                ? json.with("scope", NODE)
                        .with("tenant", node.tenant())
                        .with("app", node.appId())
                        .with(CONVERSATION, node.conversationId())
                        .with(NODE, node.nodeId())
                : json.with("scope", CONVERSATION)
                        .with("tenant", key.tenant())
                        .with(CONVERSATION, ((ConversationKey) key).conversationId());
    }

    /**
     * Reads the ids of a memory.
     *
     * @param json the object that contains them
     * @return the memory
     */
    public static MemoryKey key(JsonFields json) {
        return switch (json.neededText("scope")) {
            case CONVERSATION -> ConversationKey.of(json.neededText("tenant"), json.neededText(CONVERSATION));
            case NODE ->
                NodeKey.of(
                        json.neededText("tenant"),
                        json.neededText("app"),
                        json.neededText(CONVERSATION),
                        json.neededText(NODE));
            default -> throw json.wrong("scope", "is not known. A newer version wrote it");
        };
    }

    /**
     * Adds the stored fields of a message other than its ids and its place.
     *
     * @param json the object to which it is added
     * @param at its time, or null
     * @param tokens its size in tokens
     * @param counter the counter's name
     * @param question the id of its turn's question, or null
     * @param outcome how it ended, or null
     * @param made how it was made
     * @param payload the message as JSON
     * @return the object
     */
    public static JsonObject put(
            JsonObject json,
            @Nullable Instant at,
            int tokens,
            String counter,
            @Nullable String question,
            @Nullable Outcome outcome,
            Made made,
            String payload) {
        Usage usage = made.usage();
        return json.withPresent("at", at == null ? null : at.toString())
                .with("tokens", tokens)
                .with("counter", counter)
                .withPresent("question", question)
                .withPresent("outcome", outcome == null ? null : put(new JsonObject(), outcome))
                .withPresent("seen", made.seen() == null ? null : seen(made.seen()))
                .withPresent(
                        "usage",
                        usage == null
                                ? null
                                : new JsonObject()
                                        .with("input", usage.input())
                                        .with("output", usage.output())
                                        .with("cached", usage.cached()))
                .withPresent("model", made.modelName())
                .withPresent("finish", made.finishReason())
                .withPresent("request", made.request())
                .with("message", new PlainJson.Written(payload));
    }

    /**
     * Adds an outcome; nothing for a removed one.
     *
     * @param json the object to which it is added
     * @param outcome the outcome, or null
     * @return the object
     */
    public static JsonObject put(JsonObject json, @Nullable Outcome outcome) {
        return outcome == null
                ? json
                : json.with("kind", outcome.kind().name()).withPresent("reason", outcome.reason());
    }

    /**
     * Reads an outcome.
     *
     * @param json the object that contains it, or null
     * @return the outcome, or null if there is none or its kind is not known
     */
    public static @Nullable Outcome outcome(@Nullable JsonFields json) {
        return json == null || !json.has("kind")
                ? null
                : Outcome.Kind.named(json.neededText("kind"))
                        .map(kind -> new Outcome(kind, json.text("reason")))
                        .orElse(null);
    }

    private static JsonObject seen(Seen seen) {
        return new JsonObject()
                .with(
                        "shown",
                        seen.shown().stream()
                                .flatMap(range -> Stream.of(range.first(), range.last()))
                                .toList())
                .withAny("shortened", seen.shortened())
                .withPresent("later", seen.later() ? true : null)
                .withAny("summary", seen.summary())
                .withPresent("altered", seen.altered() ? true : null)
                .withAny("memories", seen.memories());
    }

    private static Seen seen(JsonFields json) {
        List<Long> shown = json.numbers("shown");
        if (shown.size() % 2 != 0) {
            throw json.wrong("shown", "must be pairs of numbers");
        }
        return new Seen(
                IntStream.range(0, shown.size() / 2)
                        .mapToObj(pair -> new Seen.Range(shown.get(2 * pair), shown.get(2 * pair + 1)))
                        .toList(),
                json.numbers("shortened"),
                json.numberOr("summary", 0),
                Boolean.TRUE.equals(json.flag("altered")),
                json.texts("memories"),
                Boolean.TRUE.equals(json.flag("later")));
    }

    /**
     * Reads how a message was made.
     *
     * @param message the message's fields
     * @return how it was made
     */
    public static Made made(JsonFields message) {
        JsonFields seen = message.object("seen");
        return new Made(
                seen == null ? null : seen(seen),
                usage(message),
                message.text("model"),
                message.text("finish"),
                message.text("request"));
    }

    /**
     * Reads the tokens that were used for a message.
     *
     * @param message the message's fields
     * @return the tokens, or null if they are not known
     */
    public static @Nullable Usage usage(JsonFields message) {
        JsonFields json = message.object("usage");
        return json == null
                ? null
                : new Usage(json.neededNumber("input"), json.neededNumber("output"), json.neededNumber("cached"));
    }

    /**
     * Writes a view without its anchor.
     *
     * @param view the view
     * @return JSON
     */
    public static String write(View view) {
        return PlainJson.write(put(new JsonObject(), view));
    }

    /**
     * Adds a view without its anchor.
     *
     * @param json the object to which it is added
     * @param view the view
     * @return the object
     */
    public static JsonObject put(JsonObject json, View view) {
        return json.with(
                        "runs",
                        view.runs().stream()
                                .map(run -> new JsonObject()
                                        .withPresent("after", run.after())
                                        .with("last", run.last()))
                                .toList())
                .withPresent("summary", view.summary());
    }

    /**
     * Reads a view.
     *
     * @param json the object that contains it
     * @param anchor the anchor's id
     * @param sequence the anchor's sequence, or 0 if that is not known
     * @return the view
     */
    public static View view(JsonFields json, String anchor, long sequence) {
        if (!json.has("runs")) {
            throw json.wrong("runs", "is missing");
        }
        return new View(
                anchor,
                sequence,
                json.objects("runs").stream()
                        .map(run -> new View.Run(run.text("after"), run.neededText("last")))
                        .toList(),
                json.text("summary"));
    }

    /**
     * Reads the text of a view that is stored for a message.
     *
     * @param key the memory
     * @param json the text
     * @param anchor the anchor's id
     * @param sequence the anchor's sequence
     * @return the view
     * @throws UnreadableDataException if it cannot be read
     */
    public static View view(MemoryKey key, String json, String anchor, long sequence) {
        try {
            return view(JsonFields.read("view", json), anchor, sequence);
        } catch (InvalidInputException e) {
            throw new UnreadableDataException(
                    "Memory " + key + ": the view at message " + anchor + " cannot be read. Its bytes are kept", e);
        }
    }

    /**
     * Adds a summary without its version.
     *
     * @param json the object to which it is added
     * @param summary the summary
     * @return the object
     */
    public static JsonObject put(JsonObject json, Summary summary) {
        return json.with("covers", summary.coversUpTo())
                .with("text", summary.text())
                .with("tokens", summary.tokens())
                .with("counter", summary.tokenCounter())
                .with("replacedMessages", summary.replacedMessages())
                .with("replacedTokens", summary.replacedTokens())
                .withPresent("model", summary.model())
                .with("at", summary.createdAt().toString());
    }

    /**
     * Reads a summary.
     *
     * @param json the object that contains it
     * @return the summary without its version
     */
    public static Summary summary(JsonFields json) {
        return new Summary(
                json.neededText("covers"),
                json.neededText("text"),
                (int) json.neededNumber("tokens", Integer.MAX_VALUE),
                json.neededText("counter"),
                json.neededNumber("replacedMessages"),
                json.neededNumber("replacedTokens"),
                json.text("model"),
                json.neededTime("at"));
    }
}
