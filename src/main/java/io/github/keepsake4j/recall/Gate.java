package io.github.keepsake4j.recall;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.store.embedding.CosineSimilarity;
import io.github.keepsake4j.base.Spread;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Measures on a memory's own messages, without questions, how much an embedding model helps there. Messages that have rare
 * words in common are mostly about the same. A model that understands their language finds them closer than others. A pure
 * function of its input.
 */
final class Gate {

    /** The largest number of messages that are compared with each other. */
    static final int MOST = 400;

    /** The number of messages for which relatives are sought. */
    private static final int PROBES = 40;

    /** The largest number of relatives of a message. */
    private static final int RELATIVES = 5;

    /** The number of messages for each relative. In a short memory, few messages are about the same. */
    private static final int MESSAGES_OF_A_RELATIVE = 16;

    /**
     * The number of messages below which nothing can be measured: hardly any of them are about the same. The application's
     * choice of the model counts then. A wrong choice does little harm, since a question finds most of so few messages.
     */
    private static final int FEWEST = 50;

    /** The closeness of relatives, in standard deviations, up to which a model has no weight. */
    private static final double CLOSED = 0.9;

    /** The closeness of relatives from which it has its full weight. */
    private static final double OPEN = 1.1;

    private final List<Sample> sample;
    private final double[][] cosines;
    private final Map<String, List<Integer>> places = new HashMap<>();
    private final double averageLength;

    private Gate(List<Sample> sample) {
        this.sample = sample;
        cosines = new double[sample.size()][sample.size()];
        for (int i = 0; i < sample.size(); i++) {
            for (int j = 0; j < i; j++) {
                cosines[i][j] = CosineSimilarity.between(
                        sample.get(i).vector(), sample.get(j).vector());
                cosines[j][i] = cosines[i][j];
            }
            for (String term : sample.get(i).terms().keySet()) {
                places.computeIfAbsent(term, t -> new ArrayList<>()).add(i);
            }
        }
        averageLength = sample.stream().mapToInt(Sample::length).average().orElse(0);
    }

    /**
     * A message of the memory.
     *
     * @param terms how often each of its terms occurs
     * @param length the number of its terms, with repetitions
     * @param vector its vector
     */
    record Sample(Map<String, Integer> terms, int length, Embedding vector) {}

    /**
     * Measures a model.
     *
     * @param sample messages from all parts of the memory that have vectors
     * @return how much the model helps, 0 to 1
     */
    static double measure(List<Sample> sample) {
        return new Gate(spread(sample, MOST)).weight();
    }

    /** Returns elements at equal distances. */
    private static <T> List<T> spread(List<T> all, int most) {
        int count = Math.min(all.size(), most);
        return IntStream.range(0, count)
                .mapToObj(i -> all.get((int) ((long) i * all.size() / count)))
                .toList();
    }

    private double weight() {
        if (sample.size() < FEWEST) {
            return 1;
        }
        double closeness = spread(others(-1), PROBES).stream()
                .mapToDouble(this::closenessOfRelatives)
                .filter(Double::isFinite)
                .average()
                .orElse(OPEN);
        return Math.max(0, Math.min(1, (closeness - CLOSED) / (OPEN - CLOSED)));
    }

    /** Returns how close a message's relatives are, in standard deviations, or NaN if it has none. */
    private double closenessOfRelatives(int probe) {
        List<Integer> others = others(probe);
        Spread closeness = Spread.of(() -> others.stream().mapToDouble(other -> cosines[probe][other]));
        double[] commonWords = commonWords(sample.get(probe));
        return others.stream()
                .filter(other -> commonWords[other] > 0)
                .sorted(Comparator.comparingDouble((Integer other) -> commonWords[other])
                        .reversed())
                .limit(Math.max(1, Math.min(RELATIVES, sample.size() / MESSAGES_OF_A_RELATIVE)))
                .mapToDouble(other -> closeness.z(cosines[probe][other]))
                .average()
                .orElse(Double.NaN);
    }

    private List<Integer> others(int than) {
        return IntStream.range(0, sample.size()).filter(i -> i != than).boxed().toList();
    }

    /** Returns the BM25 score of each message for the words of one. */
    private double[] commonWords(Sample of) {
        double[] scores = new double[sample.size()];
        for (String term : of.terms().keySet()) {
            List<Integer> found = places.getOrDefault(term, List.of());
            for (int in : found) {
                Sample other = sample.get(in);
                int occurrences = other.terms().getOrDefault(term, 0);
                scores[in] += Bm25.idf(found.size(), sample.size())
                        * Bm25.STANDARD.weight(occurrences, other.length(), averageLength);
            }
        }
        return scores;
    }
}
