package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.MemoryTree.Entry;
import io.github.keepsake4j.log.MemoryTree.State;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Ids;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A whole memory as it was read: the document, and what is kept beside it. Immutable.
 *
 * @param state what it means; the payloads are the elements as they are written
 * @param beside what it was read with, and what it was written with
 * @param othersBeside fields of others in the {@code keepsake} object
 * @param others fields of others in the document
 */
record Document(State state, Beside beside, Map<String, String> othersBeside, Map<String, String> others) {

    /** Who counted, where nobody says so. */
    static final String UNKNOWN_COUNTER = "unknown";

    /** Stands for our estimate of messages that nobody counted. */
    static final String ESTIMATE = "estimate";

    /** A memory that was never written. */
    static final Document NONE = new Document(
            new State(1, 1, null, List.of(), List.of(), List.of(), Map.of(), null, Map.of(), null),
            Beside.none(null),
            Map.of(),
            Map.of());

    /** How many of the messages, the first ones, are not in the document itself. */
    int keptMessages() {
        return beside.kept() == null ? 0 : beside.kept().messages();
    }

    /** The messages that are not in the document itself. */
    List<Entry> kept() {
        return state.entries().subList(0, keptMessages());
    }

    /** The same, as far as anybody knows it who cannot read it: only that it is not what it was. */
    static Document unknown(long epoch) {
        State none = NONE.state;
        return new Document(
                new State(
                        epoch,
                        epoch,
                        null,
                        none.entries(),
                        none.views(),
                        none.summaries(),
                        none.leases(),
                        null,
                        none.metadata(),
                        null),
                Beside.none(null),
                Map.of(),
                Map.of());
    }

    /** The entries of elements that follow some others. */
    static List<Entry> entries(List<Entry> before, List<Element> elements, @Nullable Beside beside) {
        List<String> counters = counters(elements, beside);
        List<Entry> entries = new ArrayList<>(before);
        for (int i = 0; i < elements.size(); i++) {
            Element element = elements.get(i);
            Integer tokens = element.tokens();
            entries.add(new Entry(
                    element.id(),
                    parent(element, entries),
                    entries.size() + 1L,
                    element.raw(),
                    PlainMessage.type(element.role()),
                    tokens == null ? element.estimate() : tokens,
                    tokens == null ? ESTIMATE : counters.get(i),
                    element.createdAt()));
        }
        return entries;
    }

    private static @Nullable String parent(Element element, List<Entry> before) {
        String parent = element.parentId();
        if (!Ids.BEFORE_IN_TIME.equals(parent)) {
            return parent;
        }
        return before.isEmpty() ? null : before.get(before.size() - 1).id();
    }

    /** Whose counts these are: known for what we wrote, as long as it is still there in whole. */
    private static List<String> counters(List<Element> elements, @Nullable Beside beside) {
        List<String> known = new ArrayList<>();
        if (beside != null) {
            for (Beside.Counted run : beside.counters()) {
                for (int i = 0; i < run.messages() && known.size() <= elements.size(); i++) {
                    known.add(run.counter());
                }
            }
            boolean untouched = !known.isEmpty()
                    && known.size() <= elements.size()
                    && elements.get(known.size() - 1).id().equals(beside.last());
            if (!untouched) {
                known.clear();
            }
        }
        while (known.size() < elements.size()) {
            known.add(UNKNOWN_COUNTER);
        }
        return known;
    }

    /**
     * Puts a memory together.
     *
     * @param parsed the document
     * @param kept where its first messages are, or null if all are in the document
     * @param keptEntries these messages
     */
    static Document of(Parsed parsed, Beside.@Nullable Kept kept, List<Entry> keptEntries) {
        Beside beside = parsed.beside() == null ? Beside.none(kept) : parsed.beside();
        List<Entry> entries = entries(keptEntries, parsed.elements(), parsed.beside());
        String last = parsed.elements().isEmpty()
                ? null
                : parsed.elements().get(parsed.elements().size() - 1).id();
        Map<String, Long> sequences = new HashMap<>();
        entries.forEach(entry -> sequences.put(entry.id(), entry.sequence()));
        boolean ours = parsed.beside() != null
                && Objects.equals(beside.last(), last)
                && (beside.head() == null || sequences.containsKey(beside.head()));

        Map<String, Lease> leases = new HashMap<>();
        beside.leases().forEach(lease -> leases.put(lease.name(), lease));
        Instant createdAt = beside.createdAt();
        if (createdAt == null && !entries.isEmpty()) {
            createdAt = entries.get(0).createdAt();
        }
        State state = new State(
                beside.epoch(),
                // Somebody moved the head, so a reader who knows the old one must look again.
                ours || parsed.beside() == null ? beside.revision() : beside.revision() + 1,
                ours ? beside.head() : last,
                List.copyOf(entries),
                views(beside, sequences, parsed.beside() == null ? keptEntries : List.of()),
                summaries(beside, sequences),
                leases,
                beside.title(),
                beside.metadata(),
                createdAt);
        Beside known = new Beside(
                beside.last(),
                beside.head(),
                beside.epoch(),
                beside.revision(),
                beside.counters(),
                beside.views(),
                beside.summaries(),
                beside.leases(),
                beside.title(),
                beside.metadata(),
                beside.createdAt(),
                beside.listed(),
                kept,
                beside.writes(),
                beside.key());
        return new Document(state, known, parsed.othersBeside(), parsed.others());
    }

    /** Views whose messages are there. What lies beside a document that lost ours was cleared, so it stays so. */
    private static List<View> views(Beside beside, Map<String, Long> sequences, List<Entry> cleared) {
        List<View> views = new ArrayList<>();
        if (!cleared.isEmpty()) {
            Entry anchor = cleared.get(cleared.size() - 1);
            views.add(new View(anchor.id(), anchor.sequence(), List.of(), null));
        }
        for (Beside.Shown shown : beside.views()) {
            Long anchor = sequences.get(shown.anchor());
            if (anchor != null && areThere(shown.runs(), sequences)) {
                String summary = sequences.containsKey(shown.summary()) ? shown.summary() : null;
                views.add(new View(shown.anchor(), anchor, shown.runs(), summary));
            }
        }
        return views;
    }

    private static boolean areThere(List<View.Run> runs, Map<String, Long> sequences) {
        return runs.stream()
                .allMatch(run -> sequences.containsKey(run.last())
                        && (run.after() == null || sequences.containsKey(run.after())));
    }

    private static List<Summary> summaries(Beside beside, Map<String, Long> sequences) {
        return beside.summaries().stream()
                .filter(summary -> sequences.containsKey(summary.coversUpTo()))
                .toList();
    }
}
