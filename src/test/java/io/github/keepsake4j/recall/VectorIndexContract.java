package io.github.keepsake4j.recall;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static io.github.keepsake4j.testing.Vectors.cosine;
import static io.github.keepsake4j.testing.Vectors.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.recall.MessageIndex.MessageVector;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.testing.Counts;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How every index keeps vectors. */
abstract class VectorIndexContract {

    private static final String MODEL = "model 16";
    private static final int DIMENSION = 16;
    private static final Instant START = Instant.parse("2026-05-13T10:00:00.123Z");

    private static final MemoryKey ONE = ConversationKey.of("acme", "one");
    private static final MemoryKey TWO = NodeKey.of("acme", "app", "conversation", "node");
    private static final MemoryKey FOREIGN = ConversationKey.of("other", "one");

    protected MessageIndex index;

    /** Opens a new, empty index. */
    protected abstract MessageIndex newIndex() throws Exception;

    /** Opens the same index again, as another process does. */
    protected abstract MessageIndex sameIndex() throws Exception;

    @BeforeEach
    void open() throws Exception {
        index = newIndex();
    }

    @AfterEach
    void close() {
        index.close();
    }

    /** A cosine that was read. */
    private record Read(MemoryKey key, long sequence, Instant time, double cosine) {

        private static final Comparator<Read> IN_ORDER = Comparator.comparing(
                        (Read read) -> read.key().canonical())
                .thenComparingLong(Read::sequence)
                .thenComparingDouble(Read::cosine);
    }

    private List<Read> cosines(String model, Scope scope, float[] query, int most) {
        return cosines(model, scope, query, most, Map.of());
    }

    private List<Read> cosines(String model, Scope scope, float[] query, int most, Map<MemoryKey, List<Long>> others) {
        List<Read> read = new ArrayList<>();
        index.cosines(
                model,
                scope,
                query,
                most,
                others,
                (key, sequence, time, cosine) -> read.add(new Read(key, sequence, time, cosine)));
        read.sort(Read.IN_ORDER);
        return read;
    }

    private List<Read> cosines(Scope scope, float[] query) {
        return cosines(MODEL, scope, query, 100_000);
    }

    private static List<Long> sequences(List<Read> read) {
        return read.stream().map(Read::sequence).toList();
    }

    private static List<Long> range(long from, long to) {
        return LongStream.rangeClosed(from, to).boxed().collect(Collectors.toList());
    }

    private void indexed(MemoryKey key) {
        index.add(key, null, new Watermark(1, 1), List.of());
    }

    private static VectorMark mark(long sequence) {
        return new VectorMark(1, sequence, 1, 0);
    }

    private static Instant time(long sequence) {
        return START.plusSeconds(60 * sequence);
    }

    private static MessageVector vector(Random random, long sequence) {
        return new MessageVector(sequence, time(sequence), random(random, DIMENSION));
    }

    /** A vector for each sequence, the same for the same seed. */
    private static List<MessageVector> vectors(int seed, long from, long to) {
        return LongStream.rangeClosed(from, to)
                .mapToObj(sequence -> vector(new Random(1_000L * seed + sequence), sequence))
                .toList();
    }

    private void add(MemoryKey key, int seed, long from, long to) {
        VectorMark before = index.vectorMarks(MODEL, List.of(key)).get(key);
        assertThat(index.addVectors(MODEL, key, before, mark(to), vectors(seed, from, to)))
                .isTrue();
    }

    @Test
    void a_vector_is_read_as_its_cosine_with_the_message_and_its_time() {
        indexed(ONE);
        add(ONE, 1, 1, 300);
        float[] query = random(new Random(7), DIMENSION);

        List<Read> read = cosines(Scope.memory(ONE), query);

        assertThat(sequences(read)).isEqualTo(range(1, 300));
        for (MessageVector expected : vectors(1, 1, 300)) {
            Read one = read.get((int) expected.sequence() - 1);
            assertThat(one.key()).isEqualTo(ONE);
            assertThat(one.time()).isEqualTo(expected.time());
            assertThat(one.cosine()).isCloseTo(cosine(expected.vector(), query), within(0.01));
        }
        assertThat(cosines(Scope.memory(ONE), vectors(1, 5, 5).get(0).vector())
                        .get(4)
                        .cosine())
                .isCloseTo(1, within(0.001));
    }

    @Test
    void vectors_are_added_only_behind_the_mark_and_in_the_epoch_of_the_words() {
        List<MessageVector> some = vectors(1, 1, 3);
        assertThat(index.addVectors(MODEL, ONE, null, mark(3), some)).isFalse();
        indexed(ONE);
        assertThat(index.addVectors(MODEL, ONE, null, new VectorMark(2, 3, 1, 0), some))
                .isFalse();
        assertThat(index.addVectors(MODEL, ONE, mark(1), mark(3), vectors(1, 2, 3)))
                .isFalse();
        assertThat(index.vectorMarks(MODEL, List.of(ONE, TWO))).isEmpty();
        assertThat(cosines(Scope.tenant("acme"), some.get(0).vector())).isEmpty();

        assertThat(index.addVectors(MODEL, ONE, null, mark(3), some)).isTrue();
        assertThat(index.addVectors(MODEL, ONE, null, mark(3), some)).isFalse();
        assertThat(index.addVectors(MODEL, ONE, new VectorMark(1, 3, 0.5, 0), mark(5), vectors(1, 4, 5)))
                .isFalse();
        assertThat(index.vectorMarks(MODEL, List.of(ONE, TWO))).isEqualTo(Map.of(ONE, mark(3)));
        assertThat(cosines(Scope.memory(ONE), some.get(0).vector())).hasSize(3);
    }

    @Test
    void a_mark_moves_and_is_weighed_without_vectors() {
        indexed(ONE);
        VectorMark moved = new VectorMark(1, 200, -0.0, 0);
        VectorMark weighed = new VectorMark(1, 200, Math.nextUp(0.3), 200);

        assertThat(index.addVectors(MODEL, ONE, null, moved, List.of())).isTrue();
        assertThat(index.vectorMarks(MODEL, List.of(ONE))).isEqualTo(Map.of(ONE, moved));
        assertThat(index.addVectors(MODEL, ONE, moved, weighed, List.of())).isTrue();
        assertThat(index.vectorMarks(MODEL, List.of(ONE))).isEqualTo(Map.of(ONE, weighed));

        assertThat(index.addVectors(MODEL, ONE, weighed, mark(202), vectors(1, 202, 202)))
                .isTrue();
        assertThat(sequences(cosines(Scope.memory(ONE), random(new Random(1), DIMENSION))))
                .containsExactly(202L);
    }

    @Test
    void what_is_read_does_not_depend_on_how_it_was_added() {
        Random random = new Random(3);
        List<MessageVector> all = new ArrayList<>();
        for (long sequence = 1; sequence <= 700; sequence++) {
            // Some messages have no vector, and some have several.
            for (int part = sequence < 300 && sequence > 120 ? 0 : random.nextInt(4); part > 0; part--) {
                all.add(vector(random, sequence));
            }
        }
        float[] query = random(random, DIMENSION);
        List<List<Read>> read = new ArrayList<>();
        for (int most : new int[] {1, 50, 1_000}) {
            index.clear();
            indexed(ONE);
            VectorMark before = null;
            for (long from = 0; from < 700; ) {
                long to = Math.min(700, from + 1 + random.nextInt(most));
                long behind = from;
                List<MessageVector> some = all.stream()
                        .filter(each -> each.sequence() > behind && each.sequence() <= to)
                        .toList();
                assertThat(index.addVectors(MODEL, ONE, before, mark(to), some)).isTrue();
                before = mark(to);
                from = to;
            }
            read.add(cosines(Scope.memory(ONE), query));
            assertThat(sequences(read.get(0)))
                    .isEqualTo(all.stream().map(MessageVector::sequence).toList());
            assertThat(read).allMatch(read.get(0)::equals);
        }
    }

    @Test
    void a_scope_is_one_memory_or_some_or_a_tenant() {
        List.of(ONE, TWO, FOREIGN).forEach(this::indexed);
        add(ONE, 1, 1, 2);
        add(TWO, 2, 1, 3);
        add(FOREIGN, 3, 1, 5);
        float[] query = random(new Random(1), DIMENSION);

        assertThat(cosines(Scope.memory(ONE), query)).hasSize(2);
        List<Read> tenant = cosines(Scope.tenant("acme"), query);
        assertThat(tenant).hasSize(5).isEqualTo(cosines(Scope.memories(List.of(ONE, TWO)), query));
        assertThat(cosines(Scope.memory(TWO), query)).isEqualTo(tenant.subList(2, 5));
        assertThat(cosines(Scope.tenant("other"), query)).hasSize(5).allMatch(read -> read.key()
                .equals(FOREIGN));
        assertThat(cosines(new Scope("acme", List.of()), query)).isEmpty();
        assertThat(cosines(Scope.tenant("none"), query)).isEmpty();
        assertThat(cosines("another model", Scope.tenant("acme"), query, 10)).isEmpty();
    }

    @Test
    void the_newest_vectors_are_read_and_of_some_messages_those_of_their_blocks() {
        indexed(ONE);
        indexed(TWO);
        add(ONE, 1, 1, 300);
        add(TWO, 2, 1, 40);
        add(ONE, 1, 301, 330);
        add(ONE, 1, 331, 331);
        float[] query = random(new Random(1), DIMENSION);

        assertThat(sequences(cosines(MODEL, Scope.memory(ONE), query, 1))).containsExactly(331L);
        assertThat(sequences(cosines(MODEL, Scope.memory(ONE), query, 140))).isEqualTo(range(192, 331));
        assertThat(cosines(MODEL, Scope.tenant("acme"), query, 200))
                .hasSize(200)
                .allMatch(read -> read.key().equals(ONE));
        assertThat(cosines(MODEL, Scope.tenant("acme"), query, 371)).hasSize(371);

        List<Long> withOthers = range(128, 255);
        withOthers.add(331L);
        assertThat(sequences(cosines(MODEL, Scope.memory(ONE), query, 1, Map.of(ONE, List.of(130L, 131L)))))
                .isEqualTo(withOthers);
        Map<MemoryKey, List<Long>> ofTwo = Map.of(ONE, List.of(1L, 331L), TWO, List.of(7L));
        List<Read> all = cosines(Scope.tenant("acme"), query);
        List<Read> some = cosines(MODEL, Scope.tenant("acme"), query, 1, ofTwo);
        assertThat(some).hasSize(127 + 76 + 40).isSubsetOf(all);
        assertThat(cosines(MODEL, Scope.memories(List.of(ONE, TWO)), query, 1, ofTwo))
                .isEqualTo(some);
        assertThat(cosines(MODEL, Scope.memory(ONE), query, 1, ofTwo)).hasSize(127 + 76);
        // Each once, even if they are among the newest.
        assertThat(cosines(MODEL, Scope.tenant("acme"), query, 371, ofTwo)).isEqualTo(all);
        // Of a row that is read in part, all if it is named.
        assertThat(sequences(cosines(MODEL, Scope.memory(ONE), query, 140, Map.of(ONE, List.of(200L)))))
                .isEqualTo(range(128, 331));
        assertThat(sequences(cosines(
                        MODEL, Scope.memory(ONE), query, 1, Map.of(ONE, List.of(5_000L), FOREIGN, List.of(1L)))))
                .containsExactly(331L);
    }

    @Test
    void two_models_at_once_do_not_affect_each_other() throws Exception {
        indexed(ONE);
        String name = "a longer model '\"%_; DROP TABLE keepsake_index_vector; -- 8";
        try (MessageIndex other = sameIndex()) {
            VectorMark ours = null;
            VectorMark theirs = null;
            for (int sequence = 1; sequence <= 200; sequence++) {
                assertThat(index.addVectors(MODEL, ONE, ours, mark(sequence), vectors(1, sequence, sequence)))
                        .isTrue();
                ours = mark(sequence);
                if (sequence % 2 == 0) {
                    VectorMark next = new VectorMark(1, sequence, 0.5, sequence);
                    float[] vector = random(new Random(sequence), 8);
                    assertThat(other.addVectors(
                                    name,
                                    ONE,
                                    theirs,
                                    next,
                                    List.of(new MessageVector(sequence, time(sequence), vector))))
                            .isTrue();
                    theirs = next;
                }
            }
            assertThat(index.vectorMarks(MODEL, List.of(ONE))).isEqualTo(Map.of(ONE, mark(200)));
            assertThat(index.vectorMarks(name, List.of(ONE))).isEqualTo(Map.of(ONE, theirs));
        }
        assertThat(cosines(MODEL, Scope.memory(ONE), new float[DIMENSION], 1_000))
                .hasSize(200);
        assertThat(cosines(name, Scope.memory(ONE), new float[8], 1_000)).hasSize(100);
        assertThat(cosines(name, Scope.memory(ONE), new float[DIMENSION], 1_000))
                .isEmpty();
        index.remove(ONE);
        indexed(ONE);
        for (String model : List.of(MODEL, name)) {
            assertThat(index.vectorMarks(model, List.of(ONE))).isEmpty();
            assertThat(cosines(model, Scope.memory(ONE), new float[8], 1_000)).isEmpty();
        }
    }

    @Test
    void a_removed_memory_has_no_vectors_and_a_cleared_index_has_none() {
        List.of(ONE, TWO, FOREIGN).forEach(this::indexed);
        List.of(ONE, TWO, FOREIGN).forEach(key -> add(key, 1, 1, 200));
        float[] query = random(new Random(1), DIMENSION);
        List<Read> two = cosines(Scope.memory(TWO), query);

        index.remove(ONE);
        index.compact();

        assertThat(index.vectorMarks(MODEL, List.of(ONE, TWO))).isEqualTo(Map.of(TWO, mark(200)));
        assertThat(cosines(Scope.tenant("acme"), query)).isEqualTo(two);
        assertThat(cosines(MODEL, Scope.memory(ONE), query, 1, Map.of(ONE, range(1, 200))))
                .isEmpty();
        indexed(ONE);
        add(ONE, 1, 1, 3);
        assertThat(cosines(Scope.memory(ONE), query)).hasSize(3);

        index.clear();
        List.of(ONE, TWO, FOREIGN).forEach(this::indexed);
        assertThat(index.vectorMarks(MODEL, List.of(ONE, TWO, FOREIGN))).isEmpty();
        assertThat(cosines(Scope.tenant("other"), query)).isEmpty();
    }

    @Test
    void no_query_of_one_tenant_reads_a_vector_of_another() {
        Random random = new Random(11);
        List<MemoryKey> keys = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            MemoryKey key = ConversationKey.of(i % 2 == 0 ? "acme" : "other", "memory" + i / 2);
            keys.add(key);
            indexed(key);
            add(key, i, 1, 1 + random.nextInt(150));
        }
        for (int i = 0; i < Counts.of(200, 10_000); i++) {
            String tenant = i % 2 == 0 ? "acme" : "other";
            List<MemoryKey> own = keys.stream()
                    .filter(key -> key.tenant().equals(tenant) && random.nextBoolean())
                    .toList();
            float[] query = random(random, DIMENSION);
            Map<MemoryKey, List<Long>> others =
                    random.nextBoolean() ? Map.of() : Map.of(keys.get(random.nextInt(8)), List.of(1L, 140L));
            Scope scope = random.nextBoolean() ? Scope.tenant(tenant) : new Scope(tenant, own);
            List<Read> read = cosines(MODEL, scope, query, 1 + random.nextInt(400), others);
            assertThat(read).allMatch(each -> each.key().tenant().equals(tenant));
        }
    }

    @Test
    void of_two_that_add_at_once_one_moves_the_mark() throws Exception {
        indexed(ONE);
        int messages = Counts.of(150, 1_000);
        AtomicInteger added = new AtomicInteger();
        ExecutorService executor = Executors.newFixedThreadPool(4);
        try (MessageIndex other = sameIndex()) {
            List<Callable<Boolean>> work = IntStream.range(0, 4)
                    .mapToObj(writer -> (Callable<Boolean>) () -> {
                        MessageIndex own = writer % 2 == 0 ? index : other;
                        while (true) {
                            VectorMark before =
                                    own.vectorMarks(MODEL, List.of(ONE)).get(ONE);
                            long next = before == null ? 1 : before.sequence() + 1;
                            if (next > messages) {
                                return true;
                            }
                            if (own.addVectors(MODEL, ONE, before, mark(next), vectors(1, next, next))) {
                                added.incrementAndGet();
                            }
                        }
                    })
                    .toList();
            for (Future<Boolean> done : executor.invokeAll(work)) {
                done.get();
            }
        } finally {
            executor.shutdown();
        }
        assertThat(added).hasValue(messages);
        assertThat(sequences(cosines(Scope.memory(ONE), new float[DIMENSION]))).isEqualTo(range(1, messages));
    }

    @Test
    void a_vector_without_a_direction_is_not_stored_and_is_near_to_nothing() {
        indexed(ONE);
        float[] infinite = new float[DIMENSION];
        infinite[3] = Float.NEGATIVE_INFINITY;
        float[] none = new float[DIMENSION];
        none[0] = Float.NaN;
        float[] least = new float[DIMENSION];
        least[5] = Float.MIN_VALUE;
        List<MessageVector> vectors = new ArrayList<>();
        for (float[] each : List.of(new float[DIMENSION], infinite, none, least)) {
            vectors.add(new MessageVector(vectors.size() + 1, time(1), each));
        }

        assertThat(index.addVectors(MODEL, ONE, null, mark(4), vectors)).isTrue();

        List<Read> read = cosines(Scope.memory(ONE), least);
        assertThat(sequences(read)).containsExactly(4L);
        assertThat(read.get(0).cosine()).isCloseTo(1, within(0.001));
        for (float[] query : List.of(new float[DIMENSION], infinite, none)) {
            assertThat(cosines(Scope.memory(ONE), query).get(0).cosine()).isZero();
        }
    }

    @Test
    void what_is_out_of_order_is_refused() {
        indexed(ONE);
        add(ONE, 1, 1, 10);
        List<MessageVector> some = vectors(1, 11, 12);
        MessageVector wider = new MessageVector(12, time(12), new float[DIMENSION + 1]);
        for (List<MessageVector> wrong : List.of(
                vectors(1, 10, 11),
                vectors(1, 11, 13),
                List.of(some.get(1), some.get(0)),
                List.of(some.get(0), wider))) {
            assertThrown(InvalidInputException.class, () -> index.addVectors(MODEL, ONE, mark(10), mark(12), wrong));
        }
        assertThrown(InvalidInputException.class, () -> index.addVectors(MODEL, ONE, mark(10), mark(9), List.of()));
        assertThrown(
                InvalidInputException.class,
                () -> index.addVectors(MODEL, ONE, mark(10), new VectorMark(2, 11, 1, 0), List.of()));
        assertThatThrownBy(() -> new VectorMark(1, 1, Double.NaN, 0)).isInstanceOf(InvalidInputException.class);
        assertThrown(InvalidInputException.class, () -> cosines(MODEL, Scope.memory(ONE), new float[DIMENSION], 0));
        assertThat(index.vectorMarks(MODEL, List.of(ONE))).isEqualTo(Map.of(ONE, mark(10)));
        assertThat(some.get(0)).hasToString("MessageVector[sequence=11, time=" + time(11) + ", dimension=16]");
    }

    @Test
    void a_closed_index_says_so_for_vectors_too() throws Exception {
        MessageIndex closed = newIndex();
        closed.close();
        List.<Runnable>of(
                        () -> closed.vectorMarks(MODEL, List.of(ONE)),
                        () -> closed.addVectors(MODEL, ONE, null, mark(1), List.of()),
                        () -> closed.cosines(MODEL, Scope.memory(ONE), new float[1], 1, Map.of(), (k, s, t, c) -> {}))
                .forEach(call -> assertThatThrownBy(call::run).isInstanceOf(StorageClosedException.class));
    }
}
