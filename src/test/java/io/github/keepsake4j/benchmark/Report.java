package io.github.keepsake4j.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Markdown tables, and the samples behind them. */
final class Report {

    private final StringBuilder markdown = new StringBuilder();
    private final List<Measured> raw = new ArrayList<>();

    void text(String text) {
        markdown.append(text).append("\n\n");
    }

    void list(List<String> items) {
        items.forEach(item -> markdown.append("- ").append(item).append('\n'));
        markdown.append('\n');
    }

    void table(List<String> head, List<List<String>> rows) {
        row(head);
        row(head.stream().map(title -> "---").toList());
        rows.forEach(this::row);
        markdown.append('\n');
    }

    private void row(List<String> cells) {
        markdown.append("| ").append(String.join(" | ", cells)).append(" |\n");
    }

    /** Keeps the samples for the file of raw data. */
    Measured keep(Measured measured) {
        raw.add(measured);
        return measured;
    }

    static String millis(double micros) {
        return String.format(Locale.ROOT, "%.3f", micros / 1000);
    }

    static String ratio(double a, double b) {
        return String.format(Locale.ROOT, "%.2f", a / b);
    }

    String markdown() {
        return markdown.toString().stripTrailing() + "\n";
    }

    /** Writes the report and the samples under one name. */
    void write(Path directory, String name) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve(name + ".md"), markdown());
        Files.write(
                directory.resolve(name + ".csv"),
                raw.stream().map(Measured::raw).toList());
    }
}
