package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageIndex.MessageVector;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.testing.Postgres;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import javax.sql.DataSource;

/**
 * Measures vectors of 384 dimensions in an index: {@code VectorBenchmark sqlite|postgresql messages perCall}. Prints the
 * bytes of a message, its bytes in the write-ahead log, and the time to compare all of them with a query.
 */
public final class VectorBenchmark {

    private static final String MODEL = "model 384";
    private static final MemoryKey KEY = ConversationKey.of("acme", "memory");
    private static final int QUERIES = 100;

    /** What a database counts, in bytes. */
    private interface Size {
        long bytes() throws Exception;
    }

    private VectorBenchmark() {}

    public static void main(String[] arguments) throws Exception {
        int messages = Integer.parseInt(arguments[1]);
        int perCall = Integer.parseInt(arguments[2]);
        if (arguments[0].equals("sqlite")) {
            Path directory = Files.createTempDirectory("vectors");
            Path file = directory.resolve("index.db");
            try (MessageIndex index = JdbcMessageIndex.sqlite(file)) {
                Path log = directory.resolve("index.db-wal");
                measure(index, messages, perCall, () -> Files.exists(log) ? Files.size(log) : 0, () -> {
                    index.compact();
                    return Files.size(file);
                });
            }
            return;
        }
        DataSource source = Postgres.trustingPool(
                Postgres.newest().database(Postgres.newest().newDatabase()), 2, true);
        try (MessageIndex index = Postgres.index(source)) {
            index.tenants();
            Postgres.execute(source, "CHECKPOINT");
            measure(
                    index,
                    messages,
                    perCall,
                    () -> number(source, "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"),
                    () -> {
                        index.compact();
                        return number(source, "SELECT pg_total_relation_size('keepsake_index_vector')");
                    });
        }
    }

    private static long number(DataSource source, String sql) throws Exception {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void measure(MessageIndex index, int messages, int perCall, Size log, Size stored) throws Exception {
        index.add(KEY, null, new Watermark(1, messages), List.of());
        Random random = new Random(1);
        long logged = 0;
        VectorMark before = null;
        long begun = System.nanoTime();
        for (int done = 0; done < messages; ) {
            List<MessageVector> vectors = new ArrayList<>();
            for (int last = Math.min(messages, done + perCall); done < last; done++) {
                vectors.add(new MessageVector(done + 1, Instant.ofEpochSecond(60L * done), vector(random)));
            }
            VectorMark after = new VectorMark(1, done, 1, 0);
            long size = log.bytes();
            index.addVectors(MODEL, KEY, before, after, vectors);
            // The log of SQLite begins again at its start when it was copied into the file, so few messages tell more.
            logged += Math.max(0, log.bytes() - size);
            before = after;
        }
        System.out.printf(
                "%d messages, %d a call: %.2f ms a call, %d bytes a message in the write-ahead log, ",
                messages, perCall, (System.nanoTime() - begun) / 1e6 * perCall / messages, logged / messages);
        System.out.printf("%d stored%n", stored.bytes() / messages);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long cpu = 0;
        long[] nanos = new long[QUERIES];
        for (int i = -QUERIES; i < QUERIES; i++) {
            float[] query = vector(random);
            cpu = i == 0 ? threads.getCurrentThreadCpuTime() : cpu;
            long start = System.nanoTime();
            int[] read = new int[1];
            index.cosines(
                    MODEL, Scope.memory(KEY), query, 50_000, Map.of(), (key, sequence, time, cosine) -> read[0]++);
            if (i >= 0) {
                nanos[i] = System.nanoTime() - start;
            }
            if (read[0] != Math.min(50_000, messages)) {
                throw new IllegalStateException("read " + read[0]);
            }
        }
        Arrays.sort(nanos);
        System.out.printf(
                "cosines of all: p50 %.1f ms, p95 %.1f ms, %.1f ms of this process's processor%n",
                nanos[QUERIES / 2] / 1e6,
                nanos[QUERIES * 95 / 100] / 1e6,
                (threads.getCurrentThreadCpuTime() - cpu) / 1e6 / QUERIES);
    }

    private static float[] vector(Random random) {
        float[] vector = new float[384];
        for (int i = 0; i < vector.length; i++) {
            vector[i] = (float) random.nextGaussian();
        }
        return vector;
    }
}
