package io.github.keepsake4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What {@link House#sizes} counts stays below the ceilings of {@code sizes.properties}, and not far below them. */
class SizesTest {

    private static final String RAISED = "raised.";
    private static final Pattern RAISE = Pattern.compile("(\\d+) by decision (\\d{3})");

    @Test
    void each_size_is_just_below_its_ceiling() throws Exception {
        Path compiled = Path.of(Keepsake.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        assertThat(faults(House.sizes(Path.of(""), compiled), ceilings())).isEmpty();
    }

    @Test
    void what_is_above_its_ceiling_or_far_below_it_is_found() throws IOException {
        Map<String, Integer> sizes = Map.of("lines.a", 1_001, "pom.profiles", 8, "readme.lines", 140, "words", 14_001);
        assertThat(faults(
                        sizes, Map.of("lines.a", "1050", "pom.profiles", "8", "readme.lines", "145", "words", "14700")))
                .isEmpty();
        assertThat(faults(
                        sizes, Map.of("lines.a", "1000", "pom.profiles", "7", "readme.lines", "150", "words", "14800")))
                .containsExactly(
                        "lines.a is 1001, above 1000: shrink it, or add a line raised.lines.a=1050 by decision NNN",
                        "pom.profiles is 8, above 7: shrink it, or add a line raised.pom.profiles=8 by decision NNN",
                        "readme.lines is 140, far below 150: lower it, readme.lines=140",
                        "words is 14001, far below 14800: lower it, words=14050");
    }

    @Test
    void a_ceiling_is_raised_by_a_decision_and_never_that_of_all_lines() throws IOException {
        Map<String, Integer> sizes = Map.of("lines", 2_000, "lines.a", 1_400);
        assertThat(faults(sizes, Map.of("lines", "2000", "lines.a", "1000", "raised.lines.a", "1400 by decision 001")))
                .isEmpty();
        assertThat(faults(sizes, Map.of("lines", "2000", "lines.a", "1000", "raised.lines.a", "1400 by decision 999")))
                .containsExactly("raised.lines.a names no decision: 1400 by decision 999");
        assertThat(faults(sizes, Map.of("lines", "1500", "lines.a", "1400", "raised.lines", "2000 by decision 001")))
                .containsExactly("raised.lines: no decision raises the ceiling of all lines");
    }

    @Test
    void each_size_has_a_ceiling_and_each_ceiling_a_size() throws IOException {
        assertThat(faults(
                        Map.of("lines.a", 1, "lines.b", 1), Map.of("lines.a", "50", "lines.c", "50", "raised.d", "1")))
                .containsExactly(
                        "lines.b has no ceiling: lines.b=50",
                        "lines.c is nothing that is counted: remove it",
                        "raised.d is nothing that is counted: remove it");
    }

    private static List<String> faults(Map<String, Integer> sizes, Map<String, String> lines) throws IOException {
        List<String> faults = new ArrayList<>();
        for (var size : new TreeMap<>(sizes).entrySet()) {
            String name = size.getKey();
            int least = least(name, size.getValue());
            String raised = lines.get(RAISED + name);
            if (!lines.containsKey(name)) {
                faults.add(name + " has no ceiling: " + name + "=" + least);
                continue;
            }
            int ceiling = Integer.parseInt(lines.get(name));
            if (raised != null) {
                Matcher raise = RAISE.matcher(raised);
                if (name.equals("lines")) {
                    faults.add(RAISED + name + ": no decision raises the ceiling of all lines");
                    continue;
                }
                if (!raise.matches() || !isDecision(raise.group(2))) {
                    faults.add(RAISED + name + " names no decision: " + raised);
                    continue;
                }
                ceiling = Integer.parseInt(raise.group(1));
            }
            if (size.getValue() > ceiling) {
                faults.add("%s is %d, above %d: shrink it, or add a line %s%1$s=%d by decision NNN"
                        .formatted(name, size.getValue(), ceiling, RAISED, least));
            } else if (least < ceiling && size.getValue() < ceiling * 0.95) {
                faults.add(
                        "%s is %d, far below %d: lower it, %1$s=%d".formatted(name, size.getValue(), ceiling, least));
            }
        }
        for (String name : new TreeMap<>(lines).keySet()) {
            if (!sizes.containsKey(name.startsWith(RAISED) ? name.substring(RAISED.length()) : name)) {
                faults.add(name + " is nothing that is counted: remove it");
            }
        }
        return faults;
    }

    /** The lowest ceiling of a size: lines of code and words are rounded up to fifty, the others are exact. */
    private static int least(String name, int size) {
        return name.matches("(lines|scripts|words).*") ? (size + 49) / 50 * 50 : size;
    }

    private static boolean isDecision(String number) throws IOException {
        try (Stream<Path> decisions = Files.list(Path.of("src/docs/decisions"))) {
            return decisions.anyMatch(
                    decision -> decision.getFileName().toString().startsWith(number + "-"));
        }
    }

    private static Map<String, String> ceilings() throws IOException {
        Properties file = new Properties();
        try (InputStream in = SizesTest.class.getResourceAsStream("/sizes.properties")) {
            file.load(in);
        }
        Map<String, String> ceilings = new TreeMap<>();
        file.stringPropertyNames().forEach(name -> ceilings.put(name, file.getProperty(name)));
        return ceilings;
    }
}
