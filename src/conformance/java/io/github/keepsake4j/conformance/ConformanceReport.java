package io.github.keepsake4j.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The outcome of all checks on one subject.
 *
 * @param subject the subject's name
 * @param results a result for each check, by level and name
 */
public record ConformanceReport(String subject, List<Result> results) {

    /** What a check is about. A subject has the grade of a level if it fails no check of it and of the ones before. */
    public enum Level {
        /** One thread, one instance: what every caller of LangChain4j's interface relies on. */
        BASIC,
        /** Many threads of one process. */
        CONCURRENT,
        /** Other instances and processes, and processes that are killed. */
        DURABLE
    }

    /** Whether a check found what it asks for. */
    public enum Status {
        /** The subject does what is asked. */
        PASSED,
        /** It does not. */
        FAILED,
        /** It does not claim to, or the suite waives the check. */
        NOT_APPLICABLE
    }

    /**
     * The result of a check.
     *
     * @param check the check's name
     * @param level its level
     * @param status whether it passed
     * @param seen one line of what was seen
     */
    public record Result(String check, Level level, Status status, String seen) {}

    /** Copies the results. */
    public ConformanceReport {
        results = List.copyOf(results);
    }

    /**
     * Returns the grade: the highest level at which nothing failed and something passed, if that holds for the levels
     * below it too.
     *
     * @return the level's name in lower case, or "none"
     */
    public String grade() {
        String grade = "none";
        for (Level level : Level.values()) {
            List<Status> found = results.stream()
                    .filter(result -> result.level() == level)
                    .map(Result::status)
                    .toList();
            if (found.contains(Status.FAILED) || !found.contains(Status.PASSED)) {
                break;
            }
            grade = level.name().toLowerCase(java.util.Locale.ROOT);
        }
        return grade;
    }

    /**
     * Returns the names of the checks with a status.
     *
     * @param status the status
     * @return the names, by level and name
     */
    public List<String> checks(Status status) {
        return results.stream()
                .filter(result -> result.status() == status)
                .map(Result::check)
                .toList();
    }

    /**
     * Returns the report as text, a line for each check.
     *
     * @return lines, each with its end
     */
    public String text() {
        String lines = results.stream()
                .map(result -> "  %-6s  %s: %s%n".formatted(word(result.status()), result.check(), result.seen()))
                .collect(Collectors.joining());
        return summary() + System.lineSeparator() + lines;
    }

    /**
     * Returns the report as a section of a Markdown page, with a table.
     *
     * @return the section
     */
    public String markdown() {
        String rows = results.stream()
                .map(result -> "| %s | %s | %s | %s |\n"
                        .formatted(
                                result.level().name().toLowerCase(java.util.Locale.ROOT),
                                result.check().replace('_', ' '),
                                word(result.status()),
                                result.seen().replace("|", "\\|").replace("<", "&lt;")))
                .collect(Collectors.joining());
        return "## " + subject + "\n\n" + summary() + "\n\n| level | check | | seen |\n|---|---|---|---|\n" + rows;
    }

    /**
     * Writes reports to a Markdown file. Creates its folder.
     *
     * @param file the file, which is replaced
     * @param reports the reports
     * @throws IOException if the file cannot be written
     */
    public static void write(Path file, ConformanceReport... reports) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(
                file, Arrays.stream(reports).map(ConformanceReport::markdown).collect(Collectors.joining("\n")));
    }

    private String summary() {
        return "%s: grade %s, %d passed, %d failed, %d not applicable"
                .formatted(
                        subject,
                        grade(),
                        checks(Status.PASSED).size(),
                        checks(Status.FAILED).size(),
                        checks(Status.NOT_APPLICABLE).size());
    }

    private static String word(Status status) {
        return switch (status) {
            case PASSED -> "passed";
            case FAILED -> "FAILED";
            case NOT_APPLICABLE -> "n/a";
        };
    }
}
