package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.transfer.MarkdownText.block;
import static io.github.keepsake4j.transfer.MarkdownText.code;
import static io.github.keepsake4j.transfer.MarkdownText.plain;

import dev.langchain4j.data.message.AiMessage;
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

    /** A branch as far as it was written, with the numbers of its messages. */
    private record Line(String name, long first, long last) {

        String content() {
            return name + ": " + (first == last ? "message " + first : "messages " + first + " to " + last) + ".";
        }
    }

    private final MessageLog log;
    private final MemoryKey key;
    private final Appendable out;
    private final BesideMessages beside;
    private final boolean hasDetails;
    private final MemorySource source;

    /** The branches by their newest messages. */
    private final Map<String, Line> lines = new HashMap<>();

    private long messages;

    MarkdownMemory(MessageLog log, MemoryKey key, BesideMessages beside, boolean hasDetails, Appendable out) {
        this.log = log;
        this.key = key;
        this.beside = beside;
        this.hasDetails = hasDetails;
        this.out = out;
        this.source = new MemorySource(log, key, beside.summaries());
    }

    /** Writes the memory, and returns the number of its messages. */
    long write(Consumer<MemoryCopy.Progress> listener) throws IOException {
        head();
        try {
            source.<IOException>read(0, page -> {
                for (Moved message : page) {
                    write(message);
                }
                listener.accept(new MemoryCopy.Progress(key, messages, beside.messages()));
            });
            for (Summary summary : beside.summaries()) {
                paragraph("## Summary up to message " + number(summary.coversUpTo()));
                String model = summary.model();
                paragraph("*" + summary.createdAt()
                        + (model == null || model.isEmpty() ? "" : " · model " + code(model)) + " · in place of "
                        + summary.replacedMessages() + " messages*");
                paragraph(block(summary.text()));
            }
            list("## Contents", contents());
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

    private void write(Moved moved) throws IOException {
        messages++;
        String parent = moved.parentId();
        Line line = parent == null ? null : lines.remove(parent);
        String place = "";
        if (line == null) {
            line = new Line(name(moved), messages, messages);
            if (messages > 1 || parent != null) {
                paragraph("---");
                paragraph("**" + line.name() + "**");
            }
        } else if (line.last() < messages - 1) {
            place = " · after message " + line.last();
        }
        lines.put(moved.message().id(), new Line(line.name(), line.first(), messages));
        paragraph("## " + messages + ". " + MarkdownMessage.role(moved.message().message()));
        for (String paragraph : MarkdownMessage.paragraphs(moved, place, hasDetails)) {
            paragraph(paragraph);
        }
    }

    /** Returns the name of the branch that begins with a message. */
    private String name(Moved moved) {
        String parent = moved.parentId();
        if (parent == null) {
            return messages == 1 ? "The beginning" : "Another beginning";
        }
        return (moved.message().message() instanceof AiMessage ? "Another answer" : "Another message")
                + " after message " + number(parent);
    }

    private Stream<String> contents() {
        if (lines.size() < 2 && beside.branches().isEmpty()) {
            return Stream.empty();
        }
        Stream<String> ends = lines.values().stream()
                .sorted(Comparator.comparingLong(Line::first))
                .map(Line::content);
        Stream<String> named = new TreeMap<>(beside.branches())
                .entrySet().stream()
                        .map(branch -> "The branch named " + code(branch.getKey()) + " ends with message "
                                + number(branch.getValue()) + ".");
        Stream<String> head = Stream.ofNullable(beside.head())
                .map(end -> "The conversation goes on behind message " + number(end) + ".");
        Stream<String> summaries = beside.summaries().stream()
                .map(summary -> "There is a summary up to message " + number(summary.coversUpTo()) + ".");
        return Stream.of(ends, named, head, summaries).flatMap(each -> each);
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
