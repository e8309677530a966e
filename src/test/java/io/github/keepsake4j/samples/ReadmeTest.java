package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.House;
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
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * README and the guide are true: links and anchors lead somewhere, coordinates are those of the build, and the
 * test command is the one that CI runs. {@link DocumentCodeTest} runs the code.
 */
class ReadmeTest {

    private static final Path README = Path.of("README.md");
    private static final Path GUIDE = Path.of("src/docs/guide");
    private static final Path SAMPLES = Path.of("samples");
    private static final Path SPRING = Path.of("samples/spring");
    private static final Path QUARKUS = Path.of("samples/quarkus");

    private static final int MOST_COLUMNS = 100;

    private static final Pattern LEFT_OUT = Pattern.compile("\\| *([A-Z]+\\d*) *(?=\\|)");
    private static final Pattern PROPERTIES = Pattern.compile("(?ms)^```properties\n(.*?)^```$");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    private static final Pattern ANCHOR = Pattern.compile("\\]\\(([^)#\\s:]*)#([^)\\s]+)\\)");
    private static final Pattern PROPERTY = Pattern.compile("<([a-z][\\w.-]*\\.version)>([^<]+)</");
    private static final Pattern DEPENDENCY = Pattern.compile(
            "<groupId>([^<]+)</groupId>\\s*<artifactId>([^<]+)</artifactId>\\s*<version>([^<]+)</version>");
    private static final Pattern SHORT_FORM =
            Pattern.compile("\\b((?:[a-z0-9-]+\\.)+[a-z0-9-]+:[a-z0-9-]+:\\d[\\w.-]*\\w)");
    private static final Pattern LINK = Pattern.compile("(?:\\]\\(|src(?:set)?=\")([^)#\\s\"]+)");

    @Test
    void the_project_for_spring_boot_has_the_properties_of_readme() throws IOException {
        String properties = Files.readString(SPRING.resolve("src/main/resources/application.properties"));
        assertThat(properties).contains(parts(PROPERTIES, README).get(0));
    }

    /** A reader copies them, so they are those that the tests ran with. */
    @Test
    void the_coordinates_of_all_documents_are_those_of_the_build() throws IOException {
        StringBuilder poms = new StringBuilder();
        for (Path project : List.of(Path.of(""), SPRING, QUARKUS)) {
            poms.append(Files.readString(project.resolve("pom.xml")));
        }
        String pom = resolved(poms.toString());
        Set<String> built = coordinates(pom);
        for (Path document : documents()) {
            assertThat(coordinates(Files.readString(document)))
                    .as(document.toString())
                    .isSubsetOf(built);
        }
    }

    /** Finds what is written as XML and as Gradle's short form. */
    private static Set<String> coordinates(String text) {
        Set<String> found = new TreeSet<>();
        DEPENDENCY
                .matcher(text)
                .results()
                .forEach(each -> found.add(each.group(1) + ":" + each.group(2) + ":" + each.group(3)));
        SHORT_FORM.matcher(text).results().forEach(each -> found.add(each.group(1)));
        return found;
    }

    /** Puts the values of the properties in place, and adds the versions that LangChain4j's and AWS' BOMs manage. */
    private static String resolved(String pom) {
        String text = pom;
        for (MatchResult property : PROPERTY.matcher(pom).results().toList()) {
            text = text.replace("${" + property.group(1) + "}", property.group(2));
        }
        String langChain4j = value(pom, "langchain4j.version");
        String aws = value(pom, "awssdk.version");
        return text
                + "<groupId>dev.langchain4j</groupId><artifactId>langchain4j-open-ai</artifactId><version>"
                + langChain4j
                + "</version><groupId>software.amazon.awssdk</groupId><artifactId>s3</artifactId><version>" + aws
                + "</version><groupId>software.amazon.awssdk</groupId><artifactId>apache5-client</artifactId><version>"
                + aws
                + "</version>";
    }

    private static String value(String pom, String property) {
        return PROPERTY.matcher(pom)
                .results()
                .filter(each -> each.group(1).equals(property))
                .findFirst()
                .orElseThrow()
                .group(2);
    }

    /** A terminal and a review show them as they are. Rows of tables and code cannot be wrapped. */
    @Test
    void the_lines_of_prose_fit_into_a_hundred_columns() throws IOException {
        List<Path> wrapped = new ArrayList<>(documents());
        wrapped.add(Path.of("CONTRIBUTING.md"));
        wrapped.add(Path.of("SECURITY.md"));
        for (Path document : wrapped) {
            assertThat(House.prose(document).lines())
                    .as(document.toString())
                    .filteredOn(line -> !line.startsWith("|"))
                    .allMatch(line -> line.codePointCount(0, line.length()) <= MOST_COLUMNS);
        }
    }

    @Test
    void readme_links_every_page_of_the_guide_and_every_link_leads_to_a_file() throws IOException {
        assertThat(links(README)).containsAll(documents().subList(1, documents().size()));
        for (Path document : documents()) {
            assertThat(links(document)).as("links of %s", document).allMatch(Files::exists);
            for (MatchResult link :
                    ANCHOR.matcher(Files.readString(document)).results().toList()) {
                Path page = link.group(1).isEmpty() ? document : document.resolveSibling(link.group(1));
                assertThat(anchors(page))
                        .as("anchors of %s in %s", page, document)
                        .contains(link.group(2));
            }
        }
    }

    /** The names of a page's headings, as forges make them. */
    private static List<String> anchors(Path page) throws IOException {
        return HEADING.matcher(House.prose(page))
                .results()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .toList();
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
                .matcher(Files.readString(GUIDE.resolve("write-your-own.md")))
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

    @Test
    void the_page_of_the_samples_has_each_one_with_a_command_that_ci_runs() throws IOException {
        String page = Files.readString(SAMPLES.resolve("README.md"));
        String ci = Files.readString(Path.of(".ci/run"));
        assertThat(ci).contains("samples/README.md");
        try (Stream<Path> all = Files.walk(SAMPLES)) {
            for (Path file :
                    all.filter(each -> !each.toString().contains("target")).toList()) {
                String name = SAMPLES.relativize(file).toString();
                if (name.startsWith("io/")
                        && name.endsWith(".java")
                        && Files.readString(file).contains("void main(")) {
                    assertThat(page).contains("](" + name + ")");
                }
                if (file.endsWith("pom.xml")) {
                    assertThat(page)
                            .contains("](" + file.getParent().getFileName() + ")")
                            .contains("-f " + file);
                    assertThat(ci).contains("-f " + file);
                }
            }
        }
        for (Path program : links(SAMPLES.resolve("README.md"))) {
            String main = program.getFileName().toString().replace(".java", "");
            if (program.toString().endsWith(".java") && !main.equals("Quickstart")) {
                assertThat(page).contains("`mvn -q -Pchat -Dexec.mainClass=io.github.keepsake4j.samples." + main + "`");
            }
            assertThat(program).exists();
        }
        assertThat(page).contains("`mvn -q -Pchat`");
    }

    /** A figure that is to be measured is written so while a page is made. */
    @Test
    void no_figure_of_a_table_is_left_out() throws IOException {
        for (Path document : documents()) {
            assertThat(parts(LEFT_OUT, document)).as(document.toString()).isEmpty();
        }
    }

    /** With a parameter that is the template, an AI service of LangChain4j reads a user's braces as variables. */
    @Test
    void services_of_documents_and_samples_read_the_braces_of_users_as_variables() throws IOException {
        List<Path> files = new ArrayList<>(documents());
        try (Stream<Path> samples = Files.walk(Path.of("samples"))) {
            samples.filter(file -> file.toString().endsWith(".java")).forEach(files::add);
        }
        // Quarkus sends a parameter as it is.
        files.removeIf(file -> file.toString().contains("quarkus"));
        for (Path file : files) {
            assertThat(Files.readString(file)).as(file.toString()).doesNotContainPattern("UserMessage String \\w+[,)]");
        }
        assertThat(files).hasSizeGreaterThan(20);
    }

    /** README first, then the pages of the guide. */
    static List<Path> documents() throws IOException {
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
