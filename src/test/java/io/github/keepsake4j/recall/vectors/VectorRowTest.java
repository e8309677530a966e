package io.github.keepsake4j.recall.vectors;

import static io.github.keepsake4j.testing.Vectors.cosine;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.recall.MessageIndex.MessageVector;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class VectorRowTest {

    private static final VectorMark AFTER = new VectorMark(1, Integer.MAX_VALUE, 1, 0);

    private static List<VectorRow> rows(long sequence, Instant time, float[]... vectors) {
        return VectorRow.of(
                null,
                AFTER,
                Arrays.stream(vectors)
                        .map(vector -> new MessageVector(sequence, time, vector))
                        .toList());
    }

    /** Half of the components are small, as embeddings have some large ones. */
    private static float[] vector(Random random, int dimension, double magnitude) {
        float[] vector = new float[dimension];
        for (int i = 0; i < dimension; i++) {
            vector[i] = (float) (random.nextGaussian() * magnitude * (random.nextBoolean() ? 1 : 0.05));
        }
        return vector;
    }

    @Property
    void a_cosine_is_exact_to_a_hundredth(
            @ForAll long seed,
            @ForAll @IntRange(min = 2, max = 1_600) int dimension,
            @ForAll @DoubleRange(min = -37, max = 37) double exponent,
            @ForAll @LongRange(min = 1, max = 1_000_000) long sequence,
            @ForAll @LongRange(min = -1_000_000_000_000L, max = 4_000_000_000_000L) long time) {
        Random random = new Random(seed);
        float[] vector = vector(random, dimension, Math.pow(10, exponent));
        float[] near = vector.clone();
        near[0] += vector[dimension - 1];
        for (float[] query : List.of(vector(random, dimension, 1), near, vector)) {
            if (!(Math.abs(cosine(vector, query)) <= 1.000_001)) {
                continue;
            }
            Cosines read =
                    rows(sequence, Instant.ofEpochMilli(time), vector).get(0).cosines(QueryVector.of(query));

            assertThat(read.values()[0]).isCloseTo(cosine(vector, query), within(0.01));
            assertThat(read.sequences()).containsExactly(sequence);
            assertThat(read.times()).containsExactly(time);
        }
    }

    @Test
    void the_sum_of_the_largest_products_does_not_overflow() {
        float[] equal = new float[8_192];
        Arrays.fill(equal, 0.1f);
        assertThat(rows(1, Instant.EPOCH, equal)
                        .get(0)
                        .cosines(QueryVector.of(equal))
                        .values()[0])
                .isCloseTo(1, within(0.001));
        assertThatThrownBy(() -> rows(1, Instant.EPOCH, new float[8_193])).isInstanceOf(InvalidInputException.class);
    }

    @Test
    void a_message_takes_397_bytes_at_384_dimensions() {
        VectorRow row = rows(1, Instant.EPOCH, vector(new Random(1), 384, 1), vector(new Random(2), 384, 1))
                .get(0);
        assertThat(row.stored()).hasSize(2 + 2 * 397);
    }

    @Test
    void rows_of_a_block_become_one() {
        Random random = new Random(1);
        VectorRow first =
                rows(130, Instant.ofEpochSecond(9), vector(random, 8, 1)).get(0);
        VectorRow second =
                rows(131, Instant.ofEpochSecond(7), vector(random, 8, 1)).get(0);
        VectorRow other =
                rows(256, Instant.ofEpochSecond(8), vector(random, 8, 1)).get(0);
        QueryVector query = QueryVector.of(vector(random, 8, 1));

        List<VectorRow> joined = VectorRow.joined(List.of(first), List.of(second, other));

        assertThat(joined).hasSize(2);
        assertThat(joined.get(1)).isSameAs(other);
        assertThat(joined.get(0).newest()).isEqualTo(9_000);
        assertThat(joined.get(0).cosines(query).sequences()).containsExactly(130, 131);
        assertThat(joined.get(0).cosines(query).values())
                .containsExactly(
                        first.cosines(query).values()[0], second.cosines(query).values()[0]);
        assertThat(VectorRow.joined(List.of(first), List.of(other)))
                .extracting(VectorRow::sequence)
                .containsExactly(130L, 256L);
    }

    @Test
    void stored_bytes_that_this_class_did_not_make_are_refused() {
        byte[] sound =
                rows(1, Instant.EPOCH, vector(new Random(1), 8, 1)).get(0).stored();
        QueryVector query = QueryVector.of(new float[8]);
        for (byte[] wrong : List.of(
                new byte[0],
                new byte[sound.length],
                Arrays.copyOf(sound, 22),
                Arrays.copyOf(sound, sound.length + 1))) {
            assertThatThrownBy(() -> new VectorRow(1, 0, 1, wrong)).isInstanceOf(InvalidInputException.class);
        }
        for (int from : new int[] {2, 11}) {
            byte[] zeroed = sound.clone();
            Arrays.fill(zeroed, from, from + 4, (byte) (from == 2 ? -1 : 0));
            VectorRow row = new VectorRow(1, 0, 1, zeroed);
            assertThatThrownBy(() -> row.cosines(query)).isInstanceOf(InvalidInputException.class);
        }
    }
}
