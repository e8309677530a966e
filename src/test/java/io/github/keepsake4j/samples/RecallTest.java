package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class RecallTest {

    @Test
    void what_was_said_months_ago_is_recalled() {
        assertThat(System.getenv("OPENAI_API_KEY"))
                .as("OPENAI_API_KEY is set: a real model's answers are not asserted")
                .isNull();

        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        Recall.run(new PrintStream(printed, true, StandardCharsets.UTF_8));
        String text = printed.toString(StandardCharsets.UTF_8);

        assertThat(text.lines())
                .contains(
                        "  2026-01-05  My name is Ada. I keep bees.",
                        "With recall:     Your name is Ada. You keep bees.");
    }
}
