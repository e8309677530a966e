package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.Meaning.Spread;
import java.util.Arrays;
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

    /** The number of relatives of a message. */
    private static final int RELATIVES = 5;

    /** The number of messages below which the application's choice of the model is trusted. */
    private static final int FEWEST = 20;

    /** The closeness of relatives, in standard deviations, up to which a model has no weight. */
    private static final double CLOSED = 0.7;

    /** By how much closer they are if the model has its full weight. */
    private static final double WIDTH = 0.4;

    /** By how many standard deviations the cosine of a message that fits exceeds the mean of the memory's messages. */
    private static final double NEAR = 3;

    private final List<Sample> sample;
    private final double[][] cosines;
    private final Map<String, Long> frequencies = new HashMap<>();
    private final double averageLength;

    private Gate(List<Sample> sample) {
        this.sample = sample;
        cosines = new double[sample.size()][sample.size()];
        for (int i = 0; i < sample.size(); i++) {
            for (int j = 0; j < i; j++) {
                cosines[i][j] = cosine(sample.get(i).vector(), sample.get(j).vector());
                cosines[j][i] = cosines[i][j];
            }
            sample.get(i).terms().keySet().forEach(term -> frequencies.merge(term, 1L, Long::sum));
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
    record Sample(Map<String, Integer> terms, int length, float[] vector) {}

    /**
     * What was measured.
     *
     * @param weight how much the model helps, 0 to 1
     * @param floor the cosine above which a message is near to a question
     */
    record Measured(double weight, double floor) {}

    /**
     * Measures a model.
     *
     * @param sample messages from all parts of the memory that have vectors
     * @return the weight and the floor
     */
    static Measured measure(List<Sample> sample) {
        Gate gate = new Gate(spread(sample, MOST));
        return new Measured(gate.weight(), gate.floor());
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
        double closeness = spread(IntStream.range(0, sample.size()).boxed().toList(), PROBES).stream()
                .mapToDouble(this::closenessOfRelatives)
                .filter(Double::isFinite)
                .average()
                .orElse(CLOSED + WIDTH);
        return Math.max(0, Math.min(1, (closeness - CLOSED) / WIDTH));
    }

    /** Returns how close a message's relatives are, in standard deviations, or NaN if it has none. */
    private double closenessOfRelatives(int probe) {
        Spread others = Spread.of(() -> IntStream.range(0, sample.size())
                .filter(i -> i != probe)
                .mapToDouble(i -> cosines[probe][i]));
        return IntStream.range(0, sample.size())
                .filter(i -> i != probe)
                .mapToObj(i -> new Relative(i, commonWords(probe, i)))
                .filter(relative -> relative.commonWords() > 0)
                .sorted(Comparator.comparingDouble(Relative::commonWords).reversed())
                .limit(RELATIVES)
                .mapToDouble(relative -> others.z(cosines[probe][relative.index()]))
                .average()
                .orElse(Double.NaN);
    }

    private record Relative(int index, double commonWords) {}

    /** Returns the BM25 score of a message for the words of another. */
    private double commonWords(int of, int in) {
        double score = 0;
        for (String term : sample.get(of).terms().keySet()) {
            int occurrences = sample.get(in).terms().getOrDefault(term, 0);
            if (occurrences > 0) {
                score += Bm25.idf(frequencies.get(term), sample.size())
                        * Bm25.STANDARD.weight(occurrences, sample.get(in).length(), averageLength);
            }
        }
        return score;
    }

    private double floor() {
        Spread pairs = Spread.of(() -> IntStream.range(0, sample.size())
                .boxed()
                .flatMapToDouble(i -> Arrays.stream(cosines[i], 0, i)));
        return pairs.mean() + NEAR * pairs.deviation();
    }

    private static double cosine(float[] a, float[] b) {
        double product = 0;
        double ofA = 0;
        double ofB = 0;
        for (int i = 0; i < a.length; i++) {
            product += a[i] * b[i];
            ofA += a[i] * a[i];
            ofB += b[i] * b[i];
        }
        return product == 0 ? 0 : product / Math.sqrt(ofA * ofB);
    }
}
