package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Tell;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * From an empty schema to a million messages on one connection: no statement ever reads more blocks than what it returns and
 * a constant. A plan that was made while the tables were empty stays on its connection until the tables are analyzed, so
 * each statement is run often enough to have one first.
 */
@Tag("landing")
@Timeout(900)
class PostgresGrowthTest {

    private static final ConversationKey LINEAR = ConversationKey.of("acme", "linear");
    private static final ConversationKey FORKED = ConversationKey.of("acme", "forked");
    private static final int FORKS = 1_000;
    private static final List<String> TABLES =
            List.of("memory", "message", "view", "summary", "reference", "usage", "lease");

    /** More than a statement is run before its plan is kept: five times by the driver, and five times by the server. */
    private static final int OFTEN = 12;

    /** Blocks: a root, an inner and a leaf page of each index that is asked, and a heap page for each of some rows. */
    private static final long CONSTANT = 150;

    /** What goes from run to run: to the branch's oldest messages, or to the newest view and summary on another branch. */
    private static final Set<String> WALKS =
            Set.of("read and oldest", "read from", "append under", "append a used id", "summary", "move");

    private int next;

    @Test
    void no_plan_is_kept_that_reads_the_table() throws Exception {
        assertThat(grow(pool -> {}, List.of("never analyzed", "analyzed")))
                .allSatisfy((call, blocks) -> assertThat(blocks).isLessThanOrEqualTo(CONSTANT));
    }

    /**
     * Nor once the tables are analyzed, if they were vacuumed when they were empty. Until then their statistics say that they
     * have one page, and every plan that is made then reads them whole: autovacuum ends that within about a minute.
     */
    @Test
    void nor_once_tables_are_analyzed_that_were_vacuumed_empty() throws Exception {
        Map<String, Long> most = grow(
                pool -> {
                    for (String table : TABLES) {
                        execute(pool, "VACUUM keepsake_" + table);
                    }
                },
                List.of("analyzed"));
        assertThat(most).allSatisfy((call, blocks) -> assertThat(blocks).isLessThanOrEqualTo(CONSTANT));
    }

    /** Tables that were analyzed when they had a few rows, and that nothing analyzes while this process fills them. */
    @Test
    void nor_while_a_process_fills_tables_that_were_analyzed_when_they_were_small() throws Exception {
        Map<String, Long> most = new LinkedHashMap<>();
        try (HikariDataSource pool = pool();
                MessageLog log = PostgresMessageLog.open(pool)) {
            MemoryKey first = ConversationKey.of("acme", "first");
            log.append(first, batch("a", "b", "c"));
            execute(pool, "VACUUM (ANALYZE)");
            for (int round = 0; round < Counts.of(15, 3_000); round++) {
                for (int i = 0; i < OFTEN; i++) {
                    log.append(ConversationKey.of("acme", "small " + round + " " + i), batch("a", "b", "c", "d"));
                    log.append(first, batch(id(), id(), id(), id(), id(), id()));
                }
                Map<String, Runnable> calls = calls(log, first, "b");
                // It returns one more in each round.
                calls.remove("summaries");
                calls.forEach((name, call) -> {
                    long before = blocks(pool);
                    call.run();
                    most.merge(name, blocks(pool) - before, Math::max);
                });
            }
        }
        Tell.line("Blocks at most: " + most);
        assertThat(most).allSatisfy((call, blocks) -> assertThat(blocks).isLessThanOrEqualTo(CONSTANT));
    }

    /** One connection to a database whose tables nothing vacuums by itself. */
    private static HikariDataSource pool() throws Exception {
        Postgres server = Postgres.newest();
        String database = server.newDatabase();
        Postgres.execute(server.database("postgres"), "ALTER DATABASE " + database + " SET jit = off");
        HikariDataSource pool = Postgres.trustingPool(server.database(database), 1, true);
        try (MessageLog log = JdbcMessageLog.builder()
                .dataSource(pool)
                .schema(SchemaMode.ALWAYS)
                .build()) {
            log.read(LINEAR, ReadQuery.newest(1));
        }
        for (String table : TABLES) {
            execute(pool, "ALTER TABLE keepsake_" + table + " SET (autovacuum_enabled = off)");
        }
        return pool;
    }

    private Map<String, Long> grow(Consumer<HikariDataSource> prepare, List<String> when) throws Exception {
        int messages = Counts.of(10_000, 1_000_000);
        // Only a planner without statistics could take a tenant's memories in another order than the index's.
        int small = Counts.of(when.contains("never analyzed") ? 2_000 : 300, 10_000);
        int written = small > 300 ? Counts.of(20, small) : small;
        try (HikariDataSource pool = pool();
                MessageLog log = PostgresMessageLog.open(pool)) {
            prepare.accept(pool);
            MemoryKey first = ConversationKey.of("acme", "first");
            log.append(first, batch("a", "b", "c"));
            for (int i = 0; i < OFTEN; i++) {
                calls(log, first, "b").values().forEach(Runnable::run);
            }
            for (int i = 0; i < written; i++) {
                log.append(ConversationKey.of("acme", "small " + i), batch("a", "b", "c", "d"));
            }
            PostgresPlansTest.multiply(pool, small / written);
            // Plans are renewed by how many messages this log appends: as many as if it had written all memories.
            for (int i = written; i < small; i += 20) {
                String[] ids = Stream.generate(this::id).limit(4 * 20).toArray(String[]::new);
                log.append(ConversationKey.of("acme", "filler"), batch(ids));
            }
            PostgresPlansTest.fill(pool, LINEAR, 1, messages, messages);
            PostgresPlansTest.fill(pool, FORKED, 1, messages, messages / FORKS);
            PostgresPlansTest.addMemory(pool, LINEAR, messages);
            PostgresPlansTest.addMemory(pool, FORKED, messages);
            Map<String, Long> most = new LinkedHashMap<>();
            if (when.contains("never analyzed")) {
                measure(pool, log, messages, "never analyzed", most);
            }
            execute(pool, "ANALYZE");
            measure(pool, log, messages, "analyzed", most);
            Tell.line("Blocks at most: " + most);
            return most;
        }
    }

    private void measure(HikariDataSource pool, MessageLog log, int messages, String when, Map<String, Long> most) {
        Map<MemoryKey, String> memories = new LinkedHashMap<>();
        memories.put(LINEAR, "m" + (messages / 2));
        memories.put(FORKED, "m" + (messages / 2));
        memories.put(ConversationKey.of("acme", "small 7"), "b");
        memories.forEach((key, id) -> {
            // What a run of this memory taught the log is not measured.
            calls(log, key, id).values().forEach(Runnable::run);
            calls(log, key, id).forEach((name, call) -> {
                long before = blocks(pool);
                call.run();
                long read = blocks(pool) - before;
                if (key.equals(FORKED) && name.contains("oldest")) {
                    // Two look-ups for each fork on the way to the root, of a root, two inner pages, a leaf and a heap
                    // page
                    // at most.
                    read -= FORKS * 2L * 5;
                }
                most.merge(when + ", " + name, read, Math::max);
            });
        });
    }

    private Map<String, Runnable> calls(MessageLog log, MemoryKey key, String id) {
        Map<String, Runnable> calls = new LinkedHashMap<>();
        calls.put("read 20", () -> log.read(key, ReadQuery.newest(20)));
        calls.put("read by tokens", () -> log.read(key, ReadQuery.wholeBranch().upToTokens(200)));
        calls.put("read to summary", () -> log.read(key, ReadQuery.newest(20).upToSummary()));
        calls.put("read and oldest", () -> log.read(key, ReadQuery.newest(20).alsoOldest(2)));
        calls.put("read from", () -> log.read(key, ReadQuery.newest(20).endingIn(id)));
        long sequence = id.startsWith("m") ? Long.parseLong(id.substring(1)) : 2;
        calls.put("on branch", () -> log.onBranch(key, List.of(sequence)));
        calls.put("position", () -> log.read(key, ReadQuery.newest(0)));
        calls.put("append", () -> log.append(key, batch(id())));
        calls.put("append three", () -> log.append(key, batch(id(), id(), id())));
        calls.put("append a used id", () -> log.append(key, batch("same")));
        calls.put("find", () -> Logs.find(log, key, List.of(id, "none")));
        MemoryKey other = ConversationKey.of("acme", "unknown");
        calls.put("find in several", () -> Logs.find(log, Map.of(key, List.of(id, "none"), other, List.of(id))));
        calls.put("find at in several", () -> Logs.findAt(log, Map.of(key, List.of(1L, sequence), other, List.of(1L))));
        calls.put("history", () -> log.history(key, HistoryQuery.newest(20)));
        calls.put("set", () -> log.append(key, batch(id()).withView(View.of(null, List.of(new View.Run(null, id))))));
        calls.put("move", () -> Logs.moveHead(log, key, id, null));
        calls.put("append under", () -> log.append(key, batchUnder(id, id())));
        calls.put(
                "summary",
                () -> Logs.putSummary(log, key, new Summary(id, "text", 1, "none", 1, 1, null, Instant.EPOCH), 1));
        calls.put("summaries", () -> Logs.summaries(log, key));
        calls.put("describe", () -> Logs.describe(log, key, "title", Map.of()));
        calls.put("list", () -> log.list("acme", ListQuery.first(10)));
        calls.put("list by activity", () -> log.list("acme", ListQuery.first(10).byActivity()));
        calls.put("nodes", () -> log.nodes(ConversationKey.of("acme", "unknown")));
        return calls;
    }

    private String id() {
        return "n" + next++;
    }

    /** All blocks of the library's tables and indexes that were looked at until now. */
    static long blocks(HikariDataSource pool) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_stat_force_next_flush()");
            try (ResultSet row = statement.executeQuery("SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read"
                    + " + idx_blks_hit) FROM pg_statio_user_tables WHERE relname LIKE 'keepsake%'")) {
                row.next();
                return row.getLong(1);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void execute(HikariDataSource pool, String sql) {
        try {
            Postgres.execute(pool, sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
