package io.github.keepsake4j.transfer;

import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Imports a memory from its lines. Messages are appended as they come, behind those that exist already. An erased
 * memory is read and not written.
 */
final class ArrivingMemory {

    /** The maximum size of the lines of messages that are held back, in bytes; a single line may be larger. */
    private static final int MAX_HELD = 8 << 20;

    /**
     * The name of the metadata that mark an import whose messages were appended and whose other parts are not set yet.
     */
    private static final String UNFINISHED = "keepsake.import.unfinished";

    /** A message that is there. */
    private record Known(String id, @Nullable Outcome outcome) {}

    private final MessageLog log;
    private final Consumer<MemoryCopy.Progress> listener;
    final MemoryKey key;
    private final @Nullable String title;
    private final Map<String, String> metadata;
    private final MemoryTarget target;
    private final boolean isErased;

    /** Whether the memory was there before. */
    private final boolean wasThere;

    /** Whether messages were appended. */
    private boolean hasGrown;

    /** The next existing messages. */
    private final Deque<Known> there = new ArrayDeque<>();

    /** The existing messages with other outcomes, with the outcomes of the import. */
    private final Map<String, @Nullable Outcome> outcomes = new LinkedHashMap<>();

    /** Whether one of these outcomes replaces another one or removes it. */
    private boolean hasOtherOutcomes;

    private Optional<HistoryQuery> moreThere = Optional.of(HistoryQuery.oldest(MemorySource.PAGE));

    /** A digest of the lines that came. */
    private final Fingerprint.Digest lines = new Fingerprint.Digest();

    /** A digest of the lines that this version writes for the imported data. */
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
        this.target = MemoryTarget.of(log, key);
        this.isErased = target.isErased();
        this.wasThere = Reads.info(log, key) != null;
        read.add(Lines.memory(key, beside()));
    }

    /** Adds a line to the digest that is compared with the hash at the end. */
    void add(byte[] line) {
        lines.add(line);
        heldBytes += held.isEmpty() ? 0 : line.length;
        if (heldBytes > MAX_HELD || held.size() == MemorySource.PAGE) {
            append();
        }
    }

    private void add(Moved message) {
        messages++;
        if (isErased) {
            return;
        }
        read.add(Lines.message(message));
        String id = message.message().id();
        Known known = nextThere();
        if (known == null) {
            held.add(message);
        } else if (!known.id().equals(id)) {
            throw otherMessages(known);
        } else if (!Objects.equals(known.outcome(), message.message().outcome())) {
            outcomes.put(id, message.message().outcome());
            hasOtherOutcomes |= known.outcome() != null;
        }
    }

    private @Nullable Known nextThere() {
        if (there.isEmpty() && moreThere.isPresent()) {
            HistoryPage page = log.history(key, moreThere.get());
            page.messages().forEach(message -> there.add(new Known(message.id(), message.outcome())));
            moreThere = page.next();
        }
        return there.poll();
    }

    private KeepsakeException otherMessages(Known known) {
        return new KeepsakeException("Memory " + key + " has messages that the export does not have, such as "
                + known.id() + ". Erase " + "the memory, or read the export into an empty log");
    }

    private void append() {
        if (!held.isEmpty()) {
            if (wasThere && !hasGrown) {
                target.mergeMetadata(Map.of(UNFINISHED, "true"));
            }
            hasGrown = true;
            target.append(held);
            held.clear();
            heldBytes = 0;
            listener.accept(new MemoryCopy.Progress(key, messages, messages));
        }
    }

    /** Takes a line between the first and the last one. */
    void take(NdjsonLine line) {
        JsonFields json = line.json();
        switch (line.kind()) {
            case Lines.MESSAGE -> add(line.message());
            case Lines.SUMMARY -> summaries.add(line.summary());
            case Lines.VIEW -> views.add(line.view());
            case Lines.BRANCH -> branches.put(json.neededText("name"), json.neededText("end"));
            case Lines.HEAD -> head = json.neededText("id");
            default -> throw new IllegalArgumentException(line.kind());
        }
    }

    /** Compares the imported data with the last line. A line that was edited has no hash. */
    void check(String name, NdjsonLine end) {
        long written = end.json().neededNumber("messages");
        if (written != messages) {
            throw new InvalidInputException(
                    name,
                    "ends memory " + key + " after " + messages + " messages of " + written
                            + ". Lines before it are missing");
        }
        String sha256 = end.json().text("sha256");
        if (sha256 != null && !sha256.equals(lines.hex())) {
            throw new InvalidInputException(
                    name,
                    "ends memory " + key + ", whose lines were changed since they were written. Read the original "
                            + "export into an empty log. If the lines were changed on purpose, remove sha256 from "
                            + "this line");
        }
    }

    /** Writes the missing parts, and compares the memory with the imported data. */
    MemoryCopy.Report complete() {
        if (isErased) {
            return new MemoryCopy.Report(0, 0, List.of(key), 0);
        }
        Known more = nextThere();
        if (more != null && held.isEmpty()) {
            throw otherMessages(more);
        }
        append();
        BesideMessages beside = beside();
        MemoryLines.rest(beside, read::add);
        String expected = read.hex();
        boolean writes = !wasThere || hasGrown || isUnfinished(beside);
        String before = "";
        for (int pass = 0; ; pass++) {
            String now = writes && pass == 0 ? "" : Fingerprint.of(log, key).sha256();
            if (now.equals(expected)) {
                return new MemoryCopy.Report(1, messages, List.of(), 0);
            }
            // A memory that has changed again may be one that another import of the same export completes.
            if (!writes || pass == MemoryCopy.MOST_PASSES || (pass > 1 && now.equals(before))) {
                throw new KeepsakeException(
                        "Memory " + key + " differs from the export: the memory or the lines have been changed. Erase "
                                + "the memory, or read the export into an empty log");
            }
            before = now;
            outcomes.forEach((id, outcome) -> log.change(key, new Change.SetOutcome(id, outcome, target.epoch())));
            target.complete(beside);
        }
    }

    /**
     * Returns whether an import was interrupted, or the export has all that the memory has and more. Any other export
     * without new messages may be older than the memory, so it does not change a completed one.
     */
    private boolean isUnfinished(BesideMessages beside) {
        BesideMessages known = Objects.requireNonNull(BesideMessages.read(log, key));
        if (known.metadata().containsKey(UNFINISHED)) {
            return true;
        }
        Set<String> came = parts(beside);
        Set<String> there = parts(known);
        if (hasOtherOutcomes || !came.containsAll(there)) {
            return false;
        }
        if (came.size() > there.size() || !outcomes.isEmpty()) {
            target.mergeMetadata(Map.of(UNFINISHED, "true"));
            return true;
        }
        boolean isDescribed = known.title() != null || !known.metadata().isEmpty();
        return !isDescribed && isOnTheWay(known.head(), beside);
    }

    /** Returns the lines behind the messages, except the head, which may move in either direction. */
    private static Set<String> parts(BesideMessages beside) {
        Set<String> parts = new HashSet<>();
        MemoryLines.rest(beside, parts::add);
        parts.remove(Lines.head(String.valueOf(beside.head())));
        return parts;
    }

    /** Returns whether a head belongs to an unfinished import: the head of its messages, or of a view that it sets. */
    private boolean isOnTheWay(@Nullable String known, BesideMessages beside) {
        LoggedMessage newest = target.newest();
        return Objects.equals(known, beside.head())
                || (newest != null && newest.id().equals(known))
                || beside.views().stream().anyMatch(view -> Objects.equals(view.anchor(), known));
    }

    private BesideMessages beside() {
        return new BesideMessages(title, metadata, messages, summaries, views, branches, head);
    }
}
