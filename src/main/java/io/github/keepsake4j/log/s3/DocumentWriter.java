package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.backend.MemoryTree.State;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.s3.KeepsakeField.Step;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Writes changed memories as documents. Existing elements are written unchanged. */
final class DocumentWriter {

    /** The number of later writes after which a writer no longer recognizes its own write. */
    private static final int WRITES = 16;

    /**
     * A document that was written, but not yet sent to the bucket.
     *
     * @param document the memory as it will be read again
     * @param bytes the document, not compressed
     * @param keptBytes the object beside it, which must be stored first; null if it exists already or there is none
     */
    @SuppressWarnings("ArrayRecordComponent") // Passed from here to the bucket; never compared or changed.
    record Written(Document document, byte[] bytes, byte @Nullable [] keptBytes) {}

    private DocumentWriter() {}

    /**
     * Writes a memory.
     *
     * @param key the memory
     * @param name the document's name
     * @param stored the document that is there
     * @param state the memory that shall be there
     * @param write the id of this write
     * @param step the effect of the write on the object
     */
    static Written write(MemoryKey key, String name, Document stored, State state, String write, Step step) {
        boolean erased = state.epoch() != stored.state().epoch();
        Document before = erased ? Document.empty(1, 1, stored.writes()) : stored;
        int hidden = hidden(state);
        boolean keptIsThere = hidden == before.keptMessages() && !hasOtherOutcome(before, state, hidden);
        String kept = hidden == 0 ? null : keptIsThere ? before.kept() : Ids.next();
        State written = state.withEntries(elements(before, state.entries(), hidden));
        List<String> writes = new ArrayList<>(before.writes());
        writes.add(write);

        Document document = new Document(
                written,
                kept,
                hidden,
                List.copyOf(writes.subList(Math.max(0, writes.size() - WRITES), writes.size())),
                before.othersInKeepsake(),
                before.others());
        return new Written(
                document,
                bytes(
                        document,
                        key.tenant(),
                        state.createdAt() != null && ObjectNames.isHashed(name) ? key : null,
                        step),
                kept == null || keptIsThere
                        ? null
                        : bytes(Document.holding(document.keptEntries()), key.tenant(), null, Step.REPLACE));
    }

    /**
     * Writes the mark of a removal other than an erasure. It exists until the object is deleted.
     *
     * @param tenant the tenant, or null if it is not known
     */
    static byte[] mark(Document removed, @Nullable String tenant) {
        return bytes(removed, tenant, null, Step.REMOVE);
    }

    /**
     * Returns the entries with elements as payloads. An element names its parent differently if only the parent is
     * kept.
     */
    private static List<Entry> elements(Document before, List<Entry> entries, int hidden) {
        Map<String, Integer> places = new HashMap<>();
        List<Entry> written = new ArrayList<>(entries.size());
        List<Entry> old = before.state().entries();
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            Integer parent = entry.parentId() == null ? null : places.get(entry.parentId());
            boolean parentIsKept = parent != null && parent < hidden && i >= hidden;
            String element;
            // An unchanged entry has the same text as when it was read.
            if (Element.isBroken(entry.payload())) {
                element = entry.payload();
            } else if (i < old.size() && isSame(old.get(i).payload(), entry.payload())) {
                int hiddenBefore = before.keptMessages();
                boolean parentWasKept = parent != null && parent < hiddenBefore && i >= hiddenBefore;
                element = parentIsKept == parentWasKept
                        ? entry.payload()
                        : Element.withParent(RawJson.fieldsOf(entry.payload()), entry.parentId(), parentIsKept);
                if (hasOtherOutcome(old.get(i), entry)) {
                    element = Element.withOutcome(element, entry.outcome());
                }
            } else {
                element = Element.write(entry, parentIsKept);
            }
            places.put(entry.id(), i);
            written.add(isSame(element, entry.payload()) ? entry : entry.withPayload(element));
        }
        return List.copyOf(written);
    }

    /** Returns whether the outcome of one of the first messages has changed, so that they must be written again. */
    private static boolean hasOtherOutcome(Document before, State state, int messages) {
        List<Entry> old = before.state().entries();
        return IntStream.range(0, Math.min(messages, old.size()))
                .anyMatch(i -> hasOtherOutcome(old.get(i), state.entries().get(i)));
    }

    /** Unreadable messages are recorded outside of their elements. */
    private static boolean hasOtherOutcome(Entry old, Entry entry) {
        return !Objects.equals(old.outcome(), entry.outcome()) && !Outcome.UNREADABLE.equals(entry.outcome());
    }

    @SuppressWarnings("ReferenceEquality")
    private static boolean isSame(String a, String b) {
        return a == b;
    }

    private static byte[] bytes(Document document, @Nullable String tenant, @Nullable MemoryKey key, Step step) {
        StringBuilder json = new StringBuilder("{\"version\":1,\"messages\":[");
        String separator = "\n";
        for (Entry entry : document.shown()) {
            json.append(separator).append(Element.written(entry.payload()));
            separator = ",\n";
        }
        json.append(document.shown().isEmpty() ? "]" : "\n]");
        document.others().forEach((name, value) -> json.append(",\n")
                .append(RawJson.write(name))
                .append(':')
                .append(value));
        Map<String, String> keepsake =
                new LinkedHashMap<>(RawJson.fieldsOf(RawJson.write(KeepsakeField.of(document, tenant, key, step))));
        keepsake.putAll(document.othersInKeepsake());
        json.append(",\n\"").append(Element.EXTRA).append("\":").append(RawJson.object(keepsake));
        return json.append("}\n").toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the number of first messages that a plain reader must not see: all up to the place where the memory was
     * cleared, unless a view or a moved head shows one of them again.
     */
    private static int hidden(State state) {
        long cleared = state.views().stream()
                .filter(view -> view.runs().isEmpty() && view.summary() == null)
                .mapToLong(View::anchorSequence)
                .max()
                .orElse(0);
        return cleared == 0 ? 0 : (int) Math.min(cleared, oldestShown(state) - 1);
    }

    private static long oldestShown(State state) {
        Map<String, Entry> byId = new HashMap<>();
        state.entries().forEach(entry -> byId.put(entry.id(), entry));
        Map<String, View> views = new HashMap<>();
        state.views().forEach(view -> views.put(view.anchor(), view));
        long oldest = Long.MAX_VALUE;
        for (Entry at = byId.get(state.head()); at != null; at = parent(at, byId)) {
            View inForce = views.get(at.id());
            if (inForce != null) {
                for (View.Run run : inForce.runs()) {
                    Entry shown = byId.get(run.last());
                    while (shown != null && !shown.id().equals(run.after())) {
                        oldest = Math.min(oldest, shown.sequence());
                        shown = parent(shown, byId);
                    }
                }
                return oldest;
            }
            oldest = at.sequence();
        }
        return oldest;
    }

    /** Returns the parent. A parent that comes later in a document does not count, so that no path is a cycle. */
    private static @Nullable Entry parent(Entry entry, Map<String, Entry> byId) {
        Entry parent = byId.get(entry.parentId());
        return parent != null && parent.sequence() < entry.sequence() ? parent : null;
    }
}
