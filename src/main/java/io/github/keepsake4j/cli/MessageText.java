package io.github.keepsake4j.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Ansi.Style;

/**
 * Messages as text for people: the role, and the content beside it.
 *
 * @param ansi whether there are colours
 */
record MessageText(Ansi ansi) {

    /** As wide as the longest role, and two spaces. */
    private static final int LABEL = 11;

    String of(Map<?, ?> message) {
        String role = String.valueOf(message.get("role"));
        List<String> lines = new ArrayList<>();
        Object content = message.get("content");
        if (content instanceof String text) {
            lines.add(text);
        }
        MessageFields.list(content).forEach(part -> lines.add(part(part)));
        for (Object call : MessageFields.list(message.get("tool_calls"))) {
            Object function = MessageFields.get(call, "function");
            lines.add("calls " + MessageFields.get(function, "name") + " " + MessageFields.get(function, "arguments"));
        }
        return labelled(role, String.join("\n", lines));
    }

    private static String part(@Nullable Object part) {
        Object text = MessageFields.get(part, "text");
        if (text != null) {
            return String.valueOf(text);
        }
        String url = String.valueOf(MessageFields.get(MessageFields.get(part, "image_url"), "url"));
        // Bytes of a picture are nothing to read.
        return "[image" + (url.startsWith("data:") ? "" : " " + url) + "]";
    }

    /** Returns a label with a text beside it. */
    String labelled(String label, String text) {
        String indented = Printable.lines(text).replace("\n", "\n" + " ".repeat(LABEL));
        String padding = " ".repeat(Math.max(1, LABEL - label.length()));
        return styled(Printable.line(label), style(label)) + padding + indented;
    }

    /** Returns a text that is beside the matter. */
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
