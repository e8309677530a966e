package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuickstartTest {

    @TempDir
    Path directory;

    @Test
    void a_second_run_recalls_what_the_first_was_told() {
        assertThat(System.getenv("OPENAI_API_KEY"))
                .as("OPENAI_API_KEY is set: a real model's answers are not asserted")
                .isNull();

        assertThat(run()).contains("A new memory").contains("You are Ada, and you keep bees.");
        assertThat(run()).contains("Welcome back").contains("You are Ada, and you keep bees.");
        String third = run();
        assertThat(third).contains("You are Ada, and you keep bees.");
        // The first message has left the window, but not the history.
        assertThat(third).containsPattern("2 +- +user +My name is Ada.");
    }

    @Test
    void the_user_says_the_given_lines() {
        assertThat(run("My name is Bob.", "I keep goats.", "Who am I?")).contains("you>   I keep goats.", "Who am I?");
        assertThat(run()).contains("Welcome back", "Bob").doesNotContain("Ada");
    }

    private String run(String... lines) {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        Quickstart.run(
                directory.resolve("quickstart.db"),
                List.of(lines),
                new PrintStream(printed, true, StandardCharsets.UTF_8));
        return printed.toString(StandardCharsets.UTF_8);
    }
}
