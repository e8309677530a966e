package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** README, the page of the league and its samples say the same. */
class LeagueTest {

    private static final Path FOLDER = Path.of("src/docs/benchmarks");
    private static final Path SAMPLES = FOLDER.resolve("league.csv");
    private static final long MOST_BYTES = 300_000;
    private static final Pattern NAMED = Pattern.compile("spring-ai-session (\\d[\\d.]*\\d)");

    /** The page's tables of medians by their headings, as the samples name them. */
    private static final Map<String, String> TABLES = Map.of(
            "## A turn without a network, in ms", "microseconds",
            "## A turn with 1 ms of network, in ms", "microseconds with 1 ms of network",
            "## Other turns without a network, in ms", "microseconds of other turns",
            "### Statements", "statements",
            "### Round trips", "round trips",
            "### Bytes of write-ahead log", "bytes of write-ahead log",
            "### Allocated bytes", "allocated bytes",
            "### 8 threads on one conversation", "8 threads on one conversation",
            "### After kills", "after kills");

    @Test
    void readme_has_the_lines_of_the_league() throws IOException {
        List<String> lines = tableAfter(Files.readAllLines(FOLDER.resolve("league.md")), "## The lines of README");
        assertThat(lines).as("a head and five lines").hasSize(7);
        assertThat(Files.readAllLines(Path.of("README.md"))).containsSequence(lines);
    }

    /** A subject's name has a version, which is the one that was measured. */
    @Test
    void readme_names_the_versions_that_were_measured() throws IOException {
        String page = Files.readString(FOLDER.resolve("league.md"));
        List<String> named = NAMED.matcher(Files.readString(Path.of("README.md")))
                .results()
                .map(version -> "spring-ai-session-jdbc-" + version.group(1))
                .toList();
        assertThat(named).isNotEmpty().allMatch(page::contains);
    }

    @Test
    void the_page_has_the_medians_of_the_samples() throws IOException {
        Map<String, Long> medians = medians();
        List<String> page = Files.readAllLines(FOLDER.resolve("league.md"));
        TABLES.forEach((heading, what) -> {
            List<String> table = tableAfter(page, heading);
            List<String> subjects = cells(table.get(0));
            assertThat(table).as(heading).hasSizeGreaterThan(2);
            for (String line : table.subList(2, table.size())) {
                List<String> row = cells(line);
                for (int at = 1; at < row.size(); at++) {
                    Long median = medians.get(String.join(";", what, row.get(0), subjects.get(at)));
                    if (!subjects.get(at).startsWith("ratio")) {
                        assertThat(row.get(at))
                                .as(heading + line)
                                .isEqualTo(format(what).apply(median));
                    }
                }
            }
        });
    }

    @Test
    void the_samples_are_small_enough_for_the_repository() throws IOException {
        assertThat(Files.size(SAMPLES)).isLessThan(MOST_BYTES);
    }

    private static Map<String, Long> medians() throws IOException {
        Map<String, Long> medians = new LinkedHashMap<>();
        for (String line : Files.readAllLines(SAMPLES).stream().skip(1).toList()) {
            int end = line.lastIndexOf(';');
            long[] samples = Arrays.stream(line.substring(end + 1).split(","))
                    .mapToLong(Long::parseLong)
                    .sorted()
                    .toArray();
            boolean least = line.startsWith("bytes of write-ahead log;");
            medians.put(line.substring(0, end), samples[least ? 0 : samples.length / 2]);
        }
        return medians;
    }

    /** Times are in milliseconds, with one decimal from ten on. */
    private static LongFunction<String> format(String what) {
        return what.startsWith("microseconds")
                ? micros -> String.format(Locale.ROOT, micros < 10_000 ? "%.2f" : "%,.1f", micros / 1_000.0)
                : value -> String.format(Locale.ROOT, "%,d", value);
    }

    private static List<String> tableAfter(List<String> page, String heading) {
        return page.stream()
                .dropWhile(line -> !line.equals(heading))
                .dropWhile(line -> !line.startsWith("|"))
                .takeWhile(line -> line.startsWith("|"))
                .toList();
    }

    private static List<String> cells(String line) {
        return Stream.of(line.substring(1).split("\\|")).map(String::strip).toList();
    }
}
