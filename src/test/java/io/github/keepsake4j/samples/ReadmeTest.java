package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.model.chat.ChatModel;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.metrics.MicrometerMetrics;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * README and the guide are true: their Java code is compiled and run, their links lead to files, and the test command is
 * the one that CI runs.
 */
class ReadmeTest {

    private static final Path README = Path.of("README.md");
    private static final Path GUIDE = Path.of("src/docs/guide");
    private static final Path SPRING = Path.of("samples/spring");
    private static final Path SAMPLES = Path.of("samples/io/github/keepsake4j/samples");

    /** The classes that hold the documents' code. This test runs them, so no other class counts. */
    private static final Map<String, BiFunction<ChatModel, Path, String>> EXAMPLES = Map.of(
            "ReadmeExample", ReadmeExample::run, "GuideExample", GuideExample::run, "CdiExample", CdiExample::run);

    private static final Pattern MARKED = Pattern.compile("(?ms)^ *// example begins\n(.*?)^ *// example ends$");
    private static final Pattern JAVA_BLOCK =
            Pattern.compile("(?msi)^ *(?:```|~~~) *java\\b[^\n]*\n(.*?)^ *(?:```|~~~)$");
    private static final Pattern LEFT_OUT = Pattern.compile("\\| *([A-Z]+\\d*) *(?=\\|)");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]+)(?:#[^)]*)?\\)");

    @TempDir
    Path directory;

    @Test
    void the_examples_run() throws IOException {
        Map<String, String> results = new HashMap<>();
        for (String name : EXAMPLES.keySet()) {
            Path own = Files.createDirectory(directory.resolve(name));
            results.put(name, EXAMPLES.get(name).apply(new ScriptedModel(), own));
        }

        assertThat(results)
                .containsEntry("ReadmeExample", "before: 20 shown, 20 stored; after: 20 shown, 120 in the history")
                .containsEntry("GuideExample", "all pages")
                .containsEntry("CdiExample", "alice has a memory");
    }

    @Test
    void every_java_block_is_part_of_an_example_and_every_example_is_in_a_document() throws IOException {
        List<String> examples = new ArrayList<>();
        for (String name : EXAMPLES.keySet()) {
            for (String part : parts(MARKED, SAMPLES.resolve(name + ".java"))) {
                examples.add(part.replace("directory.resolve(", "Path.of(").replace("@CdiExample.", "@"));
            }
        }
        examples.addAll(parts(MARKED, SAMPLES.resolve("SpringBeans.java")));
        String service = Files.readString(SPRING.resolve("src/main/java/com/example/chat/Assistant.java"));
        examples.add(service.substring(service.indexOf("@AiService")).strip());
        List<String> shown = new ArrayList<>();
        for (Path document : documents()) {
            List<String> blocks = parts(JAVA_BLOCK, document);
            assertThat(blocks)
                    .as("Java code in %s that is in no example that runs", document)
                    .filteredOn(block -> !examples.contains(block))
                    .isEmpty();
            shown.addAll(blocks);
        }

        assertThat(examples)
                .as("examples that are in no document")
                .filteredOn(example -> !shown.contains(example))
                .isEmpty();
    }

    @Test
    void the_section_on_spring_boot_has_the_files_of_the_sample() throws IOException {
        String readme = Files.readString(README);
        String section = readme.substring(readme.indexOf("## Spring Boot"));
        String pom = Files.readString(SPRING.resolve("pom.xml")).replaceAll("(?m)^ +", "");
        String properties = Files.readString(SPRING.resolve("src/main/resources/application.properties"));
        // The first one is in another part of the file than the others, as its comment says.
        String dependencies = block("xml", section).replaceAll("(?m)^ +", "").replaceAll(" *<!--.*?-->", "");
        for (String dependency : dependencies.split("(?<=</dependency>)\n")) {
            assertThat(pom).contains(dependency);
        }
        assertThat(properties).contains(block("properties", section));
    }

    private static String block(String kind, String text) {
        int begin = text.indexOf("```" + kind + "\n") + kind.length() + 4;
        return text.substring(begin, text.indexOf("```", begin));
    }

    @Test
    void readme_links_every_page_of_the_guide_and_every_link_leads_to_a_file() throws IOException {
        assertThat(links(README)).containsAll(documents().subList(1, documents().size()));
        for (Path document : documents()) {
            assertThat(links(document)).as("links of %s", document).allMatch(Files::exists);
        }
    }

    @Test
    void every_metric_is_in_the_table() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        MicrometerMetrics metrics = new MicrometerMetrics(registry);
        for (Method event : Metrics.class.getMethods()) {
            if (!event.isDefault()) {
                continue;
            }
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
                .matcher(Files.readString(GUIDE.resolve("metrics.md")))
                .results()
                .map(row -> row.group(1) + " " + row.group(2))
                .toList();
        assertThat(named).containsExactlyInAnyOrderElementsOf(counted);
    }

    @Test
    void the_test_command_is_what_ci_runs() throws IOException {
        assertThat(Files.readString(README)).contains("\nmvn -B -ntp verify ");
        assertThat(Files.readString(Path.of(".ci/run"))).contains("\nmvn -B -ntp verify\n");
    }

    /** README first, then the pages of the guide. */
    /** A figure that is to be measured is written so while a page is made. */
    @Test
    void no_figure_of_a_table_is_left_out() throws IOException {
        for (Path document : documents()) {
            assertThat(parts(LEFT_OUT, document)).as(document.toString()).isEmpty();
        }
    }

    private static List<Path> documents() throws IOException {
        try (Stream<Path> pages = Files.list(GUIDE)) {
            return Stream.concat(
                            Stream.of(README),
                            pages.filter(page -> page.toString().endsWith(".md"))
                                    .sorted())
                    .toList();
        }
    }

    private static List<String> parts(Pattern pattern, Path file) throws IOException {
        return pattern.matcher(Files.readString(file))
                .results()
                .map(match -> match.group(1).stripTrailing().stripIndent())
                .toList();
    }

    /** The files that a document links. */
    private static List<Path> links(Path document) throws IOException {
        Path folder = document.toAbsolutePath().getParent();
        return LINK.matcher(Files.readString(document))
                .results()
                .map(match -> match.group(1))
                .filter(link -> !link.contains("://"))
                .map(link -> Path.of("")
                        .toAbsolutePath()
                        .relativize(folder.resolve(link).normalize()))
                .toList();
    }
}
