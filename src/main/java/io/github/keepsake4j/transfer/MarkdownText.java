package io.github.keepsake4j.transfer;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes foreign text within Markdown. It cannot leave its place, begin a heading or a link, or send a control
 * character to a terminal. Pure functions.
 */
final class MarkdownText {

    private static final Pattern LINE_END = Pattern.compile("\r\n|[\r\n\u2028\u2029]");

    /** Control characters except tabs, halves of surrogate pairs, and characters that change the direction of text. */
    private static final Pattern HIDDEN =
            Pattern.compile("[\\p{Cc}\\p{Cs}\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069&&[^\t]]");

    private static final Pattern PUNCTUATION = Pattern.compile("[!-/:-@\\[-`{-~]");

    /** A URL that is shown as a link: in one piece, and without characters that look like others. */
    private static final Pattern LINK = Pattern.compile("(?i)https?://[a-z0-9][!#-;=?-\\[\\]_a-z~]*");

    private MarkdownText() {}

    /** Returns text on one line, which is shown literally. */
    static String plain(String text) {
        return PUNCTUATION.matcher(oneLine(text)).replaceAll("\\\\$0");
    }

    /** Returns text as a code span. */
    static String code(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            return "(empty)";
        }
        String line = oneLine(text);
        String quotes = "`";
        while (line.contains(quotes)) {
            quotes += quotes;
        }
        String pad = line.isBlank() || line.startsWith("`") || line.endsWith("`") || line.startsWith(" ") ? " " : "";
        return quotes + pad + line + pad + quotes;
    }

    /** Returns a link to a URL that is safe to follow, else a code span. */
    static String link(String url) {
        return LINK.matcher(url).matches() ? "<" + url + ">" : code(url);
    }

    /** Returns text as an indented block. It keeps its lines, and each of them shows that it belongs to the text. */
    static String block(String text) {
        return LINE_END.splitAsStream(text)
                .map(MarkdownText::visible)
                .map(line -> line.isBlank() ? "" : "    " + line)
                .collect(Collectors.joining("\n"));
    }

    /** Returns paragraphs that a reader unfolds. Foreign text must be in the paragraphs, not in the title. */
    static List<String> folded(String title, List<String> paragraphs) {
        String begin = "<details><summary>" + title + "</summary>";
        return Stream.of(List.of(begin), paragraphs, List.of("</details>"))
                .flatMap(List::stream)
                .toList();
    }

    private static String oneLine(String text) {
        return visible(LINE_END.matcher(text).replaceAll("\u23ce"));
    }

    private static String visible(String line) {
        return HIDDEN.matcher(line).replaceAll(hidden -> {
            char c = hidden.group().charAt(0);
            return Character.toString(c < ' ' ? 0x2400 + c : '\ufffd');
        });
    }
}
