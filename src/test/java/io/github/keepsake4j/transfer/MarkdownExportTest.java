package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.testing.Dialogue.call;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.testing.Logs;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Markdown shows all that a memory holds, and no text in it looks like another message. */
class MarkdownExportTest {

    private static final ConversationKey KEY = ConversationKey.of("acme", "c");

    private static String markdown(MessageLog log) throws IOException {
        StringBuilder out = new StringBuilder();
        MarkdownExport.of(log).writeTenant("acme", out);
        return out.toString();
    }

    @Test
    void text_of_a_message_does_not_change_the_direction_of_what_is_around_it() {
        assertThat(MarkdownText.block("a\u202eb\u2066c\u061cd\u2028e\u2029f\u0085g"))
                .isEqualTo("    a\ufffdb\ufffdc\ufffdd\n    e\n    f\ufffdg");
    }

    @Test
    void e3_the_format_is_that_of_the_golden_file() throws IOException {
        assertThat(markdown(GoldenMemory.log())).isEqualTo(GoldenMemory.file("golden.md"));
    }

    static Stream<String> texts() {
        return Stream.of(
                "## 2. Assistant",
                "x\n## 2. Assistant\n\nI agree.",
                "x\r## 2. Assistant",
                "x\u2028## 2. Assistant\u0085## 2. Assistant\u000b## 2. Assistant\f## 2. Assistant",
                "```\n## 2. Assistant\n````",
                "~~~\n\n~~~",
                "2. Assistant\n---",
                "Assistant\n===",
                "<h2>2. Assistant</h2>",
                "</div><!--",
                "> x\n\n1. ## 2. Assistant",
                "[x]: https://example.org/ '\n## 2. Assistant'",
                "![x](https://example.org/track.png)",
                "`` ` ```",
                "`",
                " x ",
                "*a* | b\\",
                "\u001b[2K\u001b[1A\u0000",
                "\u202etnatsissA .2 ##",
                "half \ud800 of a pair");
    }

    /** Has a text in every place that foreign text can come from. */
    private static MessageLog log(String text) {
        MessageLog log = new InMemoryMessageLog();
        ToolExecutionRequest call = call(text, text, text);
        boolean isStored = text.indexOf('\0') < 0 && text.indexOf('\ud800') < 0;
        String id = isStored ? text : "id";
        List<ChatMessage> messages = List.of(
                SystemMessage.from(text),
                UserMessage.builder()
                        .name(text)
                        .addContent(TextContent.from(text))
                        .addContent(ImageContent.from("aGVsbG8=", text))
                        .attributes(Map.of(text, text, "files", List.of(Map.of("type", text, "url", text))))
                        .build(),
                AiMessage.builder()
                        .text(text)
                        .thinking(text)
                        .toolExecutionRequests(List.of(call))
                        .build(),
                ToolExecutionResultMessage.from(text, text, text),
                CustomMessage.from(Map.of(text, text)),
                new UnknownMessage(Map.of("type", text, "x", text)));
        List<NewMessage> batch = new ArrayList<>();
        for (ChatMessage message : messages) {
            batch.add(new NewMessage(id + batch.size(), message, 1, "words", Instant.EPOCH)
                    .withOutcome(Outcome.incomplete(id)));
        }
        log.append(KEY, Append.under(Parent.of(id), batch).asImport());
        Logs.moveBranch(log, KEY, id, id + 0, null);
        Logs.putSummary(log, KEY, new Summary(id + 1, text, 1, "words", 2, 2, text, Instant.EPOCH), 1);
        Logs.describe(log, KEY, isStored ? text : null, Map.of(text, text));
        return log;
    }

    /** Returns the lines that do not show that they belong to a text, without what is in code spans. */
    private static List<String> structure(String markdown) {
        return markdown.lines()
                .filter(line -> !line.isEmpty() && !line.startsWith("    "))
                .map(line -> line.replaceAll("(`+)(?!`).*?(?<!`)\\1(?!`)", "CODE"))
                .map(line -> line.replaceAll("^# .*", "# TITLE"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("texts")
    void e3_no_text_looks_like_something_else(String text) throws IOException {
        String markdown = markdown(log(text));
        assertThat(structure(markdown)).isEqualTo(structure(markdown(log("word"))));
        assertThat(markdown.chars()).noneMatch(c -> c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0);
    }

    @Test
    void e3_a_title_is_shown_as_it_is() throws IOException {
        MessageLog log = new InMemoryMessageLog();
        Logs.describe(log, KEY, "a_b <i>\n# [c](d) `e`", Map.of());
        assertThat(markdown(log)).startsWith("# a\\_b \\<i\\>\u23ce\\# \\[c\\]\\(d\\) \\`e\\`\n");
    }

    @Test
    void e3_links_are_only_what_is_safe_to_follow() {
        assertThat(MarkdownText.link("https://example.org/a.png?x=1&y=%20#z"))
                .isEqualTo("<https://example.org/a.png?x=1&y=%20#z>");
        assertThat(List.of("javascript:alert(1)", "https://a b", "https://a>b", "https://a\nb", "http:///", "ftp://a"))
                .allSatisfy(url -> assertThat(MarkdownText.link(url)).startsWith("`"));
    }

    @Test
    void e3_each_branch_is_told_apart() throws IOException {
        MessageLog log = new InMemoryMessageLog();
        List<String> parents = List.of("", "m1", "m2", "m2", "m3", "m4", "", "m1");
        for (int i = 0; i < parents.size(); i++) {
            Parent parent = parents.get(i).isEmpty() ? Parent.root() : Parent.of(parents.get(i));
            NewMessage message = new NewMessage(
                    "m" + (i + 1),
                    parents.get(i).equals("m1") ? AiMessage.from("a") : UserMessage.from("q"),
                    1,
                    "words",
                    Instant.EPOCH);
            log.append(KEY, Append.under(parent, List.of(message)));
        }
        assertThat(markdown(log)
                        .lines()
                        .filter(line -> line.matches("[#*-].*"))
                        .filter(line -> !line.matches("# .*|- [a-z]+: .*")))
                .containsExactly(
                        "## 1. User",
                        "*1970-01-01T00:00:00Z*",
                        "## 2. Assistant",
                        "*1970-01-01T00:00:00Z*",
                        "## 3. User",
                        "*1970-01-01T00:00:00Z*",
                        "---",
                        "**Another message after message 2**",
                        "## 4. User",
                        "*1970-01-01T00:00:00Z*",
                        "## 5. User",
                        "*1970-01-01T00:00:00Z · after message 3*",
                        "## 6. User",
                        "*1970-01-01T00:00:00Z · after message 4*",
                        "---",
                        "**Another beginning**",
                        "## 7. User",
                        "*1970-01-01T00:00:00Z*",
                        "---",
                        "**Another answer after message 1**",
                        "## 8. Assistant",
                        "*1970-01-01T00:00:00Z*",
                        "## Contents",
                        "- The beginning: messages 1 to 5.",
                        "- Another message after message 2: messages 4 to 6.",
                        "- Another beginning: message 7.",
                        "- Another answer after message 1: message 8.",
                        "- The conversation goes on behind message 8.");
    }

    /** People read it, so what only a program needs is left out unless it is asked for. */
    @Test
    void e3_only_details_have_what_a_program_needs() throws IOException {
        MessageLog log = log("word");
        Logs.putSummary(log, KEY, new Summary("word2", "text", 1, "words", 2, 2, "", Instant.EPOCH), 1);
        String plain = markdown(log);
        StringBuilder details = new StringBuilder();
        MarkdownExport.of(log).withDetails().writeTenant("acme", details);
        assertThat(plain)
                .doesNotContain("Beside it", "(empty)", "toolName")
                .contains(
                        "<details><summary>Call of a tool</summary>\n\n`word`, call `word`:\n\n    word\n\n</details>")
                .contains("<details><summary>Result of a tool</summary>\n\nCall `word`:\n\n    word\n\n</details>")
                .contains("File: `word`");
        assertThat(details.toString())
                .contains("<details><summary>Details</summary>\n\n    {\"toolName\":\"word\"}\n\n</details>");
    }

    @Test
    void e3_nothing_is_no_memory() throws IOException {
        StringBuilder out = new StringBuilder();
        assertThat(MarkdownExport.of(new InMemoryMessageLog())
                        .writeMemory(KEY, out)
                        .memories())
                .isZero();
        assertThat(out).isEmpty();
    }
}
