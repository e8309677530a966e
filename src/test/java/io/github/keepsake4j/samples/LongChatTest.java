package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class LongChatTest {

    @Test
    void what_was_said_at_the_beginning_is_known_at_the_end_for_fewer_tokens() {
        assertThat(System.getenv("OPENAI_API_KEY"))
                .as("OPENAI_API_KEY is set: a real model's answers are not asserted")
                .isNull();

        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        LongChat.run(new PrintStream(printed, true, StandardCharsets.UTF_8));
        String text = printed.toString(StandardCharsets.UTF_8);

        assertThat(text)
                .contains("The history keeps 121 messages", "[Summary of the earlier conversation] My name is Ada.")
                .doesNotContain("Tell me something about yourself")
                .endsWith("model> Your name is Ada. You keep bees. You have a small garden behind the house."
                        + System.lineSeparator());
        Matcher saved =
                Pattern.compile("(\\d+) tokens of the past.*: (\\d+) saved").matcher(text);
        assertThat(saved.find()).isTrue();
        assertThat(Double.parseDouble(saved.group(2)) / Double.parseDouble(saved.group(1)))
                .isGreaterThan(0.4);
    }
}
