package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MeaningTest {

    private static final Instant NOON = Instant.parse("2026-03-14T12:00:00Z");
    private static final Duration GAP = Duration.ofHours(4);
    private static final MemoryKey ANNA = ConversationKey.of("tenant", "anna");
    private static final MemoryKey BEN = ConversationKey.of("tenant", "ben");

    private record Said(MemoryKey key, long sequence, Instant time, double cosine) {}

    @Test
    void without_vectors_nothing_has_a_meaning() {
        assertThat(Meaning.NONE.weight()).isZero();
        assertThat(Meaning.NONE.of(ANNA, 1)).isZero();
        assertThat(Meaning.NONE.has(ANNA, 1)).isFalse();
        assertThat(Meaning.NONE.nearest(50)).isEmpty();
    }

    @Test
    void equal_cosines_tell_nothing() {
        Meaning meaning = meaning(said(ANNA, 1, 0.4), said(ANNA, 2, 0.4), said(ANNA, 3, 0.4), said(BEN, 1, 0.4));

        assertThat(List.of(meaning.of(ANNA, 1), meaning.of(ANNA, 2), meaning.of(ANNA, 3), meaning.of(BEN, 1)))
                .containsOnly(0.0);
    }

    @Test
    void cosines_and_their_neighbours_are_standardised_over_all_memories_of_the_scope() {
        List<Said> said = new ArrayList<>();
        for (int i = 1; i <= 200; i++) {
            // Each is alone, so that only its own cosine counts.
            said.add(new Said(i % 3 == 0 ? BEN : ANNA, 10L * i, NOON.plus(Duration.ofDays(i)), Math.sin(i)));
        }
        Meaning meaning = meaning(said.toArray(Said[]::new));
        double[] all = said.stream()
                .mapToDouble(one -> meaning.of(one.key(), one.sequence()))
                .toArray();
        double sum = 0;
        double squares = 0;
        for (double one : all) {
            sum += one;
            squares += one * one;
        }

        assertThat(sum / all.length).isCloseTo(0, within(1e-9));
        assertThat(squares / all.length).isCloseTo(1, within(1e-9));
    }

    @Test
    void the_order_of_adding_does_not_matter() {
        List<Said> said = random(300);
        Meaning meaning = meaning(said.toArray(Said[]::new));
        List<Said> shuffled = new ArrayList<>(said);
        Collections.shuffle(shuffled, new Random(8));
        Meaning other = meaning(shuffled.toArray(Said[]::new));

        for (Said one : said) {
            assertThat(other.of(one.key(), one.sequence()))
                    .isCloseTo(meaning.of(one.key(), one.sequence()), within(1e-9));
        }
        assertThat(other.nearest(10)).isEqualTo(meaning.nearest(10));
    }

    @Test
    void the_larger_cosine_of_a_long_message_counts() {
        Said[] others = {said(ANNA, 2, 0.1), said(ANNA, 3, 0.2)};
        Meaning once = meaning(said(ANNA, 1, 0.8), others[0], others[1]);
        Meaning twice = meaning(said(ANNA, 1, 0.8), others[0], said(ANNA, 1, -0.5), others[1]);

        assertThat(twice.of(ANNA, 1)).isEqualTo(once.of(ANNA, 1));
        assertThat(twice.of(ANNA, 2)).isEqualTo(once.of(ANNA, 2));
        assertThat(twice.has(ANNA, 1)).isTrue();
    }

    @Test
    void a_neighbour_of_a_close_message_is_closer_than_a_message_far_from_it() {
        Meaning meaning = meaning(
                said(ANNA, 1, 0.9),
                said(ANNA, 2, 0.1),
                said(ANNA, 3, 0.1),
                said(ANNA, 4, 0.1),
                said(ANNA, 5, 0.1),
                said(ANNA, 6, 0.1),
                said(ANNA, 7, 0.1),
                said(ANNA, 8, 0.1),
                said(ANNA, 9, 0.1),
                said(ANNA, 10, 0.1));

        assertThat(meaning.of(ANNA, 2)).isGreaterThan(meaning.of(ANNA, 3)).isGreaterThan(meaning.of(ANNA, 7));
        assertThat(meaning.of(ANNA, 6)).isCloseTo(meaning.of(ANNA, 7), within(1e-9));
    }

    @Test
    void neighbours_do_not_cross_a_pause_or_a_memory() {
        Meaning paused = meaning(
                said(ANNA, 1, 0.9),
                new Said(ANNA, 2, NOON.plus(Duration.ofHours(5)), 0.1),
                new Said(ANNA, 3, NOON.plus(Duration.ofHours(10)), 0.1),
                new Said(ANNA, 4, NOON.plus(Duration.ofHours(15)), 0.1));
        Meaning two = meaning(said(ANNA, 1, 0.9), said(BEN, 2, 0.1), said(BEN, 3, 0.1), said(BEN, 4, 0.1));

        assertThat(paused.of(ANNA, 2)).isEqualTo(paused.of(ANNA, 4));
        assertThat(two.of(BEN, 2)).isEqualTo(two.of(BEN, 4));
    }

    @Test
    void messages_that_are_far_from_each_other_are_no_neighbours_although_nothing_between_them_has_a_vector() {
        Meaning meaning = meaning(said(ANNA, 1, 0.9), said(ANNA, 90, 0.1), said(ANNA, 190, 0.1));

        assertThat(meaning.of(ANNA, 90)).isEqualTo(meaning.of(ANNA, 190));
    }

    @Test
    void the_nearest_messages_come_first_whatever_their_cosines() {
        Meaning meaning = meaning(said(ANNA, 1, 0.9), said(ANNA, 2, -0.3), said(ANNA, 3, 0.5), said(BEN, 1, 0.7));

        assertThat(meaning.has(ANNA, 2)).isTrue();
        assertThat(meaning.has(BEN, 2)).isFalse();
        assertThat(meaning.nearest(2)).isEqualTo(Map.of(ANNA, Set.of(1L), BEN, Set.of(1L)));
        assertThat(meaning.nearest(10)).isEqualTo(Map.of(ANNA, Set.of(1L, 2L, 3L), BEN, Set.of(1L)));
    }

    @Test
    void a_close_message_does_not_lose_by_neighbours_that_are_far() {
        Said[] others = {said(ANNA, 20, 0.3), said(ANNA, 40, 0.3), said(ANNA, 60, 0.35), said(ANNA, 80, 0.2)};
        Meaning alone = meaning(concat(said(ANNA, 1, 0.9), others));
        Meaning among = meaning(concat(said(ANNA, 1, 0.9), concat(said(ANNA, 2, 0.0), others)));

        assertThat(among.of(ANNA, 1)).isGreaterThan(1.5);
        assertThat(alone.of(ANNA, 1)).isGreaterThan(1.5);
    }

    @Test
    void the_more_messages_there_are_the_less_a_distance_from_their_mean_tells() {
        double few = meaning(random(300).toArray(Said[]::new)).of(ANNA, 1);
        List<Said> many = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            for (Said one : random(300)) {
                Instant time = one.time().plus(Duration.ofDays(30L * i));
                many.add(new Said(one.key(), one.sequence() + 1_000L * i, time, one.cosine()));
            }
        }

        assertThat(meaning(many.toArray(Said[]::new)).of(ANNA, 1) / few)
                .isCloseTo(Math.sqrt(Math.log(300) / Math.log(3_000)), within(0.01));
    }

    private static Said[] concat(Said first, Said... others) {
        return Stream.concat(Stream.of(first), Stream.of(others)).toArray(Said[]::new);
    }

    private static Said said(MemoryKey key, long sequence, double cosine) {
        return new Said(key, sequence, NOON, cosine);
    }

    private static List<Said> random(int count) {
        Random random = new Random(7);
        List<Said> said = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            MemoryKey key = i % 3 == 0 ? BEN : ANNA;
            said.add(new Said(key, i, NOON.plus(Duration.ofMinutes(30L * i)), random.nextDouble()));
        }
        return said;
    }

    private static Meaning meaning(Said... said) {
        Meaning.Builder builder = new Meaning.Builder(1, GAP);
        for (Said one : said) {
            builder.add(one.key(), one.sequence(), one.time(), one.cosine());
        }
        return builder.build();
    }
}
