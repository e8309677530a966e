package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MadeMemoriesTest {

    @TempDir
    Path directory;

    @Test
    void memories_are_made_as_readme_shows() throws IOException {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        MadeMemories.run(new PrintStream(printed, true, StandardCharsets.UTF_8), directory);
        String text = printed.toString(StandardCharsets.UTF_8);

        assertThat(Files.readString(Path.of("README.md"))).contains(text.replace(System.lineSeparator(), "\n"));
    }
}
