package com.example.league;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * The page of a run, and its samples.
 *
 * @param samples what was measured
 * @param machine what was run on what
 * @param seconds how long it took
 */
record Report(List<Sample> samples, List<String> machine, long seconds) {

    /** A duration of so many milliseconds has one decimal. */
    private static final int LONG_MILLIS = 10;

    private static final String WHOLE = "1,000";

    void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.write(
                folder.resolve("league.csv"),
                Stream.concat(
                                Stream.of("what;case;subject;samples"),
                                samples.stream().map(Sample::csv))
                        .toList());
        Files.writeString(folder.resolve("league.md"), markdown());
    }

    private String markdown() {
        List<String> lines = new ArrayList<>();
        lines.add("# Chat memories compared");
        lines.add("");
        machine.forEach(line -> lines.add("- " + line));
        lines.add("- The run took " + seconds + " s");
        lines.addAll(Words.INTRODUCTION);
        times(lines, "## A turn without a network, in ms", TurnCosts.TIME);
        times(lines, "## A turn with 1 ms of network, in ms", TurnCosts.DELAYED);
        times(lines, "## Other turns without a network, in ms", OtherTurns.TABLE);
        lines.addAll(Words.OTHERS);
        lines.addAll(Words.COUNTS);
        for (String table : List.of(
                TurnCosts.STATEMENTS,
                TurnCosts.ROUND_TRIPS,
                TurnCosts.ROWS,
                TurnCosts.TRAFFIC,
                TurnCosts.LOG,
                TurnCosts.ALLOCATED,
                Retained.TABLE)) {
            lines.addAll(List.of("", "### " + capital(table), ""));
            table(lines, table, figure(table), Report::count);
        }
        lines.addAll(Words.FRAMEWORKS);
        frameworks(lines);
        lines.addAll(Words.TRUTH);
        for (String table : List.of(Truth.KEPT, Truth.THREADS, Kills.TABLE)) {
            lines.addAll(List.of("", "### " + capital(table), ""));
            truth(lines, table);
        }
        lines.addAll(List.of("", "## The lines of README", ""));
        lines.addAll(readme());
        return String.join("\n", lines) + "\n";
    }

    /** After a checkpoint, the write-ahead log also takes whole pages, which are not the turn's. */
    private static ToLongFunction<Measure> figure(String table) {
        return table.equals(TurnCosts.LOG) ? Measure::least : Measure::median;
    }

    private void times(List<String> lines, String title, String table) {
        lines.addAll(List.of("", title, "", "Medians:", ""));
        table(lines, table, Measure::median, Report::millis);
        lines.addAll(List.of("", "95 of 100 turns take at most:", ""));
        table(lines, table, Measure::p95, Report::millis);
    }

    /** Adds a table with a column for each subject, and the ratio to the best other. */
    private void table(List<String> lines, String table, ToLongFunction<Measure> figure, LongFunction<String> format) {
        List<Subject> columns = Stream.of(Subject.values())
                .filter(each -> each.place() != Subject.Place.HEAP)
                .filter(each -> samples.stream()
                        .anyMatch(one ->
                                one.table().equals(table) && one.subject().equals(each.title())))
                .toList();
        head(lines, columns, List.of("ratio to the best other"));
        for (String row : rows(table)) {
            StringBuilder line = new StringBuilder("| " + row);
            for (Subject subject : columns) {
                line.append(" | ").append(format.apply(figure.applyAsLong(find(table, row, subject))));
            }
            lines.add(line + " | " + ratio(table, row, figure) + " |");
        }
    }

    private void truth(List<String> lines, String table) {
        List<Subject> columns = Stream.of(Subject.values())
                .filter(each -> each.place() != Subject.Place.HEAP)
                .toList();
        head(lines, columns, List.of());
        for (String row : rows(table)) {
            StringBuilder line = new StringBuilder("| " + row);
            columns.forEach(each ->
                    line.append(" | ").append(count(find(table, row, each).median())));
            lines.add(line + " |");
        }
    }

    private void frameworks(List<String> lines) {
        List<Subject> columns = Stream.of(Subject.values())
                .filter(each -> each.place() == Subject.Place.HEAP)
                .toList();
        lines.add("");
        head(
                lines,
                columns,
                columns.stream().map(each -> each.title() + ", bytes").toList());
        for (String row : rows(TurnCosts.TIME)) {
            StringBuilder line = new StringBuilder("| " + row);
            columns.forEach(each -> line.append(" | ")
                    .append(millis(find(TurnCosts.TIME, row, each).median())));
            columns.forEach(each -> line.append(" | ")
                    .append(count(find(TurnCosts.ALLOCATED, row, each).median())));
            lines.add(line + " |");
        }
    }

    private static void head(List<String> lines, List<Subject> columns, List<String> more) {
        List<String> cells = new ArrayList<>(List.of("case"));
        columns.forEach(each -> cells.add(each.title()));
        cells.addAll(more);
        lines.add("| " + String.join(" | ", cells) + " |");
        lines.add("|" + "---|".repeat(cells.size()));
    }

    /** Returns README's table: a heading, and five rows. The last one is the worst of all times. */
    private List<String> readme() {
        String tools = WHOLE + ", two tools";
        if (!rows(TurnCosts.TIME).contains(tools)) {
            return List.of();
        }
        String table = Stream.of(TurnCosts.TIME, OtherTurns.TABLE)
                .max(Comparator.comparingDouble(each -> quotient(each, worst(each), Measure::median)))
                .orElseThrow();
        List<Subject> columns = List.of(Subject.LANGCHAIN4J, Subject.SPRING, Subject.SESSION, Subject.KEEPSAKE);
        List<String> lines = new ArrayList<>();
        lines.add(
                "| | " + String.join(" | ", columns.stream().map(Subject::title).toList()) + " |");
        lines.add("|" + "---|".repeat(columns.size() + 1));
        lines.add(line("messages kept, of 90 added with a window of 20", columns, Truth.KEPT, "stored"));
        lines.add(line("messages kept, of 800 added to one memory by 8 threads", columns, this::ofReturned));
        lines.add(line(inWords(tools) + "; 1 ms of network", columns, TurnCosts.DELAYED, tools));
        lines.add(line("round trips of this turn", columns, TurnCosts.ROUND_TRIPS, tools));
        lines.add(line(
                "our worst case by ratio of medians: " + inWords(worst(table)) + ", no network",
                columns,
                table,
                worst(table)));
        return lines;
    }

    /** Returns how many messages were stored, and if not all turns returned, how many messages were in those that did. */
    private String ofReturned(Subject subject) {
        long returned = returned(subject);
        String stored = cell(Truth.THREADS, "of these stored", subject);
        return returned < returned(Subject.KEEPSAKE) ? stored + " of " + count(returned) : stored;
    }

    private long returned(Subject subject) {
        return find(Truth.THREADS, "messages of turns that returned", subject).median();
    }

    private String worst(String table) {
        return rows(table).stream()
                .max(Comparator.comparingDouble(row -> quotient(table, row, Measure::median)))
                .orElseThrow();
    }

    private String line(String what, List<Subject> columns, String table, String row) {
        return line(what, columns, each -> cell(table, row, each));
    }

    private static String line(String what, List<Subject> columns, Function<Subject, String> cell) {
        return "| " + what + " | "
                + String.join(" | ", columns.stream().map(cell).toList()) + " |";
    }

    /** Returns a count, or the time that half of the turns take at most and the one of 95 in 100. */
    private String cell(String table, String row, Subject subject) {
        if (subject != Subject.KEEPSAKE && rivals(row).noneMatch(subject::equals)) {
            return "–";
        }
        Measure found = find(table, row, subject);
        return table.startsWith(TurnCosts.TIME)
                ? millis(found.median()) + " / " + millis(found.p95()) + " ms"
                : count(found.median());
    }

    /** Says a row, such as {@code 20 of 10,000, plain}, in words. */
    private static String inWords(String row) {
        String[] parts = row.split(", (?=plain|two)");
        if (parts.length == 1) {
            return row + "; a window of 20";
        }
        return (parts[1].equals("plain") ? "a plain turn" : "a turn with " + parts[1]) + " that shows " + parts[0]
                + " messages";
    }

    /** Returns the others that do the same work: Spring AI's JDBC repository does not store what tools say. */
    private static Stream<Subject> rivals(String row) {
        return Stream.of(Subject.LANGCHAIN4J, Subject.SPRING, Subject.SESSION)
                .filter(each -> each != Subject.SPRING || !row.endsWith("two tools"));
    }

    private Subject best(String table, String row, ToLongFunction<Measure> figure) {
        return rivals(row)
                .min(Comparator.comparingLong(each -> figure.applyAsLong(find(table, row, each))))
                .orElseThrow();
    }

    private double quotient(String table, String row, ToLongFunction<Measure> figure) {
        long ours = figure.applyAsLong(find(table, row, Subject.KEEPSAKE));
        long other = figure.applyAsLong(find(table, row, best(table, row, figure)));
        return (double) ours / Math.max(1, other);
    }

    /** Returns nothing for a heap that holds nearly nothing of the best. */
    private String ratio(String table, String row, ToLongFunction<Measure> figure) {
        if (table.equals(Retained.TABLE)) {
            return "–";
        }
        return String.format(Locale.ROOT, "%.2f", quotient(table, row, figure));
    }

    private List<String> rows(String table) {
        return samples.stream()
                .filter(each -> each.table().equals(table))
                .map(Sample::row)
                .distinct()
                .toList();
    }

    private Measure find(String table, String row, Subject subject) {
        return samples.stream()
                .filter(each -> each.table().equals(table)
                        && each.row().equals(row)
                        && each.subject().equals(subject.title()))
                .map(Sample::values)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(table + ", " + row + ", " + subject));
    }

    private static String capital(String text) {
        return Character.toUpperCase(text.charAt(0)) + text.substring(1);
    }

    private static String millis(long micros) {
        return String.format(Locale.ROOT, micros < LONG_MILLIS * 1_000 ? "%.2f" : "%,.1f", micros / 1_000.0);
    }

    private static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}
