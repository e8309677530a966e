package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.MemoryTree.Entry;
import io.github.keepsake4j.log.MemoryTree.State;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a changed memory is written as. Elements that were there are written as they stood.
 *
 * @param document the memory as it will be read again
 * @param bytes the document, not compressed
 * @param keptBytes what must be written beside it before, or null if that is there already or there is nothing
 */
@SuppressWarnings("ArrayRecordComponent") // Handed from here to the bucket; nobody compares or changes them.
record Change(Document document, byte[] bytes, byte @Nullable [] keptBytes) {

    /** How many writes a writer can be late and still find its own. */
    private static final int WRITES = 16;

    /**
     * Writes a memory.
     *
     * @param key the memory
     * @param name the document's name
     * @param before what was there
     * @param state what shall be there
     * @param write the id of this write
     */
    static Change of(MemoryKey key, String name, Document before, State state, String write) {
        int kept = Cleared.messages(state);
        boolean erased = state.epoch() != before.state().epoch();
        List<Entry> entries = render(erased ? Document.NONE : before, state, kept);
        boolean keptAsBefore = !erased && kept == before.keptMessages();
        Beside.Kept place = before.beside().kept();
        byte[] keptBytes = null;
        if (kept == 0) {
            place = null;
        } else if (!keptAsBefore) {
            place = new Beside.Kept(Ids.next(), kept);
            keptBytes = keptDocument(entries.subList(0, kept));
        }

        State written = new State(
                state.epoch(),
                state.revision(),
                state.head(),
                entries,
                state.views(),
                state.summaries(),
                state.leases(),
                state.title(),
                state.metadata(),
                state.createdAt());
        Beside beside = beside(key, name, before, written, kept, place, write);
        Document document = new Document(
                written, beside, erased ? Map.of() : before.othersBeside(), erased ? Map.of() : before.others());
        return new Change(document, bytes(document, entries.subList(kept, entries.size())), keptBytes);
    }

    /** Where the place of a message changes, its element says in another way who its parent is. */
    private static List<Entry> render(Document before, State state, int kept) {
        Map<String, Long> sequences = new HashMap<>();
        List<Entry> rendered = new ArrayList<>(state.entries().size());
        List<Entry> old = before.state().entries();
        for (int i = 0; i < state.entries().size(); i++) {
            Entry entry = state.entries().get(i);
            sequences.put(entry.id(), entry.sequence());
            Long parent = entry.parentId() == null ? null : sequences.get(entry.parentId());
            boolean apart = i >= kept && parent != null && parent <= kept;
            String element;
            // The very text that was read: no other memory's, and not that of before an erasure.
            if (i < old.size() && isSame(old.get(i).payload(), entry.payload())) {
                int keptBefore = before.keptMessages();
                boolean wasApart = i >= keptBefore && parent != null && parent <= keptBefore;
                element = apart == wasApart
                        ? entry.payload()
                        : Element.withParent(entry.payload(), entry.parentId(), apart);
            } else {
                element = Element.render(entry, apart);
            }
            rendered.add(isSame(element, entry.payload()) ? entry : withPayload(entry, element));
        }
        return rendered;
    }

    private static Entry withPayload(Entry entry, String payload) {
        return new Entry(
                entry.id(),
                entry.parentId(),
                entry.sequence(),
                payload,
                entry.type(),
                entry.tokens(),
                entry.tokenCounter(),
                entry.createdAt());
    }

    @SuppressWarnings("ReferenceEquality")
    private static boolean isSame(String a, String b) {
        return a == b;
    }

    private static Beside beside(
            MemoryKey key,
            String name,
            Document before,
            State state,
            int kept,
            Beside.@Nullable Kept place,
            String write) {
        List<Entry> shown = state.entries().subList(kept, state.entries().size());
        List<String> writes = new ArrayList<>(before.beside().writes());
        writes.add(write);
        boolean listed = state.createdAt() != null;
        return new Beside(
                shown.isEmpty() ? null : shown.get(shown.size() - 1).id(),
                state.head(),
                state.epoch(),
                state.revision(),
                counters(shown),
                state.views().stream()
                        .map(view ->
                                new Beside.Shown(Objects.requireNonNull(view.anchor()), view.runs(), view.summary()))
                        .toList(),
                state.summaries(),
                List.copyOf(state.leases().values()),
                state.title(),
                state.metadata(),
                state.createdAt(),
                listed ? stamp(name, before) : null,
                place,
                writes.subList(Math.max(0, writes.size() - WRITES), writes.size()),
                listed && ObjectNames.isHashed(name) ? Beside.Key.of(key) : null);
    }

    /** What orders a memory among its tenant's: once it has such a stamp, or could have been listed by one, it keeps it. */
    private static String stamp(String name, Document before) {
        String stamp = stampOf(name, before);
        return stamp == null ? Ids.next() : stamp;
    }

    /**
     * The stamp of a memory that is listed, or null if it is not. A document that somebody else made is placed by its first
     * message's time, in the same form.
     */
    static @Nullable String stampOf(String name, Document document) {
        Instant createdAt = document.state().createdAt();
        if (createdAt == null || document.beside().listed() != null) {
            return createdAt == null ? null : document.beside().listed();
        }
        long millis = Math.max(0, createdAt.toEpochMilli()) & 0xFFFF_FFFF_FFFFL;
        return String.format("%08x-%04x-0000-0000-%012x", millis >>> 16, millis & 0xFFFF, hash(name));
    }

    /** Tells apart what was made in the same millisecond. */
    private static long hash(String name) {
        long hash = 17;
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            hash = hash * 1_099_511_628_211L + b;
        }
        return hash & 0xFFFF_FFFF_FFFFL;
    }

    private static List<Beside.Counted> counters(List<Entry> entries) {
        List<Beside.Counted> counters = new ArrayList<>();
        for (Entry entry : entries) {
            Beside.Counted run = counters.isEmpty() ? null : counters.get(counters.size() - 1);
            if (run != null && run.counter().equals(entry.tokenCounter())) {
                counters.set(counters.size() - 1, new Beside.Counted(run.counter(), run.messages() + 1));
            } else {
                counters.add(new Beside.Counted(entry.tokenCounter(), 1));
            }
        }
        return counters;
    }

    /** A document like any other, so that a person can read it. */
    private static byte[] keptDocument(List<Entry> entries) {
        Beside none = Beside.none(null);
        String last = entries.get(entries.size() - 1).id();
        Beside beside = new Beside(
                last,
                last,
                none.epoch(),
                none.revision(),
                counters(entries),
                none.views(),
                none.summaries(),
                none.leases(),
                null,
                none.metadata(),
                null,
                null,
                null,
                none.writes(),
                null);
        return bytes(new Document(Document.NONE.state(), beside, Map.of(), Map.of()), entries);
    }

    private static byte[] bytes(Document document, List<Entry> entries) {
        int length = 200;
        for (Entry entry : entries) {
            length += entry.payload().length() + 2;
        }
        StringBuilder json = new StringBuilder(Math.max(length, 200)).append("{\"version\":1,\"messages\":[");
        String separator = "\n";
        for (Entry entry : entries) {
            json.append(separator).append(entry.payload());
            separator = ",\n";
        }
        json.append(entries.isEmpty() ? "]" : "\n]");
        document.others().forEach((name, value) -> json.append(",\n")
                .append(RawJson.write(name))
                .append(':')
                .append(value));
        Map<String, String> beside = new LinkedHashMap<>(RawJson.fieldsOf(RawJson.write(document.beside())));
        beside.putAll(document.othersBeside());
        json.append(",\n\"").append(Element.EXTRA).append("\":").append(RawJson.object(beside));
        return json.append("}\n").toString().getBytes(StandardCharsets.UTF_8);
    }
}
