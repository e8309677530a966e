package io.github.keepsake4j.cli;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.component.MemoryOutput;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Ansi.Style;

/**
 * Writes messages as text for people: the role, followed by the content.
 *
 * @param ansi whether there are colours
 */
record TerminalText(Ansi ansi) {

    /** As wide as the longest role, and two spaces. */
    private static final int LABEL = 11;

    /** Returns messages as the fields of the component's JSON: {@code role}, {@code content}, {@code tool_calls}. */
    static List<JsonFields> fields(List<ChatMessage> messages) {
        String json = new MemoryOutput(messages, messages.size(), 0, null).toJson();
        return JsonFields.read("messages", json).objects("messages");
    }

    String of(JsonFields message) {
        List<String> lines = new ArrayList<>();
        if (message.values().get("content") instanceof List<?>) {
            message.objects("content").forEach(part -> lines.add(part(part)));
        } else if (message.has("content")) {
            lines.add(message.neededText("content"));
        }
        for (JsonFields call : message.objects("tool_calls")) {
            JsonFields function = call.neededObject("function");
            lines.add("calls " + function.text("name") + " " + function.text("arguments"));
        }
        return labelled(message.neededText("role"), String.join("\n", lines));
    }

    private static String part(JsonFields part) {
        if (part.has("text")) {
            return part.neededText("text");
        }
        String url = part.neededObject("image_url").neededText("url");
        // Bytes of a picture are nothing to read.
        return "[image" + (url.startsWith("data:") ? "" : " " + url) + "]";
    }

    /** Returns a label with a text next to it. */
    String labelled(String label, String text) {
        String indented = Printable.lines(text).replace("\n", "\n" + " ".repeat(LABEL));
        String padding = " ".repeat(Math.max(1, LABEL - label.length()));
        return styled(Printable.line(label), style(label)) + padding + indented;
    }

    /** Returns a text of secondary importance. */
    String quiet(String text) {
        return styled(text, Style.faint);
    }

    String warning(String text) {
        return styled(text, Style.fg_red);
    }

    private static Style style(String label) {
        return switch (label) {
            case "user" -> Style.fg_green;
            case "assistant" -> Style.fg_cyan;
            case "system" -> Style.fg_magenta;
            default -> Style.fg_yellow;
        };
    }

    private String styled(String text, Style style) {
        return ansi.enabled() ? style.on() + text + style.off() : text;
    }
}
