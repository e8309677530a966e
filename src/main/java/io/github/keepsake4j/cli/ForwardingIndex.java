package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.Matches;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.Scope;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An index that passes all calls to another one. */
abstract class ForwardingIndex implements MessageIndex {

    private final MessageIndex index;

    ForwardingIndex(MessageIndex index) {
        this.index = index;
    }

    @Override
    public void open(String fingerprint) {
        index.open(fingerprint);
    }

    @Override
    public Map<MemoryKey, Watermark> watermarks(Collection<? extends MemoryKey> keys) {
        return index.watermarks(keys);
    }

    @Override
    public boolean add(MemoryKey key, @Nullable Watermark before, Watermark after, List<IndexedMessage> messages) {
        return index.add(key, before, after, messages);
    }

    @Override
    public void remove(MemoryKey key) {
        index.remove(key);
    }

    @Override
    public void clear() {
        index.clear();
    }

    @Override
    public void compact() {
        index.compact();
    }

    @Override
    public List<String> tenants() {
        return index.tenants();
    }

    @Override
    public Map<Long, MemoryKey> memories(String tenant, long after, int limit) {
        return index.memories(tenant, after, limit);
    }

    @Override
    public Map<Long, MemoryKey> keys(Collection<Long> numbers) {
        return index.keys(numbers);
    }

    @Override
    public Matches match(Scope scope, Collection<String> terms, int maxPostings) {
        return index.match(scope, terms, maxPostings);
    }

    @Override
    public Map<MemoryKey, VectorMark> vectorMarks(String model, Collection<? extends MemoryKey> keys) {
        return index.vectorMarks(model, keys);
    }

    @Override
    public boolean addVectors(
            String model, MemoryKey key, @Nullable VectorMark before, VectorMark after, List<MessageVector> vectors) {
        return index.addVectors(model, key, before, after, vectors);
    }

    @Override
    public void cosines(
            String model,
            Scope scope,
            float[] query,
            int most,
            Map<MemoryKey, ? extends Collection<Long>> others,
            CosineReader reader) {
        index.cosines(model, scope, query, most, others, reader);
    }

    @Override
    public String backend() {
        return index.backend();
    }

    /** The owner of the other index closes it. */
    @Override
    public void close() {}
}
