package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.transfer.MarkdownText.block;
import static io.github.keepsake4j.transfer.MarkdownText.code;
import static io.github.keepsake4j.transfer.MarkdownText.plain;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One memory as Markdown. Its messages are numbered from 1, in the order in which they were stored. */
final class MarkdownMemory {

    /** A branch as far as it was written. */
    private record Line(int number, String begin, long last) {}

    private final MessageLog log;
    private final MemoryKey key;
    private final Appendable out;
    private final BesideMessages beside;
    private final MemorySource source;

    /** The branches by their newest messages. */
    private final Map<String, Line> lines = new HashMap<>();

    private int begun;
    private long messages;

    MarkdownMemory(MessageLog log, MemoryKey key, BesideMessages beside, Appendable out) {
        this.log = log;
        this.key = key;
        this.beside = beside;
        this.out = out;
        this.source = new MemorySource(log, key, beside.summaries());
    }

    /** Writes the memory, and returns the number of its messages. */
    long write(Consumer<MemoryCopy.Progress> listener) throws IOException {
        boolean hasBranches = log.branches(key).size() > 1;
        head();
        try {
            source.<IOException>read(0, page -> {
                for (Moved message : page) {
                    write(message, hasBranches);
                }
                listener.accept(new MemoryCopy.Progress(key, messages, beside.messages()));
            });
            list("## Branches", branches());
            for (Summary summary : beside.summaries()) {
                paragraph("## Summary up to message " + number(summary.coversUpTo()));
                paragraph("*" + summary.createdAt() + " · model " + code(summary.model()) + " · in place of "
                        + summary.replacedMessages() + " messages*");
                paragraph(block(summary.text()));
            }
            return messages;
        } catch (UnreadableDataException e) {
            paragraph("---");
            paragraph("**The rest of this memory is damaged and cannot be read.**");
            throw e;
        }
    }

    /** Writes the fields of the memory's line in an export. */
    private void head() throws IOException {
        String title = beside.title();
        JsonObject fields = Lines.memoryFields(key, beside);
        fields.keySet().removeAll(Set.of("kind", "title"));
        fields.put("messages", beside.messages());
        list(
                "# " + (title == null || title.isBlank() ? "Conversation" : plain(title)),
                fields.entrySet().stream()
                        .map(field -> field.getKey() + ": " + code(PlainJson.write(field.getValue()))));
    }

    private void write(Moved moved, boolean hasBranches) throws IOException {
        messages++;
        String parent = moved.parentId();
        Line line = parent == null ? null : lines.remove(parent);
        if (line == null) {
            String begin = parent == null ? "begins anew" : "continues from message " + number(parent);
            line = new Line(++begun, parent == null ? "" : begin + " and ", messages);
            if (begun > 1 || parent != null) {
                paragraph("---");
                paragraph("**Branch " + begun + "** " + begin + ".");
            }
        }
        lines.put(moved.message().id(), new Line(line.number(), line.begin(), messages));
        paragraph("## " + messages + ". " + MarkdownMessage.role(moved.message().message()));
        String branch = hasBranches || line.number() > 1 ? " · branch " + line.number() : "";
        for (String paragraph : MarkdownMessage.paragraphs(moved, branch)) {
            paragraph(paragraph);
        }
    }

    private Stream<String> branches() {
        if (lines.size() < 2 && beside.branches().isEmpty()) {
            return Stream.empty();
        }
        Stream<String> ends = lines.values().stream()
                .sorted(Comparator.comparingInt(Line::number))
                .map(line -> "Branch " + line.number() + " " + line.begin() + "ends with message " + line.last() + ".");
        Stream<String> named = new TreeMap<>(beside.branches())
                .entrySet().stream()
                        .map(branch -> "The branch named " + code(branch.getKey()) + " ends with message "
                                + number(branch.getValue()) + ".");
        Stream<String> head = Stream.ofNullable(beside.head())
                .map(end -> "The conversation goes on behind message " + number(end) + ".");
        return Stream.of(ends, named, head).flatMap(each -> each);
    }

    /** Returns a message's number, or its id if the message is missing. */
    private String number(String id) {
        return Reads.message(log, key, id)
                .map(found -> Long.toString(source.number(found.sequence())))
                .orElseGet(() -> code(id) + " (which is missing)");
    }

    private void list(String heading, Stream<String> items) throws IOException {
        String list = items.map(item -> "- " + item).collect(Collectors.joining("\n"));
        if (!list.isEmpty()) {
            paragraph(heading);
            paragraph(list);
        }
    }

    private void paragraph(String text) throws IOException {
        out.append(text).append("\n\n");
    }
}
