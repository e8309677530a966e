package io.github.keepsake4j.transfer;

import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Foreign text within Markdown. None of it can end where it is, begin a heading or a link, or send a control character to a
 * terminal. Pure functions.
 */
final class MarkdownText {

    private static final Pattern LINE_END = Pattern.compile("\r\n|[\r\n\u2028\u2029]");

    /** Characters that change the direction of the text around them, so that a line looks like another one. */
    private static final Pattern DIRECTION = Pattern.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]");

    private static final Pattern PUNCTUATION = Pattern.compile("[!-/:-@\\[-`{-~]");

    private static final Pattern BACKTICKS = Pattern.compile("`+");

    /** A URL that is shown as a link: in one piece, and without characters that look like others. */
    private static final Pattern LINK = Pattern.compile("(?i)https?://[a-z0-9][!#-;=?-\\[\\]_a-z~]*");

    private MarkdownText() {}

    /** Returns text on one line, which is shown as it is. */
    static String plain(String text) {
        return PUNCTUATION.matcher(oneLine(text)).replaceAll("\\\\$0");
    }

    /** Returns text as a code span. */
    static String code(String text) {
        String line = oneLine(text);
        int longest = BACKTICKS
                .matcher(line)
                .results()
                .mapToInt(run -> run.group().length())
                .max()
                .orElse(0);
        String quotes = "`".repeat(longest + 1);
        String pad = line.isBlank() || line.startsWith("`") || line.endsWith("`") || line.startsWith(" ") ? " " : "";
        return line.isEmpty() ? "(empty)" : quotes + pad + line + pad + quotes;
    }

    /** Returns a link to a URL that is safe to follow, else a code span. */
    static String link(String url) {
        return LINK.matcher(url).matches() ? "<" + url + ">" : code(url);
    }

    /** Returns text as an indented block. It keeps its lines, and each of them shows that it belongs to the text. */
    static String block(String text) {
        return LINE_END.splitAsStream(text)
                .map(MarkdownText::visible)
                .map(MarkdownText::undirected)
                .map(line -> line.isBlank() ? "" : "    " + line)
                .collect(Collectors.joining("\n"));
    }

    private static String oneLine(String text) {
        return undirected(visible(LINE_END.matcher(text).replaceAll("\u23ce")));
    }

    private static String undirected(String line) {
        return DIRECTION.matcher(line).replaceAll("\ufffd");
    }

    /** Replaces control characters, except for tabs, and halves of surrogate pairs. */
    private static String visible(String line) {
        StringBuilder visible = new StringBuilder(line.length());
        line.codePoints().forEach(c -> {
            if (c < ' ' && c != '\t') {
                visible.appendCodePoint(0x2400 + c);
            } else if ((c >= 0x7f && c < 0xa0) || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)) {
                visible.append('\ufffd');
            } else {
                visible.appendCodePoint(c);
            }
        });
        return visible.toString();
    }
}
