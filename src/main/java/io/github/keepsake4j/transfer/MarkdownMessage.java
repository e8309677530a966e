package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.transfer.MarkdownText.block;
import static io.github.keepsake4j.transfer.MarkdownText.code;
import static io.github.keepsake4j.transfer.MarkdownText.link;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.UnknownMessage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One message as Markdown, below its heading. Pure functions. */
final class MarkdownMessage {

    private static final MessageCodec CODEC = new MessageCodec();

    /** Takes a paragraph without its end. */
    interface Sink {
        void add(String paragraph) throws IOException;
    }

    private MarkdownMessage() {}

    /** Returns who said a message, as a part of a heading. */
    static String role(ChatMessage message) {
        return switch (message.type()) {
            case SYSTEM -> "System";
            case USER -> {
                String name = message instanceof UserMessage user ? user.name() : null;
                yield name == null ? "User" : "User " + code(name);
            }
            case AI -> "Assistant";
            case TOOL_EXECUTION_RESULT -> "Result of a tool";
            case CUSTOM -> "Other";
        };
    }

    /** Writes a message. What a paragraph holds of it cannot begin another paragraph's kind. */
    static void write(NewMessage message, @Nullable String branch, Sink out) throws IOException {
        out.add("*" + facts(message, branch) + "*");
        Map<?, ?> json = json(message.message());
        if (message.message() instanceof UnknownMessage) {
            out.add("A newer version wrote it:");
            out.add(block(PlainJson.write(withoutBytes(json))));
            return;
        }
        if (message.message() instanceof ToolExecutionResultMessage result) {
            out.add("Tool " + name(result.toolName()) + call(result.id())
                    + (Boolean.TRUE.equals(result.isError()) ? ", failed:" : ":"));
        }
        text(json.get("text"), out);
        if (json.get("contents") instanceof List<?> contents) {
            for (Object content : contents) {
                content(content, out);
            }
        }
        if (json.get("thinking") instanceof String thinking) {
            out.add("Thinking:");
            text(thinking, out);
        }
        if (message.message() instanceof AiMessage ai && ai.hasToolExecutionRequests()) {
            for (ToolExecutionRequest request : ai.toolExecutionRequests()) {
                out.add("Calls tool " + name(request.name()) + call(request.id()) + ":");
                text(request.arguments(), out);
            }
        }
        attributes(message.message(), json, out);
        made(message, out);
    }

    private static Map<?, ?> json(ChatMessage message) {
        return PlainJson.read("message", CODEC.encode(message)) instanceof Map<?, ?> map ? map : Map.of();
    }

    private static String facts(NewMessage message, @Nullable String branch) {
        List<String> facts = new ArrayList<>();
        facts.add(String.valueOf(message.createdAt()));
        if (branch != null) {
            facts.add(branch);
        }
        if (message.outcome() != null) {
            String reason = message.outcome().reason();
            facts.add(message.outcome().kind().name().toLowerCase(Locale.ROOT)
                    + (reason == null ? "" : ": " + code(reason)));
        }
        return String.join(" · ", facts);
    }

    private static String name(@Nullable String tool) {
        return tool == null ? "without a name" : code(tool);
    }

    private static String call(@Nullable String id) {
        return id == null ? "" : ", call " + code(id);
    }

    private static void text(@Nullable Object text, Sink out) throws IOException {
        if (text instanceof String string) {
            out.add(string.isBlank() ? "(no text)" : block(string));
        }
    }

    private static void content(@Nullable Object content, Sink out) throws IOException {
        if (!(content instanceof Map<?, ?> map)) {
            return;
        }
        text(map.get("text"), out);
        for (String kind : List.of("image", "audio", "video", "pdfFile")) {
            if (map.get(kind) instanceof Map<?, ?> media) {
                out.add("File, " + (kind.equals("pdfFile") ? "PDF" : kind) + ": " + media(media));
            }
        }
    }

    private static String media(Map<?, ?> media) {
        List<String> parts = new ArrayList<>();
        if (media.get("mimeType") instanceof String type) {
            parts.add(code(type));
        }
        if (media.get("url") instanceof String url) {
            boolean isData = url.regionMatches(true, 0, "data:", 0, 5);
            parts.add(isData ? "a data URL of " + url.length() + " characters, which are left out" : link(url));
        }
        for (String bytes : List.of("base64Data", "binaryData")) {
            if (media.get(bytes) instanceof String base64) {
                parts.add(leftOut(base64));
            }
        }
        if (media.get("revisedPrompt") instanceof String prompt) {
            parts.add("made from " + code(prompt));
        }
        return parts.isEmpty() ? "empty" : String.join(", ", parts);
    }

    private static String leftOut(String base64) {
        return base64.length() + " characters of base64, which are left out";
    }

    private static void attributes(ChatMessage message, Map<?, ?> json, Sink out) throws IOException {
        if (!(json.get("attributes") instanceof Map<?, ?> attributes)) {
            return;
        }
        for (Map<?, ?> file : FileReference.entries(message)) {
            out.add("File reference: "
                    + file.entrySet().stream()
                            .map(entry -> code(String.valueOf(entry.getKey())) + " "
                                    + (entry.getKey().equals("url")
                                            ? link(String.valueOf(entry.getValue()))
                                            : code(String.valueOf(entry.getValue()))))
                            .sorted()
                            .collect(Collectors.joining(", ")));
        }
        Map<Object, Object> others = new TreeMap<>(attributes);
        if (!FileReference.entries(message).isEmpty()) {
            others.remove(FileReference.ATTRIBUTE);
        }
        if (!others.isEmpty()) {
            out.add("Attributes:");
            out.add(block(PlainJson.write(withoutBytes(others))));
        }
    }

    private static Object withoutBytes(Object value) {
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> copy = new LinkedHashMap<>();
            map.forEach((name, each) -> copy.put(
                    name, name.equals("base64Data") && each instanceof String base64 ? leftOut(base64) : inner(each)));
            return copy;
        }
        if (value instanceof List<?> list) {
            List<Object> copy = new ArrayList<>();
            list.forEach(each -> copy.add(inner(each)));
            return copy;
        }
        return value;
    }

    @SuppressWarnings("NullAway") // JSON's null stays null.
    private static Object inner(@Nullable Object value) {
        return value == null ? null : withoutBytes(value);
    }

    private static void made(NewMessage message, Sink out) throws IOException {
        List<String> parts = new ArrayList<>();
        Made made = message.made();
        Seen seen = made.seen();
        if (seen != null) {
            String shown = seen.shown().stream()
                    .map(range ->
                            range.first() == range.last() ? "" + range.first() : range.first() + "–" + range.last())
                    .collect(Collectors.joining(", "));
            parts.add("made from messages " + (shown.isEmpty() ? "none" : shown)
                    + (seen.summary() > 0 ? " and summary " + seen.summary() : "")
                    + (seen.memories().isEmpty()
                            ? ""
                            : " and " + seen.memories().size() + " memories")
                    + (seen.altered() ? " and more" : ""));
        }
        if (made.modelName() != null) {
            parts.add("model " + code(made.modelName()));
        }
        if (made.usage() != null) {
            parts.add(made.usage().input() + " tokens in (" + made.usage().cached() + " cached), "
                    + made.usage().output() + " out");
        }
        if (made.request() != null) {
            parts.add("the whole request is kept, " + made.request().length() + " characters, which are left out");
        }
        if (!parts.isEmpty()) {
            out.add("*" + String.join(" · ", parts) + "*");
        }
    }
}
