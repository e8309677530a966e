package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.backend.Entry.Text;
import io.github.keepsake4j.backend.MemoryTree.State;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.Outcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A whole memory as it is stored: its state, and the other fields of its document. Immutable. {@link DocumentReader}
 * reads it, {@link DocumentWriter} writes it.
 *
 * @param state the memory; the payloads are the stored elements, unchanged
 * @param kept the id of the object beside the document with the first messages, which a plain reader must no longer
 * see; null if all messages are in the document
 * @param keptMessages the number of messages in that object
 * @param writes the ids of the newest writes, oldest first, so that a writer recognizes its own
 * @param othersInKeepsake fields of other programs in the {@code keepsake} object, unchanged
 * @param others fields of other programs in the document, unchanged
 */
record Document(
        State state,
        @Nullable String kept,
        int keptMessages,
        List<String> writes,
        Map<String, String> othersInKeepsake,
        Map<String, String> others) {

    /** The name for an unknown counter of tokens. */
    private static final String UNKNOWN_COUNTER = "unknown";

    /** The name of the counter for tokens that this library estimated. */
    private static final String ESTIMATE = "estimate";

    /** A memory that was never written. */
    static final Document NONE = empty(1, 1, List.of());

    /** Returns a memory without messages. */
    static Document empty(long epoch, long revision, List<String> writes) {
        return new Document(State.empty(epoch, revision, null), null, 0, writes, Map.of(), Map.of());
    }

    /** Returns a document that has some messages and nothing else. */
    static Document holding(List<Entry> entries) {
        String last = entries.get(entries.size() - 1).id();
        State state = new State(1, 1, last, Map.of(), entries, List.of(), List.of(), Map.of(), null, Map.of(), null);
        return new Document(state, null, 0, List.of(), Map.of(), Map.of());
    }

    /**
     * Puts a memory together.
     *
     * @param parts the document's parts
     * @param kept the id of the object beside the document, or null if there is none
     * @param keptEntries the messages of that object
     * @param tombstone the tombstone; it is all that is known of a memory whose {@code keepsake} object was lost
     */
    static Document of(
            DocumentParser.Parts parts, @Nullable String kept, List<Entry> keptEntries, Tombstone tombstone) {
        KeepsakeField field = parts.keepsake() == null ? KeepsakeField.missing(tombstone) : parts.keepsake();
        List<Entry> entries = marked(entries(keptEntries, parts), field.unreadable());
        Map<String, Long> sequences = new HashMap<>();
        entries.forEach(entry -> sequences.put(entry.id(), entry.sequence()));
        boolean ours = parts.keepsake() != null
                && Objects.equals(field.last(), parts.last())
                && (entries.isEmpty()
                        || sequences.containsKey(field.head())
                        // All messages so far are on named branches.
                        || (field.head() == null && !field.references().isEmpty()));
        String newest = parts.elements().isEmpty()
                ? null
                : entries.get(entries.size() - 1).id();

        Map<String, Lease> leases = new HashMap<>();
        field.leases().forEach(lease -> leases.put(lease.name(), lease));
        Instant createdAt = field.createdAt();
        State state = new State(
                field.epoch(),
                // Another program has moved the head, so a reader that knows the old one must read again.
                ours || parts.keepsake() == null ? field.revision() : field.revision() + 1,
                ours ? field.head() : newest,
                references(field, sequences),
                entries,
                views(field, sequences, parts.keepsake() == null ? keptEntries : List.of()),
                summaries(field, sequences),
                leases,
                field.title(),
                field.metadata(),
                createdAt == null && !entries.isEmpty() ? entries.get(0).createdAt() : createdAt);
        return new Document(state, kept, keptEntries.size(), field.writes(), parts.othersInKeepsake(), parts.others());
    }

    private static List<Entry> marked(List<Entry> entries, List<String> unreadable) {
        Set<String> ids = Set.copyOf(unreadable);
        return entries.stream()
                .map(entry -> ids.contains(entry.id()) ? entry.withOutcome(Outcome.UNREADABLE) : entry)
                .toList();
    }

    /**
     * Returns the messages of a document, after those of the object beside it. Each parent comes before its children.
     */
    static List<Entry> entries(List<Entry> before, DocumentParser.Parts parts) {
        List<Element> elements = parts.elements();
        List<String> counters =
                parts.keepsake() == null ? List.of() : parts.keepsake().countersOf(elements);
        List<Entry> added = new ArrayList<>(elements.size());
        String previous =
                before.isEmpty() ? null : before.get(before.size() - 1).id();
        for (int i = 0; i < elements.size(); i++) {
            Element element = elements.get(i);
            String counter = i < counters.size() ? counters.get(i) : UNKNOWN_COUNTER;
            added.add(new Entry(
                    element.id(),
                    Ids.BEFORE_IN_TIME.equals(element.parentId()) ? previous : element.parentId(),
                    0,
                    new Text(element.raw(), element.made()),
                    element.type(),
                    element.tokens(),
                    element.isEstimate() ? ESTIMATE : counter,
                    element.createdAt(),
                    element.outcome(),
                    element.question()));
            previous = element.id();
        }
        List<Entry> entries = new ArrayList<>(before);
        for (Entry entry : ParentsFirst.sorted(added)) {
            entries.add(entry.at(entries.size() + 1L));
        }
        return List.copyOf(entries);
    }

    /**
     * Returns the views whose messages exist. If the {@code keepsake} object was lost, the messages beside the document
     * stay cleared.
     */
    private static List<View> views(KeepsakeField field, Map<String, Long> sequences, List<Entry> cleared) {
        List<View> views = new ArrayList<>();
        if (!cleared.isEmpty()) {
            Entry anchor = cleared.get(cleared.size() - 1);
            views.add(new View(anchor.id(), anchor.sequence(), List.of(), null));
        }
        for (View view : field.views()) {
            Long anchor = sequences.get(view.anchor());
            View shown = sequences.containsKey(view.summary()) ? view : view.behindSummary(null);
            if (anchor != null && sequences.keySet().containsAll(shown.names())) {
                views.add(new View(shown.anchor(), anchor, shown.runs(), shown.summary()));
            }
        }
        return views;
    }

    private static Map<String, String> references(KeepsakeField field, Map<String, Long> sequences) {
        Map<String, String> there = new HashMap<>(field.references());
        there.values().removeIf(id -> !sequences.containsKey(id));
        return Map.copyOf(there);
    }

    private static List<Summary> summaries(KeepsakeField field, Map<String, Long> sequences) {
        return field.summaries().stream()
                .filter(summary -> sequences.containsKey(summary.coversUpTo()))
                .toList();
    }

    /** Returns the messages in the object beside the document. */
    List<Entry> keptEntries() {
        return state.entries().subList(0, keptMessages);
    }

    /** Returns the messages in the document itself. */
    List<Entry> shown() {
        return state.entries().subList(keptMessages, state.entries().size());
    }
}
