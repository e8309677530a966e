package io.github.keepsake4j.component;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.testing.WordCounter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The JSON of hosts stays as it is: each input of the golden file is followed by its output. Lines are only added. */
class MemoryComponentGoldenTest {

    @Test
    void version_1_is_read_and_written() throws IOException {
        List<String> lines = lines();
        try (MemoryComponent component = component()) {
            for (int i = 0; i < lines.size(); i += 2) {
                assertThat(component.run(lines.get(i)))
                        .as("output of line %d", i + 1)
                        .isEqualTo(lines.get(i + 1));
            }
        }
    }

    static MemoryComponent component() {
        return MemoryComponent.builder()
                .backend("in_memory", InMemoryMessageLog::new)
                .tokenCountEstimator(new WordCounter())
                .summarizer((previous, messages) -> "They spoke of the weather.")
                .executor(Runnable::run)
                .build();
    }

    private static List<String> lines() throws IOException {
        try (InputStream in = MemoryComponentGoldenTest.class.getResourceAsStream("golden-v1.jsonl")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        }
    }
}
