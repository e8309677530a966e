package io.github.keepsake4j.log.s3;

import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.backend.MemoryTree.State;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import java.lang.reflect.RecordComponent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The document's {@code keepsake} object as JSON. It has the parts of a memory other than its messages. A plain reader
 * ignores it. An empty part is not written, and a missing part is empty.
 *
 * @param last the id of the document's last message when this was written, or null if it had none; if the last message
 * differs, a program without this library has written since
 * @param head the head's id, or null
 * @param references the ids of the newest messages of named branches, by name
 * @param epoch the epoch in force
 * @param revision the revision
 * @param counters the names of the counters of the messages' tokens, in the order of the messages
 * @param views all views
 * @param summaries all summaries
 * @param leases all leases
 * @param title the title, or null
 * @param metadata short texts by name
 * @param createdAt when the memory was created, or null if it does not exist
 * @param kept see {@link Document#kept()}
 * @param keptTotals the totals of the messages in that object for lists, or null if there is none
 * @param writes see {@link Document#writes()}
 * @param key the memory's key in its canonical form, if the object's name does not contain it
 * @param unchecked true if this write created the document. Its writer may have missed an erasure, so a reader looks
 * for a tombstone too
 * @param erasing true if the memory was erased and the object is deleted next; only its deletion may follow
 * @param asideStays true if only the object is deleted, and quarantined bytes stay
 * @param tenant the tenant of the memory, independent of {@code last}; null in documents of older versions, and if a
 * damaged document did not contain it
 * @param unreadable the ids of the messages that a repair found unreadable. Their elements stay unchanged
 */
record KeepsakeField(
        @Nullable String last,
        @Nullable String head,
        Map<String, String> references,
        long epoch,
        long revision,
        List<Counted> counters,
        List<View> views,
        List<Summary> summaries,
        List<Lease> leases,
        @Nullable String title,
        Map<String, String> metadata,
        @Nullable Instant createdAt,
        @Nullable String kept,
        @Nullable Totals keptTotals,
        List<String> writes,
        @Nullable String key,
        boolean unchecked,
        boolean erasing,
        boolean asideStays,
        @Nullable String tenant,
        List<String> unreadable) {

    /** The effect of a write on the document's object. */
    enum Step {
        /** There is no object before. */
        CREATE,
        REPLACE,
        /** The object is deleted next, with all its other objects. */
        ERASE,
        /** There was no object, and this one is deleted next, with all its other objects. */
        ERASE_NOTHING,
        /** The object is deleted next. Quarantined bytes stay. */
        REMOVE;

        boolean isCreation() {
            return this == CREATE || this == ERASE_NOTHING;
        }

        boolean isMark() {
            return this == ERASE || this == ERASE_NOTHING || this == REMOVE;
        }
    }

    /** The totals of messages for lists: their number, their tokens, the time of the first one, and the latest time. */
    record Totals(long messages, long tokens, @Nullable Instant firstMessageAt, @Nullable Instant lastMessageAt) {

        static final Totals NONE = new Totals(0, 0, null, null);

        static Totals of(List<Entry> entries) {
            return new Totals(
                    entries.size(),
                    entries.stream().mapToLong(Entry::tokens).sum(),
                    entries.isEmpty() ? null : entries.get(0).createdAt(),
                    entries.stream()
                            .map(Entry::createdAt)
                            .max(Comparator.naturalOrder())
                            .orElse(null));
        }
    }

    /** Consecutive messages whose tokens were counted by the same counter. */
    record Counted(String counter, int messages) {
        Counted {
            Objects.requireNonNull(counter, "counter");
        }
    }

    /** Refuses damaged parts. A missing epoch or revision counts as the first one. */
    KeepsakeField {
        Stream.of(counters, summaries, writes, metadata.values(), unreadable)
                .flatMap(Collection::stream)
                .forEach(Objects::requireNonNull);
        views.forEach(view -> Objects.requireNonNull(view.anchor(), "anchor"));
        for (Lease lease : leases) {
            Objects.requireNonNull(lease.name(), "name");
            Objects.requireNonNull(lease.owner(), "owner");
            Objects.requireNonNull(lease.expiresAt(), "expiresAt");
        }
        if (key != null) {
            MemoryKey.parse(key);
        }
        epoch = Tombstone.number(epoch);
        revision = Tombstone.number(revision);
    }

    /**
     * Returns the object of a document.
     *
     * @param tenant the memory's tenant, or null if it is not known
     * @param key the memory's key, or null if the object's name contains it
     */
    static KeepsakeField of(Document document, @Nullable String tenant, @Nullable MemoryKey key, Step step) {
        State state = document.state();
        List<Entry> shown = document.shown();
        return new KeepsakeField(
                shown.isEmpty() ? null : shown.get(shown.size() - 1).id(),
                state.head(),
                state.references(),
                state.epoch(),
                state.revision(),
                counters(shown),
                state.views(),
                state.summaries(),
                List.copyOf(state.leases().values()),
                state.title(),
                state.metadata(),
                state.createdAt(),
                document.kept(),
                document.kept() == null ? null : Totals.of(document.keptEntries()),
                document.writes(),
                key == null ? null : key.canonical(),
                step.isCreation(),
                step.isMark(),
                step == Step.REMOVE,
                tenant,
                state.entries().stream()
                        .filter(entry -> Outcome.UNREADABLE.equals(entry.outcome()))
                        .map(Entry::id)
                        .toList());
    }

    /** Returns the object for a document without one. The memory may have been erased before. */
    static KeepsakeField missing(Tombstone tombstone) {
        return of(tombstone.document(), null, null, Step.REPLACE);
    }

    /** Returns the tenant of the memory, or null if the document does not name it. */
    @Nullable
    String owner() {
        return tenant == null && key != null ? MemoryKey.parse(key).tenant() : tenant;
    }

    /** Returns the rest if the memory is erased. */
    Tombstone tombstone() {
        return new Tombstone(epoch, revision, writes);
    }

    private static List<Counted> counters(List<Entry> entries) {
        List<Counted> counters = new ArrayList<>();
        for (Entry entry : entries) {
            int newest = counters.size() - 1;
            if (newest >= 0 && counters.get(newest).counter().equals(entry.tokenCounter())) {
                counters.set(
                        newest,
                        new Counted(entry.tokenCounter(), counters.get(newest).messages() + 1));
            } else {
                counters.add(new Counted(entry.tokenCounter(), 1));
            }
        }
        return counters;
    }

    /**
     * Returns the counters of the first elements of a document. They are known only while the messages that this
     * library wrote still exist.
     *
     * @return at most as many names as there are elements
     */
    List<String> countersOf(List<Element> elements) {
        List<String> names = new ArrayList<>();
        for (Counted run : counters) {
            int atMost = Math.min(run.messages(), elements.size() + 1 - names.size());
            names.addAll(Collections.nCopies(Math.max(0, atMost), run.counter()));
        }
        boolean areThere = !names.isEmpty()
                && names.size() <= elements.size()
                && elements.get(names.size() - 1).id().equals(last);
        return areThere ? names : List.of();
    }

    /** Removes this object's own fields, so that the fields of other programs remain. */
    static Map<String, String> removeOwn(Map<String, String> fields) {
        for (RecordComponent component : KeepsakeField.class.getRecordComponents()) {
            fields.remove(SnakeCaseStrategy.INSTANCE.translate(component.getName()));
        }
        return fields;
    }
}
