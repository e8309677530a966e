package io.github.keepsake4j.recall;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.message.AiMessage;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Selection;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageIndex.MessageVector;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.words.Words;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes the vectors of messages whose words are indexed, in the background. It has its own queue, so that the words
 * never wait for a model. The vectors of a page and the mark behind it are written in one step, as an {@link Indexer}
 * does. Thread-safe.
 */
final class Embedder {

    private static final String LEASE = "vectors";

    /**
     * The number of messages of one step, which are those of a block in the index. A killed process makes their vectors
     * again.
     */
    private static final int PAGE = MessageIndex.VECTOR_BLOCK;

    /** The largest number of messages by which the model is measured. */
    static final int MAX_SAMPLE = 400;

    private final MessageIndex index;
    private final Function<MemoryKey, MessageLog> logs;
    private final Words words;
    private final Embeddings embeddings;
    private final Duration lease;
    private final String owner = Ids.next();
    private final BackgroundQueue<MemoryKey> memories;
    private final BackgroundQueue<String> tenants;

    /**
     * Creates an embedder that does nothing until something changes.
     *
     * @param logs returns the log that keeps a memory
     * @param words the words of the index
     * @param executor runs the work
     * @param later returns an executor that runs something after a pause
     * @param settings the pause and the lease, as those of the indexer
     */
    Embedder(
            MessageIndex index,
            Function<MemoryKey, MessageLog> logs,
            Words words,
            Embeddings embeddings,
            Executor executor,
            Function<Duration, Executor> later,
            Indexer.Settings settings) {
        this.index = index;
        this.logs = logs;
        this.words = words;
        this.embeddings = embeddings;
        this.lease = settings.lease();
        memories = new BackgroundQueue<>("embedding", this::catchUp, settings.pause(), executor, later);
        tenants = new BackgroundQueue<>("comparison of the vectors", this::compare, settings.pause(), executor, later);
    }

    /** Records that messages of a memory were indexed. A later comparison finds the memories that do not fit. */
    void indexed(MemoryKey key) {
        memories.add(key);
    }

    /** Looks later for memories of a tenant whose vectors are behind their words, as after a restart. */
    void compareLater(String tenant) {
        tenants.add(tenant);
    }

    private boolean compare(String tenant) {
        String model = embeddings.indexId();
        Indexer.eachPage(index, tenant, keys -> {
            Map<MemoryKey, VectorMark> marks = index.vectorMarks(model, keys);
            index.watermarks(keys).forEach((key, watermark) -> {
                VectorMark mark = marks.get(key);
                if (mark == null || mark.sequence() < watermark.sequence()) {
                    memories.add(key);
                }
            });
        });
        return true;
    }

    /**
     * Makes the vectors of a memory's messages between the mark and the watermark.
     *
     * @return false if another process makes them, or the memory was erased meanwhile; then try again later
     */
    private boolean catchUp(MemoryKey key) {
        String model = embeddings.indexId();
        MessageLog log = logs.apply(key);
        Watermark watermark = index.watermarks(List.of(key)).get(key);
        // The indexer, which comes first, reports the memory again.
        if (watermark == null || Reads.position(log, key).epoch() != watermark.epoch()) {
            return true;
        }
        VectorMark known = index.vectorMarks(model, List.of(key)).get(key);
        if (known != null && known.epoch() != watermark.epoch()) {
            return false;
        }
        Pass pass = new Pass(model, key, log, watermark, known);
        boolean leased = false;
        try {
            while (pass.isBehind()) {
                HistoryPage page = log.history(key, pass.next());
                List<LoggedMessage> indexed = page.messages().stream()
                        .filter(message -> message.sequence() <= watermark.sequence())
                        .toList();
                if (indexed.isEmpty()) {
                    return true;
                }
                if (page.next().isPresent()) {
                    leased = log.acquireLease(key, LEASE, owner, lease).isPresent();
                    if (!leased) {
                        return false;
                    }
                }
                if (!pass.add(indexed)) {
                    return false;
                }
            }
            return true;
        } finally {
            if (leased) {
                log.releaseLease(key, LEASE, owner);
            }
        }
    }

    /**
     * Returns whether a message is one of those by which a model is measured. They are spread evenly. With more
     * messages, it is some of the same ones.
     *
     * @param sequence the message's sequence
     * @param messages the number of the memory's messages
     */
    static boolean isSampled(long sequence, long messages) {
        int halvings = 0;
        while (messages >> halvings > MAX_SAMPLE) {
            halvings++;
        }
        // Multiples of the golden ratio are spread evenly. Powers of two would be only questions or only answers.
        return Long.numberOfLeadingZeros(sequence * 0x9E3779B97F4A7C15L) >= halvings;
    }

    /** One pass over the messages of a memory. */
    private final class Pass {

        private final String model;
        private final MemoryKey key;
        private final MessageLog log;
        private final Watermark watermark;
        private final NavigableMap<Long, Gate.Sample> sample = new TreeMap<>();
        private @Nullable VectorMark mark;
        private long sequence;

        /** The sequence of the last message that belongs into the sample and was not read in this pass. */
        private long unread;

        Pass(String model, MemoryKey key, MessageLog log, Watermark watermark, @Nullable VectorMark mark) {
            this.model = model;
            this.key = key;
            this.log = log;
            this.watermark = watermark;
            this.mark = mark;
            sequence = mark == null ? 0 : mark.sequence();
            unread = sequence;
        }

        /** Returns the query for the messages up to the end of their block. */
        HistoryQuery next() {
            return HistoryQuery.after(sequence, PAGE - (int) ((sequence + 1) % PAGE));
        }

        boolean isBehind() {
            return sequence < watermark.sequence();
        }

        /** Adds the vectors of the next messages. Returns false if another process did, or the memory was erased. */
        boolean add(List<LoggedMessage> messages) {
            sequence = messages.get(messages.size() - 1).sequence();
            List<MessageVector> vectors = vectors(messages, Embeddings.MAX_PARTS);
            VectorMark after = after();
            if (!index.addVectors(model, key, mark, after, vectors)) {
                return false;
            }
            // Messages that were erased after they were read must not stay in the index.
            if (Reads.position(log, key).epoch() != watermark.epoch()) {
                index.remove(key);
                return false;
            }
            mark = after;
            return true;
        }

        private VectorMark after() {
            VectorMark known = mark;
            boolean hasDoubled = known == null || sequence >= 2 * known.measured();
            if (known != null && !hasDoubled) {
                return new VectorMark(watermark.epoch(), sequence, known.weight(), known.measured());
            }
            return new VectorMark(watermark.epoch(), sequence, Gate.measure(sample()), sequence);
        }

        /** Embeds messages, and keeps those that may be sampled. */
        private List<MessageVector> vectors(List<LoggedMessage> messages, int most) {
            record Part(LoggedMessage message, String text) {}
            List<Part> parts = messages.stream()
                    .flatMap(message -> IndexedText.said(message).map(Embeddings::parts).stream()
                            .flatMap(List::stream)
                            // What an answer is about is in its beginning.
                            .limit(message.message() instanceof AiMessage ? 1 : most)
                            .map(text -> new Part(message, text)))
                    .toList();
            List<Optional<float[]>> made =
                    embeddings.ofParts(parts.stream().map(Part::text).toList());
            List<MessageVector> vectors = new ArrayList<>();
            for (int i = 0; i < parts.size(); i++) {
                LoggedMessage message = parts.get(i).message();
                made.get(i).ifPresent(vector -> {
                    vectors.add(new MessageVector(message.sequence(), message.createdAt(), vector));
                    if (isSampled(message.sequence(), sequence)) {
                        sample.computeIfAbsent(message.sequence(), s -> sample(message, vector));
                    }
                });
            }
            return vectors;
        }

        private Gate.Sample sample(LoggedMessage message, float[] vector) {
            IndexedMessage split = IndexedText.split(message, words);
            return new Gate.Sample(split.terms(), split.length(), Embedding.from(vector));
        }

        /** Returns messages from all of the memory. The index returns no vectors, so those of older ones are made. */
        private List<Gate.Sample> sample() {
            Set<Long> missing = LongStream.rangeClosed(1, unread)
                    .filter(one -> isSampled(one, sequence))
                    .boxed()
                    .collect(Collectors.toSet());
            unread = 0;
            if (!missing.isEmpty()) {
                List<LoggedMessage> read = log.find(Selection.ofSequences(Map.of(key, missing))).values().stream()
                        .flatMap(List::stream)
                        .map(Found::message)
                        .toList();
                vectors(read, 1);
            }
            sample.keySet().removeIf(one -> !isSampled(one, sequence));
            return List.copyOf(sample.values());
        }
    }
}
