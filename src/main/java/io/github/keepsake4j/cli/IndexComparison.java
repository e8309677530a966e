package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageSearch;
import io.github.keepsake4j.recall.Posting;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.words.Words;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Compares an index with what a new one would have. The indexer indexes all memories again, and what it would add is looked up
 * instead. Nothing is changed.
 */
final class IndexComparison extends ForwardingIndex {

    /** The number of terms that are looked up at once. Of frequent ones, each has as many postings as there are messages. */
    private static final int TERMS = 200;

    /** The number of turns without a result after which all is compared that can be. */
    private static final int MOST_FRUITLESS = 10;

    private final String tenant;
    private final ProgressLine progress;
    private final long all;
    private final Map<MemoryKey, Watermark> compared = new HashMap<>();
    private final Map<MemoryKey, Set<Long>> wrong = new HashMap<>();
    private long messages;

    private IndexComparison(MessageIndex index, String tenant, ProgressLine progress, long all) {
        super(index);
        this.tenant = tenant;
        this.progress = progress;
        this.all = all;
    }

    /**
     * What was compared.
     *
     * @param memories the number of memories
     * @param wrong the memories in which messages are indexed otherwise, with the number of these messages
     */
    record Report(long memories, Map<MemoryKey, Integer> wrong) {}

    /** Compares all memories of a tenant but those that cannot be read. */
    static Report of(MessageLog log, MessageIndex index, String tenant, ProgressLine progress, IndexState state) {
        IndexComparison comparison = new IndexComparison(index, tenant, progress, state.messages());
        Schedule schedule = new Schedule();
        new MessageSearch(comparison, key -> log, List.of(log), Words.standard(), schedule.soon(), schedule::after)
                .start(tenant);
        // The indexer pauses when a memory cannot be read, and goes on with others.
        for (int fruitless = 0; fruitless < MOST_FRUITLESS; fruitless++) {
            int before = comparison.compared.size();
            schedule.runNext();
            fruitless = comparison.compared.size() > before ? 0 : fruitless;
        }
        Map<MemoryKey, Integer> counts = new HashMap<>();
        comparison.wrong.forEach((key, sequences) -> counts.put(key, sequences.size()));
        return new Report(comparison.compared.size(), counts);
    }

    @Override
    public List<String> tenants() {
        return List.of(tenant);
    }

    @Override
    public Map<MemoryKey, Watermark> watermarks(Collection<? extends MemoryKey> keys) {
        Map<MemoryKey, Watermark> watermarks = new HashMap<>(compared);
        watermarks.keySet().retainAll(Set.copyOf(keys));
        return watermarks;
    }

    @Override
    public void remove(MemoryKey key) {
        compared.remove(key);
    }

    @Override
    public boolean add(MemoryKey key, @Nullable Watermark before, Watermark after, List<IndexedMessage> added) {
        Watermark known = super.watermarks(List.of(key)).get(key);
        if (known != null) {
            List<IndexedMessage> indexed = added.stream()
                    .filter(message -> message.sequence() <= known.sequence())
                    .toList();
            Set<Long> differing = differing(key, indexed);
            if (!differing.isEmpty()) {
                wrong.computeIfAbsent(key, k -> new HashSet<>()).addAll(differing);
            }
        }
        compared.put(key, after);
        messages += added.size();
        progress.tell(() -> new Step(
                Printable.number(messages) + " of " + Printable.count(all, "message") + " compared: "
                        + Printable.memory(key),
                messages,
                all));
        return true;
    }

    private Set<Long> differing(MemoryKey key, List<IndexedMessage> expected) {
        Set<Long> differing = new HashSet<>();
        if (expected.isEmpty()) {
            return differing;
        }
        Map<String, Set<Posting>> byTerm = new HashMap<>();
        for (IndexedMessage message : expected) {
            long block = message.sequence() / Posting.BLOCK * Posting.BLOCK;
            message.terms().forEach((term, count) -> byTerm.computeIfAbsent(term, t -> new HashSet<>())
                    .add(Posting.decode(0, block, Posting.encode(message, count))));
        }
        long first = expected.get(0).sequence();
        long last = expected.get(expected.size() - 1).sequence();
        List<String> terms = new ArrayList<>(byTerm.keySet());
        for (int from = 0; from < terms.size(); from += TERMS) {
            List<String> some = terms.subList(from, Math.min(terms.size(), from + TERMS));
            Map<String, List<Posting>> found =
                    match(Scope.memory(key), some, Integer.MAX_VALUE).postings();
            for (String term : some) {
                Set<Posting> stored = new HashSet<>();
                for (Posting posting : found.getOrDefault(term, List.of())) {
                    if (posting.sequence() >= first && posting.sequence() <= last) {
                        stored.add(
                                new Posting(0, posting.sequence(), posting.count(), posting.length(), posting.type()));
                    }
                }
                differing.addAll(differing(byTerm.getOrDefault(term, Set.of()), stored));
            }
        }
        return differing;
    }

    /** Returns the sequences of what is in one of the sets only. */
    private static Set<Long> differing(Set<Posting> one, Set<Posting> other) {
        Set<Long> sequences = new HashSet<>();
        one.stream().filter(posting -> !other.contains(posting)).forEach(posting -> sequences.add(posting.sequence()));
        other.stream().filter(posting -> !one.contains(posting)).forEach(posting -> sequences.add(posting.sequence()));
        return sequences;
    }
}
