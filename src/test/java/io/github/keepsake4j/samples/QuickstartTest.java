package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuickstartTest {

    @TempDir
    Path directory;

    @Test
    void a_second_run_recalls_what_the_first_was_told() {
        assertThat(System.getenv("OPENAI_API_KEY"))
                .as("OPENAI_API_KEY is set: a real model's answers are not asserted")
                .isNull();

        String known = "Your name is Ada. You keep bees.";
        assertThat(run()).contains("I am a script", "A new memory \"ada\"", known);
        assertThat(run()).contains("Welcome back", known);
    }

    @Test
    void the_user_says_the_given_lines_and_is_not_the_one_of_the_script() {
        run();
        assertThat(run("I am Bob.", "Who am I?"))
                .contains("A new memory \"you\"", "you>   I am Bob.", "model> Noted. You are Bob.");
        assertThat(run("Who am I?"))
                .contains("Welcome back", "model> You are Bob.")
                .doesNotContain("Ada");
    }

    @Test
    void what_leaves_the_view_is_summarized_and_stays_in_the_history() {
        String printed =
                run(Stream.concat(Stream.of("I am Bob."), IntStream.range(0, 60).mapToObj(i -> "It is day " + i + "."))
                        .toArray(String[]::new));
        assertThat(printed)
                .containsPattern("\n123 messages kept, [12]\\d in view, and a summary of the others\\.\n")
                .containsPattern("\n2 +- +user +I am Bob\\.\n")
                .containsPattern("\n122 +yes +user +It is day 59\\.\n")
                .contains("\n[Summary of the earlier conversation]\nI am Bob.\n");
        assertThat(run("Who am I?", "What did I say first?"))
                .contains("model> You are Bob.", "I see only a summary of what came first. The first one that")
                .doesNotContain("“[Summary");
        try (MessageLog log = SqliteMessageLog.open(file())) {
            Conversation conversation =
                    Keepsake.builder().messageLog(log).build().conversation("you");
            assertThat(conversation.historyStream(HistoryQuery.newest(100)).map(LoggedMessage::userText))
                    .contains("I am Bob.");
        }
    }

    @Test
    void the_end_fits_into_a_terminal() {
        run(IntStream.range(0, 30).mapToObj(i -> "It is day " + i + ".").toArray(String[]::new));
        List<String> printed = run("I am Bob.", "Who am I?", "Bye.").lines().toList();
        List<String> end = printed.subList(printed.indexOf("you>   Who am I?"), printed.size());
        assertThat(end)
                .hasSizeLessThan(24)
                .allMatch(line -> line.length() <= 80 || line.contains(directory.toString()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"exit", "Quit.", "bye!", " "})
    void a_word_or_an_empty_line_ends_what_is_typed(String end) {
        BufferedReader in = new BufferedReader(new StringReader("I quit my job.\n" + end + "\nWho am I?\n"));
        assertThat(Quickstart.typed(in, new PrintStream(new ByteArrayOutputStream())))
                .containsExactly("I quit my job.");
    }

    @Test
    void a_word_ends_what_is_piped() {
        assertThat(run("I am Bob.", "Exit", "Who am I?"))
                .contains("Noted. You are Bob.", "Run it again")
                .doesNotContain("Who am I?");
    }

    private Path file() {
        return directory.resolve("quickstart.db");
    }

    private String run(String... lines) {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
        Quickstart.run(file(), lines.length == 0 ? null : Quickstart.echoed(Stream.of(lines), out), out);
        return printed.toString(StandardCharsets.UTF_8);
    }
}
