package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.transfer.MarkdownText.block;
import static io.github.keepsake4j.transfer.MarkdownText.code;
import static io.github.keepsake4j.transfer.MarkdownText.plain;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One memory as Markdown. Its messages are numbered from 1, in the order in which they were stored. */
final class MarkdownMemory {

    /** A branch as far as it was written. */
    private record Line(int number, @Nullable String from, long last) {}

    private final MessageLog log;
    private final MemoryKey key;
    private final Consumer<MemoryCopy.Progress> listener;
    private final Appendable out;

    /** The branches by their newest messages. */
    private final Map<String, Line> lines = new HashMap<>();

    private boolean hasHead;
    private int begun;
    private long messages;

    MarkdownMemory(MessageLog log, MemoryKey key, Consumer<MemoryCopy.Progress> listener, Appendable out) {
        this.log = log;
        this.key = key;
        this.listener = listener;
        this.out = out;
    }

    /** Writes it, and returns the number of its messages, or -1 for a memory that is not there. */
    long write() throws IOException {
        try {
            return writeAll();
        } catch (UnreadableDataException e) {
            if (hasHead) {
                paragraph("---");
                paragraph("**The rest of this memory is damaged and cannot be read.**");
            }
            throw e;
        }
    }

    private long writeAll() throws IOException {
        BesideMessages beside = BesideMessages.read(log, key);
        if (beside == null) {
            return -1;
        }
        boolean hasBranches = log.branches(key).size() > 1;
        hasHead = true;
        writeHead(beside);
        MemorySource source = new MemorySource(log, key, beside.summaries());
        source.<IOException>read(0, page -> {
            for (Moved message : page) {
                write(message, source, hasBranches);
            }
            listener.accept(new MemoryCopy.Progress(key, messages, beside.messages()));
        });
        writeBranches(beside, source);
        writeViews(beside.views(), source);
        writeSummaries(beside.summaries(), source);
        return messages;
    }

    private void writeHead(BesideMessages beside) throws IOException {
        String title = beside.title();
        paragraph("# " + (title == null || title.isBlank() ? "Conversation" : plain(title)));
        line("- Tenant: " + code(key.tenant()));
        if (key instanceof ConversationKey conversation) {
            line("- Conversation: " + code(conversation.conversationId()));
        } else if (key instanceof NodeKey node) {
            line("- Conversation: " + code(node.conversationId()));
            line("- Application: " + code(node.appId()));
            line("- Node: " + code(node.nodeId()));
        }
        line("- Messages: " + beside.messages());
        for (Map.Entry<String, String> entry : new TreeMap<>(beside.metadata()).entrySet()) {
            line("- Metadata " + code(entry.getKey()) + ": " + code(entry.getValue()));
        }
        line("");
    }

    private void write(Moved moved, MemorySource source, boolean hasBranches) throws IOException {
        messages++;
        String parent = moved.parentId();
        Line before = parent == null ? null : lines.remove(parent);
        Line now;
        if (before == null) {
            String from = parent == null ? null : number(parent, source);
            now = new Line(++begun, from, messages);
            if (now.number() > 1 || from != null) {
                paragraph("---");
                paragraph("**Branch " + now.number() + "** "
                        + (from == null ? "begins anew." : "continues from message " + from + "."));
            }
        } else {
            now = new Line(before.number(), before.from(), messages);
        }
        lines.put(moved.message().id(), now);
        paragraph("## " + messages + ". " + MarkdownMessage.role(moved.message().message()));
        MarkdownMessage.write(
                moved.message(), hasBranches || now.number() > 1 ? "branch " + now.number() : null, this::paragraph);
    }

    private void writeBranches(BesideMessages beside, MemorySource source) throws IOException {
        if (lines.size() < 2 && beside.branches().isEmpty()) {
            return;
        }
        paragraph("## Branches");
        for (Line each : lines.values().stream()
                .sorted(Comparator.comparingInt(Line::number))
                .toList()) {
            line("- Branch " + each.number()
                    + (each.from() == null ? "" : " continues from message " + each.from() + " and")
                    + " ends with message " + each.last() + ".");
        }
        for (Map.Entry<String, String> named : new TreeMap<>(beside.branches()).entrySet()) {
            line("- The branch named " + code(named.getKey()) + " ends with message " + number(named.getValue(), source)
                    + ".");
        }
        if (beside.head() != null) {
            line("- The conversation goes on behind message " + number(beside.head(), source) + ".");
        }
        line("");
    }

    private void writeViews(List<View> views, MemorySource source) throws IOException {
        if (views.isEmpty()) {
            return;
        }
        paragraph("## What a model is shown");
        for (View view : views) {
            String behind = view.anchor() == null ? "the first message" : "message " + number(view.anchor(), source);
            String shown = view.runs().stream()
                    .map(run -> (run.after() == null ? "from the first one" : "behind " + number(run.after(), source))
                            + " up to " + number(run.last(), source))
                    .collect(Collectors.joining(", "));
            String summary = view.summary() == null
                    ? ""
                    : "the summary up to message " + number(view.summary(), source) + ", then ";
            line("- At " + behind + ", the list was "
                    + (view.showsNothing()
                            ? "cleared: what follows is shown."
                            : "set: " + summary + (shown.isEmpty() ? "" : "messages " + shown + ", then ")
                                    + "what follows is shown."));
        }
        line("");
    }

    private void writeSummaries(List<Summary> summaries, MemorySource source) throws IOException {
        int version = 0;
        for (Summary summary : summaries) {
            version++;
            paragraph("## Summary " + version + ", up to message " + number(summary.coversUpTo(), source));
            paragraph("*" + summary.createdAt() + (summary.model() == null ? "" : " · model " + code(summary.model()))
                    + " · in place of " + summary.replacedMessages() + " messages*");
            paragraph(block(summary.text()));
        }
    }

    /** Returns a message's number, or its id if it is not there. */
    private String number(String id, MemorySource source) {
        return Reads.message(log, key, id)
                .map(LoggedMessage::sequence)
                .map(sequence -> Long.toString(source.number(sequence)))
                .orElseGet(() -> code(id) + ", which is missing");
    }

    private void paragraph(String text) throws IOException {
        line(text);
        line("");
    }

    private void line(String text) throws IOException {
        out.append(text).append('\n');
    }
}
