package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.langchain4j.data.embedding.Embedding;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class GateTest {

    private static final int TOPICS = 20;
    private static final int DIMENSION = 32;

    @Test
    void a_model_that_finds_messages_with_common_words_close_has_its_full_weight() {
        assertThat(Gate.measure(sample(300, 1, 1))).isEqualTo(1);
        assertThat(Gate.measure(sample(60, 1, 1))).isEqualTo(1);
    }

    @Test
    void a_model_whose_vectors_have_nothing_to_do_with_the_words_has_no_weight() {
        assertThat(Gate.measure(sample(300, 0, 1))).isZero();
        assertThat(Gate.measure(sample(60, 0, 1))).isZero();
    }

    @Test
    void a_model_that_finds_all_messages_equally_close_has_no_weight() {
        assertThat(Gate.measure(sample(100, 0, 0))).isZero();
    }

    @Test
    void a_young_memory_trusts_the_choice_of_the_model() {
        assertThat(Gate.measure(List.of())).isEqualTo(1);
        assertThat(Gate.measure(sample(49, 0, 1))).isEqualTo(1);
    }

    @Test
    void a_memory_without_common_words_trusts_the_choice_of_the_model() {
        List<Gate.Sample> sample = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            sample.add(new Gate.Sample(Map.of("word" + i, 1), 1, Embedding.from(new float[] {1, i})));
        }

        assertThat(Gate.measure(sample)).isEqualTo(1);
    }

    @Test
    void the_length_of_vectors_does_not_matter() {
        List<Gate.Sample> sample = sample(100, 1, 1);
        List<Gate.Sample> longer = sample.stream()
                .map(one -> new Gate.Sample(one.terms(), one.length(), times(7, one.vector())))
                .toList();

        assertThat(Gate.measure(longer)).isCloseTo(Gate.measure(sample), within(1e-6));
    }

    @Test
    void a_long_memory_is_measured_on_a_part_of_it() {
        List<Gate.Sample> sample = sample(Gate.MOST, 1, 1);
        List<Gate.Sample> thrice = new ArrayList<>();
        sample.forEach(one -> thrice.addAll(List.of(one, one, one)));

        assertThat(Gate.measure(thrice)).isEqualTo(Gate.measure(sample));
    }

    @Test
    void vectors_without_length_are_close_to_none() {
        List<Gate.Sample> sample = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            sample.add(new Gate.Sample(Map.of("same", 1), 1, Embedding.from(new float[DIMENSION])));
        }

        assertThat(Gate.measure(sample)).isZero();
    }

    /** Returns messages of topics, each with three words of its topic, and vectors of a topic and of noise. */
    private static List<Gate.Sample> sample(int size, double topic, double noise) {
        Random random = new Random(6);
        float[][] topics = new float[TOPICS][];
        for (int i = 0; i < TOPICS; i++) {
            topics[i] = vector(random);
        }
        List<Gate.Sample> sample = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            int about = random.nextInt(TOPICS);
            Map<String, Integer> terms = new HashMap<>(Map.of("the", 2));
            for (int word = 0; word < 3; word++) {
                terms.merge("topic" + about + "-" + random.nextInt(6), 1, Integer::sum);
            }
            float[] vector = vector(random);
            for (int d = 0; d < DIMENSION; d++) {
                vector[d] = (float) (noise * vector[d] + 2 * topic * topics[about][d] + (noise == 0 ? 1 : 0));
            }
            sample.add(new Gate.Sample(terms, 5, Embedding.from(vector)));
        }
        return sample;
    }

    private static float[] vector(Random random) {
        float[] vector = new float[DIMENSION];
        for (int d = 0; d < DIMENSION; d++) {
            vector[d] = (float) random.nextGaussian();
        }
        return vector;
    }

    private static Embedding times(float factor, Embedding vector) {
        float[] product = vector.vector().clone();
        for (int d = 0; d < product.length; d++) {
            product[d] *= factor;
        }
        return Embedding.from(product);
    }

    private static double cosine(float[] a, float[] b) {
        double product = 0;
        double ofA = 0;
        double ofB = 0;
        for (int d = 0; d < DIMENSION; d++) {
            product += a[d] * b[d];
            ofA += a[d] * a[d];
            ofB += b[d] * b[d];
        }
        return product / Math.sqrt(ofA * ofB);
    }
}
