package io.github.keepsake4j.memories.store;

import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.base.Spread;
import io.github.keepsake4j.memories.FactQuery;
import io.github.keepsake4j.memories.FoundLongTermMemory;
import io.github.keepsake4j.memories.LongTermMemoryReader;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.LongTermMemoryWriter;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageSearch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * A store that finds facts by their meaning too. A fact gets the vector of its title and summary when it is added, and
 * the store behind keeps it with the fact. Without a vector of the question or of a fact, its words serve alone.
 * Thread-safe, if the model is.
 */
public final class FactsByMeaning extends GuardedMemoryStore {

    /** The number of a discussion's newest facts whose meaning is compared. */
    private static final int NEWEST = 5_000;

    /** The number of facts whose meanings are compared with each other. */
    private static final int SAMPLE = 40;

    /** The fewest facts that tell how near unrelated facts are. */
    private static final int FEWEST = 5;

    /** The least cosine if there are fewer. */
    private static final double LEAST = 0.25;

    /** A fact is near if its cosine exceeds the mean of unrelated facts by so many deviations. */
    private static final double DEVIATIONS = 1.5;

    /** The weight of meaning, as among messages. */
    private static final double WEIGHT = 0.7;

    private static final Comparator<FoundLongTermMemory> BEST_FIRST =
            Comparator.comparingDouble(FoundLongTermMemory::score).reversed();

    /** The number of questions that are kept, and for how long. */
    private static final int QUESTIONS = 100;

    private static final Duration KEPT = Duration.ofSeconds(10);

    private final LongTermMemoryStore store;
    private final MessageSearch search;
    private final RecentlyUsed<String, Asked> asked = new RecentlyUsed<>(QUESTIONS);

    /**
     * Creates a store.
     *
     * @param store keeps the memories and their vectors
     * @param search has the embedding model
     */
    public FactsByMeaning(LongTermMemoryStore store, MessageSearch search) {
        this.store = Objects.requireNonNull(store, "store");
        this.search = Objects.requireNonNull(search, "search");
    }

    @Override
    protected <T> T reading(String what, MemoryKey key, MadeMemory.Kind kind, Function<LongTermMemoryReader, T> work) {
        return work.apply(store);
    }

    @Override
    protected <T> T writing(String what, MemoryKey key, MadeMemory.Kind kind, Function<LongTermMemoryWriter, T> work) {
        return work.apply(store);
    }

    @Override
    public boolean add(MemoryKey key, MadeMemory.Kind kind, long revision, Passage passage, List<MadeMemory> made) {
        return super.add(key, kind, revision, passage, kind == MadeMemory.Kind.FACT ? withVectors(made) : made);
    }

    private List<MadeMemory> withVectors(List<MadeMemory> facts) {
        if (facts.isEmpty()) {
            return facts;
        }
        Optional<List<Optional<float[]>>> vectors = search.vectorsOf(
                facts.stream().map(fact -> fact.title() + "\n" + fact.summary()).toList());
        if (vectors.isEmpty()) {
            return facts;
        }
        String model = search.vectorId();
        List<MadeMemory> all = new ArrayList<>();
        for (int i = 0; i < facts.size(); i++) {
            String vector = vectors.get()
                    .get(i)
                    .map(FactVector::of)
                    .map(of -> of.text(model))
                    .orElse(null);
            all.add(facts.get(i).withVector(vector));
        }
        return all;
    }

    @Override
    public List<FoundLongTermMemory> search(MemoryKey key, FactQuery query) {
        return fused(query, store.facts(key, NEWEST), store.search(key, query), FactsByMeaning::floor);
    }

    @Override
    public List<FoundLongTermMemory> rank(FactQuery query, List<MadeMemory> memories) {
        // Those that a search found are near each other.
        return fused(query, memories, store.rank(query, memories), found -> 0);
    }

    private List<FoundLongTermMemory> fused(
            FactQuery query,
            List<MadeMemory> all,
            List<FoundLongTermMemory> byWords,
            ToDoubleFunction<List<FactVector>> floorOf) {
        List<MadeMemory> known = all.stream()
                .filter(fact -> fact.vector() != null && fact.trust().isAtLeast(query.leastTrust()))
                .toList();
        FactVector question = known.isEmpty()
                ? null
                : question(String.join("\n", query.keywords())).orElse(null);
        if (question == null) {
            return byWords;
        }
        Map<MadeMemory, FactVector> vectors = new LinkedHashMap<>();
        for (MadeMemory fact : known) {
            FactVector vector = FactVector.of(fact, search.vectorId());
            if (vector != null) {
                vectors.put(fact, vector);
            }
        }
        Map<MadeMemory, Double> cosines = new LinkedHashMap<>();
        vectors.forEach((fact, vector) -> cosines.put(fact, vector.cosine(question)));
        Spread spread = Spread.of(() -> cosines.values().stream().mapToDouble(each -> each));
        double floor = floorOf.applyAsDouble(List.copyOf(vectors.values()));
        boolean few = vectors.size() < FEWEST;
        Map<String, FoundLongTermMemory> found = new LinkedHashMap<>();
        byWords.forEach(each -> found.put(each.memory().id(), each));
        cosines.forEach((fact, cosine) -> {
            FoundLongTermMemory before = found.get(fact.id());
            double meaning = WEIGHT * Math.max(0, few ? cosine : spread.z(cosine));
            if (before != null || (cosine > floor && meaning > 0)) {
                found.put(fact.id(), new FoundLongTermMemory(fact, meaning + (before == null ? 0 : before.score())));
            }
        });
        return found.values().stream().sorted(BEST_FIRST).limit(query.limit()).toList();
    }

    /** Returns the vector of a question. Searches in several discussions ask for the same one, also of a model that hangs. */
    private Optional<FactVector> question(String text) {
        Asked known = asked.get(text);
        if (known != null && System.nanoTime() - known.nanos() < KEPT.toNanos()) {
            return known.vector();
        }
        Optional<FactVector> vector = search.vectorOfQuestion(text).map(FactVector::of);
        asked.put(text, new Asked(vector, System.nanoTime()));
        return vector;
    }

    private record Asked(Optional<FactVector> vector, long nanos) {}

    private static double floor(List<FactVector> vectors) {
        if (vectors.size() < FEWEST) {
            return LEAST;
        }
        int size = Math.min(SAMPLE, vectors.size());
        double[] cosines = new double[size * (size - 1) / 2];
        int pair = 0;
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < i; j++) {
                FactVector one = vectors.get((int) ((long) i * vectors.size() / size));
                cosines[pair++] = one.cosine(vectors.get((int) ((long) j * vectors.size() / size)));
            }
        }
        Spread spread = Spread.of(() -> Arrays.stream(cosines));
        return spread.mean() + DEVIATIONS * spread.deviation();
    }

    @Override
    public void discussions(String tenant, Consumer<MemoryKey> action) {
        store.discussions(tenant, action);
    }

    @Override
    public void compact() {
        store.compact();
    }

    @Override
    public String backend() {
        return store.backend();
    }

    @Override
    public void close() {
        store.close();
    }
}
