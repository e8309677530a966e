package io.github.keepsake4j.recall.inmemory;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.Matches;
import io.github.keepsake4j.recall.Matches.Share;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.Posting;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.vectors.QueryVector;
import io.github.keepsake4j.recall.vectors.VectorRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Keeps an index in this process's memory. The index ends with the process, and the next process builds it again. */
public final class InMemoryMessageIndex implements MessageIndex {

    /** The memories by their numbers, the newest first. */
    private final NavigableMap<Long, Memory> memories = new TreeMap<>(Comparator.reverseOrder());

    private final Map<MemoryKey, Memory> byKey = new HashMap<>();
    private String words = "";
    private long lastNumber;
    private boolean closed;

    /** Creates an empty index. */
    public InMemoryMessageIndex() {}

    /** The data of a memory. */
    private static final class Memory {
        final long number;
        final MemoryKey key;
        final Map<String, List<Posting>> postings = new HashMap<>();
        Watermark watermark;
        long messages;
        long length;

        /** By the text that identifies the model. */
        final Map<String, Vectors> vectors = new HashMap<>();

        Memory(long number, MemoryKey key, Watermark watermark) {
            this.number = number;
            this.key = key;
            this.watermark = watermark;
        }
    }

    /** The vectors of a memory by one model: the rows that a database has, by their first sequences. */
    private static final class Vectors {

        final NavigableMap<Long, VectorRow> rows = new TreeMap<>();

        @Nullable
        VectorMark mark;

        void add(List<VectorRow> added, long completed) {
            List<VectorRow> earlier = completed < 0
                    ? List.of()
                    : List.copyOf(rows.tailMap(completed).values());
            List<VectorRow> written = earlier.isEmpty() ? added : VectorRow.joined(earlier, added);
            earlier.forEach(row -> rows.remove(row.sequence()));
            written.forEach(row -> rows.put(row.sequence(), row));
        }
    }

    private void checkOpen(String what) {
        if (closed) {
            throw new StorageClosedException(what);
        }
    }

    @Override
    public synchronized void open(String fingerprint) {
        checkOpen("opening of the index");
        if (words.isEmpty()) {
            words = fingerprint;
        }
        MessageIndex.checkWords(words, fingerprint);
    }

    @Override
    public synchronized Map<MemoryKey, Watermark> watermarks(Collection<? extends MemoryKey> keys) {
        checkOpen("watermarks");
        Map<MemoryKey, Watermark> watermarks = new HashMap<>();
        for (MemoryKey key : keys) {
            Memory memory = byKey.get(key);
            if (memory != null) {
                watermarks.put(key, memory.watermark);
            }
        }
        return watermarks;
    }

    @Override
    public synchronized boolean add(
            MemoryKey key, @Nullable Watermark before, Watermark after, List<IndexedMessage> messages) {
        checkOpen("indexing of memory " + key);
        after.checkBehind(before);
        Memory known = byKey.get(key);
        if (!Objects.equals(before, known == null ? null : known.watermark)) {
            return false;
        }
        Memory memory = known == null ? new Memory(++lastNumber, key, after) : known;
        memories.put(memory.number, memory);
        byKey.put(key, memory);
        memory.watermark = after;
        for (IndexedMessage message : messages) {
            memory.messages++;
            memory.length += message.length();
            long block = message.sequence() / Posting.BLOCK * Posting.BLOCK;
            message.terms().forEach((term, count) -> memory.postings
                    .computeIfAbsent(term, t -> new ArrayList<>())
                    .add(Posting.decode(memory.number, block, Posting.encode(message, count))));
        }
        return true;
    }

    @Override
    public synchronized void remove(MemoryKey key) {
        checkOpen("removal of memory " + key + " from the index");
        Memory removed = byKey.remove(key);
        if (removed != null) {
            memories.remove(removed.number);
        }
    }

    @Override
    public synchronized void clear() {
        checkOpen("clearing of the index");
        memories.clear();
        byKey.clear();
        words = "";
    }

    @Override
    public void compact() {
        // No removed data remains.
    }

    @Override
    public synchronized List<String> tenants() {
        checkOpen("tenants of the index");
        return byKey.keySet().stream().map(MemoryKey::tenant).distinct().toList();
    }

    @Override
    public synchronized Map<Long, MemoryKey> memories(String tenant, long after, int limit) {
        checkOpen("memories of the index");
        Map<Long, MemoryKey> page = new LinkedHashMap<>();
        for (Memory memory : memories.descendingMap().tailMap(after, false).values()) {
            if (page.size() < limit && memory.key.tenant().equals(tenant)) {
                page.put(memory.number, memory.key);
            }
        }
        return page;
    }

    @Override
    public synchronized Map<Long, MemoryKey> keys(Collection<Long> numbers) {
        checkOpen("memories of the index");
        Map<Long, MemoryKey> keys = new HashMap<>();
        for (long number : numbers) {
            Memory memory = memories.get(number);
            if (memory != null) {
                keys.put(number, memory.key);
            }
        }
        return keys;
    }

    @Override
    public synchronized Matches match(Scope scope, Collection<String> terms, int maxPostings) {
        checkOpen("search");
        InvalidInputException.checkRange("terms", 0, MAX_TERMS, terms.size());
        InvalidInputException.checkAtLeast("maxPostings", 1, maxPostings);
        List<Memory> inScope = inScope(scope);
        Map<String, Long> frequencies = new HashMap<>();
        for (String term : new LinkedHashSet<>(terms)) {
            long messages = inScope.stream()
                    .mapToLong(memory ->
                            memory.postings.getOrDefault(term, List.of()).size())
                    .sum();
            if (messages > 0) {
                frequencies.put(term, messages);
            }
        }
        Map<String, List<Posting>> postings = new LinkedHashMap<>();
        for (Share share : Matches.choose(frequencies, maxPostings)) {
            List<Posting> read = postings.computeIfAbsent(share.term(), term -> new ArrayList<>());
            inScope.stream()
                    .map(memory -> memory.postings.getOrDefault(share.term(), List.of()))
                    .filter(all -> !all.isEmpty())
                    .limit(maxPostings)
                    .forEach(all -> {
                        int most = share.of(all.size());
                        for (int i = all.size() - 1; i >= all.size() - most; i--) {
                            read.add(all.get(i));
                        }
                    });
        }
        return new Matches(
                inScope.stream().mapToLong(memory -> memory.messages).sum(),
                inScope.stream().mapToLong(memory -> memory.length).sum(),
                frequencies,
                postings);
    }

    private List<Memory> inScope(Scope scope) {
        return memories.values().stream()
                .filter(memory -> scope.memories() == null
                        ? memory.key.tenant().equals(scope.tenant())
                        : scope.memories().contains(memory.key))
                .toList();
    }

    @Override
    public synchronized Map<MemoryKey, VectorMark> vectorMarks(String model, Collection<? extends MemoryKey> keys) {
        checkOpen("marks of vectors");
        Map<MemoryKey, VectorMark> marks = new HashMap<>();
        for (MemoryKey key : keys) {
            Memory memory = byKey.get(key);
            Vectors known = memory == null ? null : memory.vectors.get(model);
            if (known != null && known.mark != null) {
                marks.put(key, known.mark);
            }
        }
        return marks;
    }

    /** Vectors of unused models are not removed: a process seldom changes its model, and the index ends with it. */
    @Override
    public synchronized boolean addVectors(
            String model, MemoryKey key, @Nullable VectorMark before, VectorMark after, List<MessageVector> vectors) {
        checkOpen("vectors of memory " + key);
        List<VectorRow> added = VectorRow.of(before, after, vectors);
        Memory memory = byKey.get(key);
        if (memory == null || memory.watermark.epoch() != after.epoch()) {
            return false;
        }
        Vectors known = memory.vectors.getOrDefault(model, new Vectors());
        if (!Objects.equals(before, known.mark)) {
            return false;
        }
        known.add(added, VectorRow.completed(before, after));
        known.mark = after;
        memory.vectors.put(model, known);
        return true;
    }

    @Override
    public synchronized void cosines(
            String model,
            Scope scope,
            float[] query,
            int most,
            Map<MemoryKey, ? extends Collection<Long>> others,
            CosineReader reader) {
        checkOpen("cosines");
        InvalidInputException.checkAtLeast("most", 1, most);
        record Found(MemoryKey key, VectorRow row) {}
        List<Found> newestFirst = new ArrayList<>();
        for (Memory memory : inScope(scope)) {
            Vectors vectors = memory.vectors.getOrDefault(model, new Vectors());
            vectors.rows.descendingMap().values().forEach(row -> newestFirst.add(new Found(memory.key, row)));
        }
        newestFirst.sort(
                Comparator.comparingLong((Found found) -> found.row().newest()).reversed());
        QueryVector vector = QueryVector.of(query);
        long left = most;
        for (Found found : newestFirst) {
            boolean isOther = others.containsKey(found.key())
                    && others.get(found.key()).stream()
                            .anyMatch(sequence -> VectorRow.block(sequence)
                                    == VectorRow.block(found.row().sequence()));
            long read = isOther ? found.row().amount() : left;
            if (read > 0) {
                found.row().cosines(vector).read(found.key(), read, reader);
            }
            left -= found.row().amount();
        }
    }

    @Override
    public String backend() {
        return "inmemory";
    }

    @Override
    public synchronized void close() {
        closed = true;
    }
}
