package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.transfer.MarkdownText.block;
import static io.github.keepsake4j.transfer.MarkdownText.code;
import static io.github.keepsake4j.transfer.MarkdownText.folded;
import static io.github.keepsake4j.transfer.MarkdownText.link;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.LoggedMessage.Asked;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnknownMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One message as Markdown, below its heading: its texts and files, its tool calls folded, and on request all other fields
 * of its line in an export. Pure functions.
 */
final class MarkdownMessage {

    /** The fields that are shown in a form of their own, or that contain only the place of the message. */
    private static final Set<String> SHOWN = Set.of(
            "kind",
            "id",
            "parent",
            "at",
            "tokens",
            "counter",
            "question",
            "asked",
            "outcome",
            "message",
            "v",
            "type",
            "name",
            "text",
            "contents",
            "thinking",
            "toolExecutionRequests");

    /** Texts in JSON that are unreadable. */
    private static final Pattern LEFT_OUT =
            Pattern.compile("(?<=\"(?:base64Data|binaryData)\":\")[^\"]+|(?<=\"url\":\")(?i:data:)[^\"]+");

    private MarkdownMessage() {}

    /** Returns the speaker of a message, as a part of a heading. */
    static String role(ChatMessage message) {
        String type = message instanceof AiMessage
                ? "ASSISTANT"
                : message.type().name().replace('_', ' ');
        String name = message instanceof UserMessage user && user.name() != null ? " " + code(user.name()) : "";
        return type.charAt(0) + type.substring(1).toLowerCase(Locale.ROOT) + name;
    }

    /** Returns the paragraphs of a message. The content of one paragraph cannot begin another kind of paragraph. */
    static List<String> paragraphs(Moved moved, String place, boolean hasDetails) {
        JsonFields line = JsonFields.read("message", Lines.message(moved));
        JsonFields message = line.neededObject("message");
        Map<String, @Nullable Object> others = new TreeMap<>(line.values());
        Outcome outcome = moved.message().outcome();
        String end = outcome == null ? "" : " · " + outcome.kind().name().toLowerCase(Locale.ROOT);
        String reason = outcome == null || outcome.reason() == null ? "" : ": " + code(outcome.reason());
        List<String> out = new ArrayList<>(List.of("*" + line.text("at") + place + end + reason + "*"));
        ChatMessage said = moved.message().message();
        if (said instanceof UnknownMessage) {
            others.put("a newer version wrote", message.values());
        } else {
            others.putAll(message.values());
            List<String> texts = new ArrayList<>();
            texts(message, moved.message().asked(), texts);
            for (Map<?, ?> file : FileReference.entries(said)) {
                String entry = file.get("url") instanceof String url && !url.startsWith("data:")
                        ? link(url)
                        : code(json(new TreeMap<>(file)));
                texts.add("File: " + entry);
            }
            out.addAll(said instanceof ToolExecutionResultMessage ? folded("Result of a tool", texts) : texts);
        }
        others.keySet().removeAll(SHOWN);
        others.computeIfPresent("request", (name, text) -> leftOut((String) text));
        // The last two kinds of messages have nothing else.
        if (!others.isEmpty() && (hasDetails || said instanceof UnknownMessage || said instanceof CustomMessage)) {
            out.addAll(folded("Details", List.of(block(json(others)))));
        }
        return out;
    }

    private static void texts(JsonFields message, @Nullable Asked question, List<String> out) {
        if (message.has("id")) {
            out.add("Call " + code(message.text("id")) + ":");
        }
        // A reader wants what the user wrote. The other formats have what was sent.
        text(question == null ? message.text("text") : question.text(), out);
        for (JsonFields content : message.objects("contents")) {
            text(question == null ? content.text("text") : null, out);
            for (String kind : List.of("image", "audio", "video", "pdfFile")) {
                JsonFields file = content.object(kind);
                if (file != null) {
                    String url = file.has("url") ? file.neededText("url") : "data:";
                    boolean isData = url.regionMatches(true, 0, "data:", 0, 5);
                    out.add("File, " + kind + ": " + (isData ? code(json(file.values())) : link(url)));
                }
            }
        }
        if (message.has("thinking")) {
            List<String> thinking = new ArrayList<>();
            text(message.text("thinking"), thinking);
            out.addAll(folded("Thinking", thinking));
        }
        for (JsonFields call : message.objects("toolExecutionRequests")) {
            List<String> asked = new ArrayList<>();
            asked.add(code(call.text("name")) + ", call " + code(call.text("id")) + ":");
            text(call.text("arguments"), asked);
            out.addAll(folded("Call of a tool", asked));
        }
    }

    private static void text(@Nullable String text, List<String> out) {
        if (text != null) {
            out.add(text.isBlank() ? "(no text)" : block(text));
        }
    }

    private static String json(Map<?, ?> values) {
        return LEFT_OUT.matcher(PlainJson.write(values)).replaceAll(text -> leftOut(text.group()));
    }

    private static String leftOut(String text) {
        return text.length() + " characters, which are left out";
    }
}
