package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The versions that the documents name are those that something runs with. */
class VersionsTest {

    private static final Path COMPATIBILITY = Path.of("src/docs/compatibility.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ([^|]+) \\| (\\d[^|]*) \\| [^|]+ \\|$");

    @Test
    void the_page_names_the_versions_that_the_script_runs() throws IOException {
        String supported = Files.readString(COMPATIBILITY).split("## Which versions are tested\\?")[1];
        List<String> named = ROW.matcher(supported)
                .results()
                .map(row -> row.group(1) + ";" + row.group(2))
                .toList();

        assertThat(named)
                .containsExactlyElementsOf(
                        rows().stream().map(row -> row[0] + ";" + row[1]).toList());
        assertThat(Files.readString(Path.of(".ci/run"))).contains("\nsrc/release/versions.sh\n");
    }

    @Test
    void a_row_without_a_command_has_a_version_of_the_build() throws IOException {
        String pom = Files.readString(Path.of("pom.xml"));

        assertThat(rows())
                .filteredOn(row -> row[2].equals("verify"))
                .isNotEmpty()
                .allMatch(row -> pom.contains(">" + row[1] + "</"));
    }

    @Test
    void a_command_runs_with_the_version_of_its_row() throws IOException {
        assertThat(rows())
                .filteredOn(row -> !row[2].equals("verify"))
                .isNotEmpty()
                .allMatch(row -> row[2].contains("version=VERSION"));
    }

    private static List<String[]> rows() throws IOException {
        return Files.readAllLines(Path.of("src/release/versions.csv")).stream()
                .skip(1)
                .map(line -> line.split(";"))
                .flatMap(row -> Stream.of(row[1].split(" ")).map(version -> new String[] {row[0], version, row[2]}))
                .toList();
    }
}
