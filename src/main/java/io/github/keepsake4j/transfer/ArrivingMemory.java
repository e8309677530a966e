package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A memory whose lines are read. Its messages are appended as they come, behind those of them that are there. A memory that was
 * erased is read and not written.
 */
final class ArrivingMemory {

    /** The maximum size of the lines of messages that are held back, in bytes, unless one alone is larger. */
    private static final int MAX_HELD = 8 << 20;

    private final MessageLog log;
    private final Consumer<MemoryCopy.Progress> listener;
    private final MemoryKey key;
    private final @Nullable String title;
    private final Map<String, String> metadata;
    private final MemoryTarget target;
    private final boolean isErased;

    /** The next ones of the messages that are there. */
    private final Deque<String> there = new ArrayDeque<>();

    private Optional<HistoryQuery> moreThere = Optional.of(HistoryQuery.oldest(MemorySource.PAGE));

    /** A digest of the lines that came. */
    private final Fingerprint.Digest lines = new Fingerprint.Digest();

    /** A digest of the lines that this version writes for what came. */
    private final Fingerprint.Digest read = new Fingerprint.Digest();

    private final List<Moved> held = new ArrayList<>();
    private int heldBytes;
    private long messages;
    private final List<Summary> summaries = new ArrayList<>();
    private final List<View> views = new ArrayList<>();
    private final Map<String, String> branches = new TreeMap<>();
    private @Nullable String head;

    ArrivingMemory(
            MessageLog log,
            Consumer<MemoryCopy.Progress> listener,
            MemoryKey key,
            @Nullable String title,
            Map<String, String> metadata) {
        this.log = log;
        this.listener = listener;
        this.key = key;
        this.title = title;
        this.metadata = metadata;
        this.target = new MemoryTarget(log, key);
        this.isErased = target.isErased();
        read.add(Lines.memory(key, beside()));
    }

    MemoryKey key() {
        return key;
    }

    /** Adds a line to what is compared with the hash at the end. */
    void add(byte[] line) {
        lines.add(line);
        heldBytes += held.isEmpty() ? 0 : line.length;
        if (heldBytes > MAX_HELD || held.size() == MemorySource.PAGE) {
            append();
        }
    }

    void add(Moved message) {
        messages++;
        if (isErased) {
            return;
        }
        read.add(Lines.message(message));
        String id = message.message().id();
        String known = nextThere();
        if (known == null) {
            held.add(message);
        } else if (!known.equals(id)) {
            throw otherMessages(known);
        }
    }

    private @Nullable String nextThere() {
        if (there.isEmpty() && moreThere.isPresent()) {
            HistoryPage page = log.history(key, moreThere.get());
            page.messages().stream().map(LoggedMessage::id).forEach(there::add);
            moreThere = page.next();
        }
        return there.poll();
    }

    private KeepsakeException otherMessages(String id) {
        return new KeepsakeException(
                "Memory " + key + " has messages that the export has not, such as " + id
                        + ". Erase it, or read the export into an empty log",
                null);
    }

    private void append() {
        if (!held.isEmpty()) {
            target.append(held);
            held.clear();
            heldBytes = 0;
            listener.accept(new MemoryCopy.Progress(key, messages, messages));
        }
    }

    void add(Summary summary) {
        summaries.add(summary);
    }

    void add(View view) {
        views.add(view);
    }

    void addBranch(String name, String end) {
        branches.put(name, end);
    }

    void setHead(String id) {
        head = id;
    }

    /** Compares what came with what the last line says. A line that was edited has no hash. */
    void check(String name, Line end) {
        long written = end.number("messages");
        if (written != messages) {
            throw new InvalidInputException(
                    name,
                    "ends memory " + key + " after " + messages + " messages of " + written
                            + ". Lines before it are missing");
        }
        String sha256 = end.nullableText("sha256");
        if (sha256 != null && !sha256.equals(lines.hex())) {
            throw new InvalidInputException(
                    name,
                    "ends memory " + key + ", whose lines are not those that were written. Read the export as it was"
                            + " written into an empty log. If the lines were changed on purpose, remove sha256 from this"
                            + " line");
        }
    }

    /** Writes what is missing, and compares the memory with what came. */
    MemoryCopy.Report complete() {
        if (isErased) {
            return new MemoryCopy.Report(0, 0, List.of(key), 0);
        }
        String more = nextThere();
        if (more != null && held.isEmpty()) {
            throw otherMessages(more);
        }
        append();
        BesideMessages beside = beside();
        target.complete(beside);
        MemoryLines.rest(beside, read::add);
        if (!Fingerprint.of(log, key).sha256().equals(read.hex())) {
            throw new KeepsakeException(
                    "Memory " + key
                            + " is not the one that was read. Something else has changed it: erase it, or read the"
                            + " export into an empty log",
                    null);
        }
        return new MemoryCopy.Report(1, messages, List.of(), 0);
    }

    private BesideMessages beside() {
        return new BesideMessages(title, metadata, messages, summaries, views, branches, head);
    }
}
