package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.metrics.MicrometerMetrics;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks the README: its example is compiled and run, and its test command is the one that CI runs. */
class ReadmeTest {

    @TempDir
    Path directory;

    @Test
    void the_example_runs() {
        assertThat(ReadmeExample.run(new ScriptedModel(), directory)).isEqualTo("2 seen, 2 kept, 1 branch");
    }

    @Test
    void the_examples_are_the_ones_that_run() throws IOException {
        String source = Files.readString(Path.of("samples/io/github/keepsake4j/samples/ReadmeExample.java"));
        String[] parts = source.split("// README begins\n");
        assertThat(parts).hasSize(6);
        for (String part : List.of(parts).subList(1, parts.length)) {
            String example = part.substring(0, part.indexOf("        // README ends"))
                    .stripTrailing()
                    .stripIndent()
                    .replace("directory.resolve(\"chat.db\")", "Path.of(\"chat.db\")");

            assertThat(Files.readString(Path.of("README.md"))).contains("```java\n" + example + "\n```");
        }
    }

    @Test
    void every_metric_is_in_the_table() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        MicrometerMetrics metrics = new MicrometerMetrics(registry);
        for (Method event : Metrics.class.getMethods()) {
            List<Object> arguments = new ArrayList<>();
            for (Class<?> type : event.getParameterTypes()) {
                arguments.add(type == String.class ? "word" : type == int.class ? (Object) 1 : (Object) 1L);
            }
            event.invoke(metrics, arguments.toArray());
        }
        List<String> counted = registry.getMeters().stream()
                .map(meter -> meter.getId().getName() + " "
                        + meter.getId().getTags().stream().map(Tag::getKey).collect(Collectors.joining(", ")))
                .toList();

        List<String> named = Pattern.compile("(?m)^\\| `(keepsake\\.[a-z.]+)` \\| ([a-z, ]+) \\|")
                .matcher(Files.readString(Path.of("README.md")))
                .results()
                .map(row -> row.group(1) + " " + row.group(2))
                .toList();
        assertThat(named).containsExactlyInAnyOrderElementsOf(counted);
    }

    @Test
    void the_test_command_is_what_ci_runs() throws IOException {
        assertThat(Files.readString(Path.of("README.md"))).contains("\nmvn -B -ntp verify ");
        assertThat(Files.readString(Path.of(".ci/run"))).contains("\nmvn -B -ntp verify\n");
    }
}
