package io.github.keepsake4j.transfer;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnknownMessage;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The lines of an export, each a JSON object that begins with its kind. {@link Line} reads them. Pure functions. */
final class Lines {

    /**
     * The version of the format. A reader ignores kinds and fields that it does not know, so what is added does not raise it. A
     * higher version is one that an older reader would misread.
     */
    static final int VERSION = 1;

    static final String EXPORT = "export";
    static final String MEMORY = "memory";
    static final String MESSAGE = "message";
    static final String SUMMARY = "summary";
    static final String VIEW = "view";
    static final String BRANCH = "branch";
    static final String HEAD = "head";
    static final String END = "end";
    static final String DONE = "done";

    static final String CONVERSATION = "conversation";
    static final String NODE = "node";

    private static final MessageCodec CODEC = new MessageCodec();

    private Lines() {}

    /** Begins an export. */
    static String export() {
        return PlainJson.write(line(EXPORT).with("version", VERSION));
    }

    /** Ends an export. */
    static String done(MemoryCopy.Report report) {
        return PlainJson.write(line(DONE)
                .with("memories", report.memories())
                .with("messages", report.messages())
                .with("damaged", report.damaged()));
    }

    /** Begins a memory. */
    static String memory(MemoryKey key, BesideMessages beside) {
        return PlainJson.write(memoryFields(key, beside));
    }

    static JsonObject memoryFields(MemoryKey key, BesideMessages beside) {
        JsonObject json = line(MEMORY);
        if (key instanceof NodeKey node) {
            json.with("scope", NODE)
                    .with("tenant", node.tenant())
                    .with("app", node.appId())
                    .with("conversation", node.conversationId())
                    .with("node", node.nodeId());
        } else if (key instanceof ConversationKey conversation) {
            json.with("scope", CONVERSATION)
                    .with("tenant", conversation.tenant())
                    .with("conversation", conversation.conversationId());
        }
        return json.withPresent("title", beside.title()).with("metadata", new TreeMap<>(beside.metadata()));
    }

    /** Ends a memory. */
    static String end(Fingerprint fingerprint) {
        return PlainJson.write(
                line(END).with("messages", fingerprint.messages()).with("sha256", fingerprint.sha256()));
    }

    static String message(Moved moved) {
        NewMessage message = moved.message();
        Instant createdAt = message.createdAt();
        Outcome outcome = message.outcome();
        Made made = message.made();
        String json = PlainJson.write(line(MESSAGE)
                .with("id", message.id())
                .withPresent("parent", moved.parentId())
                .withPresent("at", createdAt == null ? null : createdAt.toString())
                .with("tokens", message.tokens())
                .with("counter", message.tokenCounter())
                .withPresent("question", message.question())
                .withPresent("outcome", outcome == null ? null : outcome(outcome))
                .withPresent("seen", made.seen() == null ? null : seen(made.seen()))
                .withPresent("usage", made.usage() == null ? null : usage(made.usage()))
                .withPresent("model", made.modelName())
                .withPresent("finish", made.finishReason())
                .withPresent("request", made.request()));
        return json.substring(0, json.length() - 1) + ",\"message\":" + json(message.message()) + "}";
    }

    /** Writes a message. Maps and sets of its attributes may have another order in each process, so they are sorted. */
    private static String json(ChatMessage message) {
        String json = CODEC.encode(message);
        boolean isUnknown = message instanceof UnknownMessage;
        if ((!isUnknown && !json.contains("\"attributes\""))
                || !(PlainJson.read("message", json) instanceof Map<?, ?> fields)) {
            return json;
        }
        Map<Object, Object> sorted = new LinkedHashMap<>(fields);
        sorted.computeIfPresent("attributes", (name, attributes) -> sorted(attributes));
        return PlainJson.write(isUnknown ? sorted(fields) : sorted);
    }

    private static Object sorted(Object value) {
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> sorted = new TreeMap<>(map);
            sorted.replaceAll((name, each) -> each == null ? null : sorted(each));
            if ("set".equals(map.get("@type")) && sorted.get("value") instanceof List<?> elements) {
                sorted.put(
                        "value",
                        elements.stream()
                                .sorted(Comparator.comparing(PlainJson::write))
                                .toList());
            }
            return sorted;
        }
        return value instanceof List<?> list
                ? list.stream().map(each -> each == null ? null : sorted(each)).toList()
                : value;
    }

    private static JsonObject outcome(Outcome outcome) {
        return new JsonObject().with("kind", outcome.kind().name()).withPresent("reason", outcome.reason());
    }

    private static JsonObject seen(Seen seen) {
        List<Long> shown = seen.shown().stream()
                .flatMap(range -> Stream.of(range.first(), range.last()))
                .toList();
        return new JsonObject()
                .with("shown", shown)
                .withPresent("shortened", seen.shortened().isEmpty() ? null : seen.shortened())
                .withPresent("summary", seen.summary() > 0 ? seen.summary() : null)
                .withPresent("altered", seen.altered() ? true : null)
                .withPresent("memories", seen.memories().isEmpty() ? null : seen.memories());
    }

    private static JsonObject usage(Usage usage) {
        return new JsonObject()
                .with("input", usage.input())
                .with("output", usage.output())
                .with("cached", usage.cached());
    }

    static String summary(Summary summary) {
        return PlainJson.write(line(SUMMARY)
                .with("covers", summary.coversUpTo())
                .with("text", summary.text())
                .with("tokens", summary.tokens())
                .with("counter", summary.tokenCounter())
                .with("replacedMessages", summary.replacedMessages())
                .with("replacedTokens", summary.replacedTokens())
                .withPresent("model", summary.model())
                .with("at", summary.createdAt().toString()));
    }

    static String view(View view) {
        return PlainJson.write(line(VIEW)
                .withPresent("anchor", view.anchor())
                .with(
                        "runs",
                        view.runs().stream()
                                .map(run -> new JsonObject()
                                        .withPresent("after", run.after())
                                        .with("last", run.last()))
                                .toList())
                .withPresent("summary", view.summary()));
    }

    static String branch(String name, String end) {
        return PlainJson.write(line(BRANCH).with("name", name).with("end", end));
    }

    static String head(String id) {
        return PlainJson.write(line(HEAD).with("id", id));
    }

    private static JsonObject line(String kind) {
        return new JsonObject().with("kind", kind);
    }
}
