package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MadeMemoriesTest {

    @TempDir
    Path directory;

    @Test
    void memories_are_made_read_and_searched() throws IOException {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        MadeMemories.run(new PrintStream(printed, true, StandardCharsets.UTF_8), directory);
        String text = printed.toString(StandardCharsets.UTF_8);

        assertThat(text.lines())
                .contains("The conversation:", "  m1 My name is Ada. I keep bees.", "  m8 A honey cake.")
                .contains(
                        "8 messages, of which the newest 3 are left alone: 1 chunk, 2 facts",
                        "A chunk is a text about a part of the conversation. RecentMemory shows the newest chunks.",
                        "RecentMemory:    Ada keeps bees. Her left hive weighs 31 kilograms. She must not eat nuts.",
                        "FullChatSummary: Ada keeps bees and must not eat nuts.",
                        "Search:          Ada keeps bees; the left hive weighs 31 kilograms.",
                        "  made from [m1, m2, m3, m4, m5], trusted as ASSISTANT");
    }
}
