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

        final Map<String, Vectors> vectors = new HashMap<>();

        @Nullable
        Watermark watermark;

        long messages;
        long length;

        Memory(long number, MemoryKey key) {
            this.number = number;
            this.key = key;
        }
    }

    /** The vectors of one model. */
    private record Vectors(VectorMark mark, List<MessageVector> all) {}

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
            if (memory != null && memory.watermark != null) {
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
        Memory memory = known == null ? new Memory(++lastNumber, key) : known;
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
        List<Memory> inScope = memories.values().stream()
                .filter(memory -> scope.memories() == null
                        ? memory.key.tenant().equals(scope.tenant())
                        : scope.memories().contains(memory.key))
                .toList();
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

    @Override
    public synchronized Map<MemoryKey, VectorMark> vectorMarks(String model, Collection<? extends MemoryKey> keys) {
        checkOpen("vector marks");
        Map<MemoryKey, VectorMark> marks = new HashMap<>();
        for (MemoryKey key : keys) {
            Vectors known = vectors(model, key);
            if (known != null) {
                marks.put(key, known.mark());
            }
        }
        return marks;
    }

    private @Nullable Vectors vectors(String model, MemoryKey key) {
        Memory memory = byKey.get(key);
        return memory == null ? null : memory.vectors.get(model);
    }

    @Override
    public synchronized boolean addVectors(
            String model, MemoryKey key, @Nullable VectorMark before, VectorMark after, List<MessageVector> vectors) {
        checkOpen("adding of vectors of memory " + key);
        Memory memory = byKey.get(key);
        Vectors known = vectors(model, key);
        if (memory == null
                || memory.watermark == null
                || memory.watermark.epoch() != after.epoch()
                || !Objects.equals(before, known == null ? null : known.mark())) {
            return false;
        }
        List<MessageVector> all = known == null ? new ArrayList<>() : known.all();
        all.addAll(vectors);
        memory.vectors.put(model, new Vectors(after, all));
        return true;
    }

    @Override
    public synchronized void cosines(String model, Scope scope, float[] query, int most, CosineReader reader) {
        checkOpen("search by meaning");
        int left = most;
        for (Memory memory : memories.values()) {
            boolean isInScope = scope.memories() == null
                    ? memory.key.tenant().equals(scope.tenant())
                    : scope.memories().contains(memory.key);
            Vectors known = memory.vectors.get(model);
            for (int i = known == null || !isInScope ? -1 : known.all().size() - 1; i >= 0 && left > 0; i--, left--) {
                read(memory.key, known.all().get(i), query, reader);
            }
        }
    }

    @Override
    public synchronized void cosines(
            String model, Map<MemoryKey, ? extends Collection<Long>> sequences, float[] query, CosineReader reader) {
        checkOpen("search by meaning");
        sequences.forEach((key, asked) -> {
            Vectors known = vectors(model, key);
            if (known != null) {
                known.all().stream()
                        .filter(vector -> asked.contains(vector.sequence()))
                        .forEach(vector -> read(key, vector, query, reader));
            }
        });
    }

    private static void read(MemoryKey key, MessageVector vector, float[] query, CosineReader reader) {
        double sum = 0;
        for (int i = 0; i < query.length; i++) {
            sum += query[i] * vector.vector()[i];
        }
        reader.read(key, vector.sequence(), vector.time(), sum);
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
