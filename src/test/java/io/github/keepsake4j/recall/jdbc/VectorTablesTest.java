package io.github.keepsake4j.recall.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.MessageVector;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.TransactionPooler;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqlite.SQLiteDataSource;

/** The rows of vectors in databases. */
class VectorTablesTest {

    private static final MemoryKey ONE = ConversationKey.of("acme", "one");
    private static final MemoryKey TWO = ConversationKey.of("acme", "two");

    @TempDir
    Path directory;

    private DataSource source = new SQLiteDataSource();

    private MessageIndex open(String database) throws SQLException {
        if (database.equals("sqlite")) {
            Path file = directory.resolve("index.db");
            SQLiteDataSource sqlite = new SQLiteDataSource();
            sqlite.setUrl("jdbc:sqlite:" + file);
            source = sqlite;
            return JdbcMessageIndex.sqlite(file);
        }
        source = Postgres.newest().kept(Postgres.newest().newDatabase());
        return Postgres.index(source);
    }

    private List<Long> numbers(String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<Long> numbers = new ArrayList<>();
            while (rows.next()) {
                numbers.add(rows.getLong(1));
            }
            return numbers;
        }
    }

    private static VectorMark mark(long sequence) {
        return new VectorMark(1, sequence, 1, 0);
    }

    private static List<MessageVector> vectors(long from, long to) {
        return LongStream.rangeClosed(from, to)
                .mapToObj(sequence ->
                        new MessageVector(sequence, Instant.ofEpochSecond(sequence), new float[] {1, sequence % 7}))
                .toList();
    }

    private static void add(MessageIndex index, String model, MemoryKey key, long from, long to) {
        VectorMark before = index.vectorMarks(model, List.of(key)).get(key);
        assertThat(index.addVectors(model, key, before, mark(to), vectors(from, to)))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql"})
    void the_rows_of_a_block_become_one_when_the_mark_has_passed_it(String database) throws Exception {
        String rows = "SELECT sequence FROM keepsake_index_vector ORDER BY sequence";
        try (MessageIndex index = open(database)) {
            index.add(ONE, null, new Watermark(1, 1_000), List.of());
            add(index, "model", ONE, 1, 100);
            add(index, "model", ONE, 101, 126);
            assertThat(numbers(rows)).containsExactly(1L, 101L);
            add(index, "model", ONE, 127, 127);
            assertThat(numbers(rows)).containsExactly(1L);
            add(index, "model", ONE, 128, 129);
            add(index, "model", ONE, 130, 130);
            assertThat(numbers(rows)).containsExactly(1L, 128L, 130L);
            assertThat(index.addVectors("model", ONE, mark(130), mark(300), List.of()))
                    .isTrue();
            assertThat(numbers(rows)).containsExactly(1L, 128L);
            assertThat(numbers("SELECT amount FROM keepsake_index_vector ORDER BY sequence"))
                    .containsExactly(127L, 3L);
            add(index, "model", ONE, 301, 600);
            assertThat(numbers(rows)).containsExactly(1L, 128L, 301L, 384L, 512L);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql"})
    void vectors_of_a_model_that_is_not_used_leave_a_memory_when_it_is_written(String database) throws Exception {
        try (MessageIndex index = open(database)) {
            for (MemoryKey key : List.of(ONE, TWO)) {
                index.add(key, null, new Watermark(1, 1_000), List.of());
                add(index, "before", key, 1, 200);
            }
            setUnusedDays(MessageIndex.UNUSED_DAYS - 1);
            add(index, "now", ONE, 1, 10);
            assertThat(index.vectorMarks("before", List.of(ONE, TWO))).hasSize(2);

            setUnusedDays(MessageIndex.UNUSED_DAYS + 1);
            add(index, "now", ONE, 11, 20);

            assertThat(index.vectorMarks("before", List.of(ONE, TWO))).isEqualTo(Map.of(TWO, mark(200)));
            assertThat(numbers("SELECT SUM(amount) FROM keepsake_index_vector")).containsExactly(220L);
            // Its own use keeps it.
            add(index, "before", TWO, 201, 210);
            add(index, "now", TWO, 1, 10);
            add(index, "before", ONE, 1, 5);
            add(index, "now", ONE, 21, 21);
            assertThat(index.vectorMarks("before", List.of(ONE, TWO))).isEqualTo(Map.of(ONE, mark(5), TWO, mark(210)));
        }
    }

    private void setUnusedDays(int days) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            long today = Instant.now().getEpochSecond() / 86_400;
            statement.executeUpdate(
                    "UPDATE keepsake_index_model SET used = " + (today - days) + " WHERE model = 'before'");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql"})
    void a_memory_that_is_removed_while_vectors_are_added_leaves_none(String database) throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        Random random = new Random(5);
        try (MessageIndex index = open(database)) {
            for (int i = 0; i < Counts.of(40, 400); i++) {
                index.add(ONE, null, new Watermark(1, 1_000), List.of());
                CountDownLatch begun = new CountDownLatch(1 + random.nextInt(8));
                Future<Long> added = executor.submit(() -> {
                    VectorMark before = null;
                    long next = 1;
                    while (next <= 1_000 && index.addVectors("model", ONE, before, mark(next), vectors(next, next))) {
                        before = mark(next);
                        begun.countDown();
                        next++;
                    }
                    return next - 1;
                });
                begun.await();
                index.remove(ONE);

                assertThat(added.get()).isBetween(1L, 999L);
                assertThat(numbers("SELECT COUNT(*) FROM keepsake_index_vector"))
                        .containsExactly(0L);
                assertThat(numbers("SELECT COUNT(*) FROM keepsake_index_vector_mark"))
                        .containsExactly(0L);
            }
        } finally {
            executor.shutdown();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql"})
    void damaged_vectors_are_told_and_those_of_another_dimension_are_not_read(String database) throws Exception {
        try (MessageIndex index = open(database)) {
            index.add(ONE, null, new Watermark(1, 3), List.of());
            add(index, "model", ONE, 1, 3);
            int sound = 2 + 3 * (1 + 8 + 4 + 2);
            List<byte[]> damaged = List.of(
                    new byte[0],
                    row(2, 0, 0.5f, sound - 1),
                    row(2, 0, 0.5f, sound + 1),
                    row(0, 0, 0.5f, 2 + 3 * 13),
                    row(2, 0, Float.NaN, sound),
                    row(2, 0, -1, sound),
                    row(2, -1, 0.5f, sound));
            for (byte[] vectors : damaged) {
                put(vectors);
                assertThatThrownBy(() -> cosines(index)).isInstanceOf(UnreadableDataException.class);
            }
            put(row(3, 0, 0.5f, 2 + 3 * 16));
            assertThat(cosines(index)).isZero();
        }
    }

    /** Returns three vectors of this size in all, each with this place and scale. */
    private static byte[] row(int dimension, int place, float scale, int size) {
        ByteBuffer row = ByteBuffer.allocate(size + 100).putChar((char) dimension);
        for (int i = 0; i < 3; i++) {
            row.put((byte) place).putLong(1).putFloat(scale).put(new byte[dimension]);
        }
        return Arrays.copyOf(row.array(), size);
    }

    private void put(byte[] vectors) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("UPDATE keepsake_index_vector SET vectors = ?")) {
            statement.setBytes(1, vectors);
            statement.executeUpdate();
        }
    }

    private static long cosines(MessageIndex index) {
        long[] read = new long[1];
        index.cosines("model", Scope.memory(ONE), new float[] {1, 0}, 100, Map.of(), (k, s, t, c) -> read[0]++);
        return read[0];
    }

    @Test
    void many_vectors_are_read_behind_a_pooler_in_transaction_mode() throws Exception {
        try (MessageIndex index = open("postgresql")) {
            index.add(ONE, null, new Watermark(1, 20_000), List.of());
            for (int from = 1; from < 20_000; from += 1_000) {
                add(index, "model", ONE, from, from + 999);
            }
        }
        String database;
        try (Connection connection = source.getConnection()) {
            database = connection.getCatalog();
        }
        try (TransactionPooler pooler = new TransactionPooler(Postgres.newest().port(), database, "postgres", 2);
                HikariDataSource pool = Postgres.pool(Postgres.database(database, pooler.port()), 2, true);
                MessageIndex index = JdbcMessageIndex.builder()
                        .dataSource(pool)
                        .transactionPooler()
                        .build()) {
            for (int i = 0; i < 5; i++) {
                long[] sum = new long[1];
                index.cosines(
                        "model",
                        Scope.memory(ONE),
                        new float[] {1, 0},
                        50_000,
                        Map.of(),
                        (k, sequence, t, c) -> sum[0] += sequence);
                assertThat(sum[0]).isEqualTo(20_000L * 20_001 / 2);
            }
        }
    }
}
