package io.github.keepsake4j.transfer;

import dev.langchain4j.data.message.ChatMessage;
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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

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
        return line(EXPORT, json -> json.put("version", VERSION));
    }

    /** Ends an export. */
    static String done(MemoryCopy.Report report) {
        return line(DONE, json -> {
            json.put("memories", report.memories());
            json.put("messages", report.messages());
            json.put("damaged", report.damaged());
        });
    }

    /** Begins a memory. */
    static String memory(MemoryKey key, BesideMessages beside) {
        return line(MEMORY, json -> {
            if (key instanceof NodeKey node) {
                json.put("scope", NODE);
                json.put("tenant", node.tenant());
                json.put("app", node.appId());
                json.put("conversation", node.conversationId());
                json.put("node", node.nodeId());
            } else if (key instanceof ConversationKey conversation) {
                json.put("scope", CONVERSATION);
                json.put("tenant", conversation.tenant());
                json.put("conversation", conversation.conversationId());
            }
            put(json, "title", beside.title());
            json.put("metadata", new TreeMap<>(beside.metadata()));
        });
    }

    /** Ends a memory. */
    static String end(Fingerprint fingerprint) {
        return line(END, json -> {
            json.put("messages", fingerprint.messages());
            json.put("sha256", fingerprint.sha256());
        });
    }

    static String message(Moved moved) {
        NewMessage message = moved.message();
        String json = line(MESSAGE, fields -> {
            fields.put("id", message.id());
            put(fields, "parent", moved.parentId());
            put(fields, "at", text(message.createdAt()));
            fields.put("tokens", message.tokens());
            fields.put("counter", message.tokenCounter());
            put(fields, "question", message.question());
            put(fields, "outcome", message.outcome() == null ? null : outcome(message.outcome()));
            Made made = message.made();
            put(fields, "seen", made.seen() == null ? null : seen(made.seen()));
            put(fields, "usage", made.usage() == null ? null : usage(made.usage()));
            put(fields, "model", made.modelName());
            put(fields, "finish", made.finishReason());
            put(fields, "request", made.request());
        });
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

    private static Map<String, Object> outcome(Outcome outcome) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("kind", outcome.kind().name());
        put(json, "reason", outcome.reason());
        return json;
    }

    private static Map<String, Object> seen(Seen seen) {
        List<Object> shown = new ArrayList<>();
        seen.shown().forEach(range -> {
            shown.add(range.first());
            shown.add(range.last());
        });
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("shown", shown);
        if (!seen.shortened().isEmpty()) {
            json.put("shortened", seen.shortened());
        }
        if (seen.summary() > 0) {
            json.put("summary", seen.summary());
        }
        if (seen.altered()) {
            json.put("altered", true);
        }
        if (!seen.memories().isEmpty()) {
            json.put("memories", seen.memories());
        }
        return json;
    }

    private static Map<String, Object> usage(Usage usage) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("input", usage.input());
        json.put("output", usage.output());
        json.put("cached", usage.cached());
        return json;
    }

    static String summary(Summary summary) {
        return line(SUMMARY, json -> {
            json.put("covers", summary.coversUpTo());
            json.put("text", summary.text());
            json.put("tokens", summary.tokens());
            json.put("counter", summary.tokenCounter());
            json.put("replacedMessages", summary.replacedMessages());
            json.put("replacedTokens", summary.replacedTokens());
            put(json, "model", summary.model());
            json.put("at", summary.createdAt().toString());
        });
    }

    static String view(View view) {
        return line(VIEW, json -> {
            put(json, "anchor", view.anchor());
            json.put(
                    "runs",
                    view.runs().stream()
                            .map(run -> {
                                Map<String, Object> each = new LinkedHashMap<>();
                                put(each, "after", run.after());
                                each.put("last", run.last());
                                return each;
                            })
                            .toList());
            put(json, "summary", view.summary());
        });
    }

    static String branch(String name, String end) {
        return line(BRANCH, json -> {
            json.put("name", name);
            json.put("end", end);
        });
    }

    static String head(String id) {
        return line(HEAD, json -> json.put("id", id));
    }

    private interface Fill {
        void fill(Map<String, Object> json);
    }

    private static String line(String kind, Fill fill) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("kind", kind);
        fill.fill(json);
        return PlainJson.write(json);
    }

    private static void put(Map<String, Object> json, String name, @Nullable Object value) {
        if (value != null) {
            json.put(name, value);
        }
    }

    private static @Nullable String text(@Nullable Instant time) {
        return time == null ? null : time.toString();
    }
}
