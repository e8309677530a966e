package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static io.github.keepsake4j.log.LogTesting.history;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Single bytes of a SQLite file are changed. No call hangs, fails without saying why, or writes over the damage; and a
 * memory whose rows are as they were is read as before, or the damage is named where an index has it.
 */
@Tag("landing")
class SqliteFlippedBytesTest {

    private static final int MEMORIES = 5;

    /** From here on the results of {@link #reads} are pages of everything. */
    private static final int PAGES = 7;

    private static final List<String> TABLES =
            List.of("keepsake_memory", "keepsake_message", "keepsake_view", "keepsake_summary");

    @TempDir
    Path directory;

    private final ExecutorService calls = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "call");
        thread.setDaemon(true);
        return thread;
    });

    private String schema = "";

    @Test
    void flipped_bytes() throws Exception {
        Path template = directory.resolve("template.db");
        try (MessageLog log = SqliteMessageLog.open(template)) {
            for (int i = 0; i < MEMORIES; i++) {
                fill(log, key(i));
            }
        }
        byte[] sound = Files.readAllBytes(template);
        Map<MemoryKey, List<Object>> before = new LinkedHashMap<>();
        try (MessageLog log = SqliteMessageLog.open(template)) {
            for (int i = 0; i < MEMORIES; i++) {
                before.put(key(i), reads(log, key(i)));
            }
        }
        Map<MemoryKey, List<String>> rowsBefore = rows(template);
        schema = schema(template);

        long seed = Long.getLong("keepsake.seed", 1L);
        Random random = new Random(seed);
        int flips = Counts.of(30, 500);
        int[] outcome = new int[3];
        for (int i = 0; i < flips; i++) {
            int offset = random.nextInt(sound.length);
            byte flip = (byte) (1 + random.nextInt(255));
            byte[] damaged = sound.clone();
            damaged[offset] ^= flip;
            Path file = directory.resolve("flip.db");
            Files.deleteIfExists(directory.resolve("flip.db-wal"));
            Files.deleteIfExists(directory.resolve("flip.db-shm"));
            Files.write(file, damaged, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
            try {
                outcome[check(file, before, rowsBefore)]++;
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ", flip " + i + ", byte " + offset + " ^ " + flip, e);
            }
        }
        System.out.println(flips + " flipped bytes: " + outcome[0] + " changed nothing that is read, " + outcome[1]
                + " were named as damage, " + outcome[2] + " changed what is read and no rule tells");
    }

    private int check(Path file, Map<MemoryKey, List<Object>> before, Map<MemoryKey, List<String>> rowsBefore)
            throws SQLException {
        boolean isWhole = isWhole(file) && schema(file).equals(schema);
        Map<MemoryKey, List<String>> rows = rows(file);
        Map<MemoryKey, List<String>> unmarked = rows(file, HandEditedRowsContract.MARKED);
        boolean named = false;
        boolean changed = false;
        MessageLog log = SqliteMessageLog.open(file);
        try {
            for (MemoryKey key : before.keySet()) {
                List<Object> now = reads(log, key);
                boolean untouched = rows.get(key).equals(rowsBefore.get(key));
                for (int i = 0; i < now.size(); i++) {
                    boolean isError = now.get(i) instanceof KeepsakeException;
                    boolean isSame = now.get(i).equals(before.get(key).get(i));
                    named |= isError;
                    changed |= !isError && !isSame;
                    if (untouched) {
                        // Where an index is damaged, a view or summary may be lost, and pages show what is found.
                        assertThat(isSame
                                        || (!isWhole
                                                && (isError
                                                        || i >= PAGES
                                                        || isSameBranch(
                                                                now.get(i),
                                                                before.get(key).get(i)))))
                                .as("read " + i + " of " + key + ", whose rows were not touched: " + now.get(i))
                                .isTrue();
                    }
                }
            }
            for (MemoryKey key : before.keySet()) {
                value(() -> log.append(key, batch("after")));
                value(() -> log.append(key, batchUnder("m5", "after1", "after2")));
                value(() -> Logs.moveHead(log, key, "m9", null));
                value(() -> log.branches(key));
                value(() -> log.list("acme", ListQuery.first(1)));
                value(() -> log.check(key));
                value(() -> log.repair(key));
                value(() -> log.read(key, ReadQuery.newest(3)));
            }
        } finally {
            value(() -> {
                log.close();
                return true;
            });
        }
        Map<MemoryKey, List<String>> after = rows(file, HandEditedRowsContract.MARKED);
        unmarked.forEach((key, kept) -> assertThat(after.get(key))
                .as("rows of " + key)
                .containsAll(kept.stream()
                        .filter(row -> row.startsWith("keepsake_message"))
                        .toList()));
        return named ? 1 : changed ? 2 : 0;
    }

    private static MemoryKey key(int i) {
        return ConversationKey.of("acme", "memory" + i);
    }

    private static void fill(MessageLog log, MemoryKey key) {
        for (int i = 1; i <= 20; i++) {
            log.append(key, batch("m" + i));
        }
        log.append(key, batchUnder("m10", "n1", "n2", "n3").withView(View.of(null, List.of(new View.Run("m2", "m4")))));
        log.append(key, batchUnder("m15", "o1", "o2"));
        Logs.putSummary(log, key, new Summary("m8", "text", 1, "test-counter", 1, 1, null, Instant.EPOCH), 1);
        log.append(key, Append.viewOnly(View.of("o1", List.of(new View.Run("m1", "m3")))));
    }

    private List<Object> reads(MessageLog log, MemoryKey key) {
        return List.of(
                value(() -> log.read(key, ReadQuery.newest(1))),
                value(() -> log.read(key, ReadQuery.newest(10))),
                value(() -> log.read(key, ReadQuery.wholeBranch())),
                value(() -> log.read(key, ReadQuery.wholeBranch().upToTokens(30))),
                value(() -> log.read(key, ReadQuery.newest(2).alsoOldest(2))),
                value(() -> log.read(key, ReadQuery.newest(10).upToSummary())),
                value(() -> log.read(key, ReadQuery.wholeBranch().endingIn("n3"))),
                value(() -> history(log, key)),
                value(() -> Logs.summaries(log, key)));
    }

    /** The result, or the error if it is one of ours. */
    private Object value(Callable<?> call) {
        try {
            return calls.submit(call).get(60, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KeepsakeException known) {
                return known;
            }
            throw new AssertionError("untyped", e.getCause());
        } catch (Exception e) {
            throw new AssertionError("no end", e);
        }
    }

    /** Whether a read shows the same messages. Where a summary is lost, it shows more of them. */
    private static boolean isSameBranch(Object now, Object before) {
        return now instanceof Tail a
                && before instanceof Tail b
                && (a.messages().equals(b.messages())
                        || (b.summary() != null && a.messages().containsAll(b.messages())));
    }

    private static boolean isWhole(Path file) {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery("PRAGMA integrity_check")) {
            return found.next() && found.getString(1).equals("ok");
        } catch (SQLException e) {
            return false;
        }
    }

    private static String schema(Path file) {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery("SELECT group_concat(sql) FROM sqlite_master")) {
            return found.next() ? found.getString(1) : "";
        } catch (SQLException e) {
            return "unreadable";
        }
    }

    /** Each memory's rows, read without an index; none where the tables cannot be read. */
    private static Map<MemoryKey, List<String>> rows(Path file) {
        return rows(file, Set.of());
    }

    private static Map<MemoryKey, List<String>> rows(Path file, Set<String> without) {
        Map<String, List<String>> byHash = new LinkedHashMap<>();
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            for (String table : TABLES) {
                try (ResultSet found = statement.executeQuery("SELECT * FROM " + table + " NOT INDEXED")) {
                    int columns = found.getMetaData().getColumnCount();
                    while (found.next()) {
                        StringBuilder row = new StringBuilder(table);
                        for (int i = 1; i <= columns; i++) {
                            if (without.contains(found.getMetaData().getColumnName(i))) {
                                continue;
                            }
                            Object value = found.getObject(i);
                            row.append('|')
                                    .append(
                                            value instanceof byte[] b
                                                    ? HexFormat.of().formatHex(b)
                                                    : value);
                        }
                        String hash = HexFormat.of().formatHex(found.getBytes("memory_key"));
                        byHash.computeIfAbsent(hash, h -> new ArrayList<>()).add(row.toString());
                    }
                }
            }
        } catch (SQLException | NullPointerException e) {
            byHash.clear();
        }
        Map<MemoryKey, List<String>> rows = new LinkedHashMap<>();
        for (int i = 0; i < MEMORIES; i++) {
            rows.put(key(i), byHash.getOrDefault(HexFormat.of().formatHex(Rows.hash(key(i))), List.of()));
        }
        return rows;
    }
}
