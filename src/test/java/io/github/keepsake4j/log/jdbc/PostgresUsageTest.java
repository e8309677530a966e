package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.answer;
import static io.github.keepsake4j.log.LogTesting.user;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Usage;
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
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What sums of usage and what an answer was made from cost in PostgreSQL. */
class PostgresUsageTest {

    private HikariDataSource pool;
    private MessageLog log;

    @BeforeEach
    void open() throws Exception {
        Postgres server = Postgres.newest();
        pool = Postgres.pool(server.database(server.newDatabase()), 4, true);
        log = JdbcMessageLog.builder()
                .dataSource(pool)
                .schema(SchemaMode.ALWAYS)
                .build();
    }

    @AfterEach
    void close() {
        log.close();
        pool.close();
    }

    @Test
    void appends_with_usage_change_rows_in_their_pages() throws Exception {
        MemoryKey key = ConversationKey.of("acme", "1");
        log.append(key, Append.underHead(user("begin")));
        int appends = Counts.of(300, 5_000);
        for (int i = 0; i < appends; i++) {
            log.append(key, Append.underHead(answer("m" + i).withUsage(new Usage(100, 10, 1))));
        }
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_stat_force_next_flush()");
        }
        // The server counts what each connection did when that connection is idle.
        assertThat(Logs.usage(log, "acme", LocalDate.EPOCH, LocalDate.EPOCH.plusDays(100_000)))
                .extracting(DailyUsage::usage)
                .containsExactly(new Usage(100L * appends, 10L * appends, appends));
        pool.getHikariPoolMXBean().softEvictConnections();
        for (String table : List.of("keepsake_memory", "keepsake_usage")) {
            String stats = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = '" + table + "'";
            long[] counted = new long[2];
            for (int i = 0; i < 200 && counted[0] < appends - 1; i++) {
                try (Connection connection = pool.getConnection();
                        Statement statement = connection.createStatement();
                        ResultSet rows = statement.executeQuery(stats)) {
                    assertThat(rows.next()).isTrue();
                    counted[0] = rows.getLong(1);
                    counted[1] = rows.getLong(2);
                    statement.execute("SELECT pg_stat_clear_snapshot(), pg_sleep(0.05)");
                }
            }
            Tell.line(table + ": " + counted[0] + " updates, " + counted[1] + " of them within their page");
            assertThat(counted[0]).isGreaterThanOrEqualTo(appends - 1);
            assertThat(counted[1]).isGreaterThanOrEqualTo(counted[0] * 95 / 100);
        }
    }

    @Test
    void usage_is_read_over_an_index() throws Exception {
        assertThat(Logs.usage(log, "t7", LocalDate.EPOCH, LocalDate.EPOCH.plusDays(100_000)))
                .isEmpty();
        Postgres.execute(
                pool,
                """
                INSERT INTO keepsake_memory (memory_key, number, tenant, conversation_id, metadata, epoch, revision, last_seq,
                  tokens, created_at)
                SELECT decode(md5(i::text), 'hex'), i, 't' || i % 100, i::text, '{}', 1, 1, 0, 0, 0
                FROM generate_series(1, 5000) i;
                INSERT INTO keepsake_listed (memory_key, list, place, number, tie)
                SELECT decode(md5(i::text), 'hex'), CASE WHEN i % 100 = 7 THEN T7 ELSE i % 100 END, 0, i, i
                FROM generate_series(1, 5000) i;
                INSERT INTO keepsake_usage (memory_key, day, tenant, input_tokens, output_tokens, cached_tokens)
                SELECT decode(md5(i::text), 'hex'), d, 't' || i % 100, 1, 1, 1
                FROM generate_series(1, 5000) i CROSS JOIN generate_series(20000, 20009) d;
                ANALYZE keepsake_memory, keepsake_listed, keepsake_usage
                """
                        .replace("T7", Long.toString(-Lists.ofTenant("t7"))));
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            String sql = PostgresListSql.USAGE.text();
            for (Object value : PostgresListSql.USAGE.bind(
                    "'t7'",
                    -Lists.ofTenant("t7"),
                    Long.MAX_VALUE,
                    Long.MAX_VALUE,
                    Long.MAX_VALUE,
                    1_001,
                    20_003,
                    20_004)) {
                sql = sql.replaceFirst("\\?", Matcher.quoteReplacement(value.toString()));
            }
            StringBuilder plan = new StringBuilder();
            try (ResultSet rows = statement.executeQuery("EXPLAIN " + sql)) {
                while (rows.next()) {
                    plan.append(rows.getString(1)).append('\n');
                }
            }
            assertThat(plan.toString())
                    .contains("keepsake_usage_by_tenant")
                    .doesNotContain("Seq Scan on keepsake_usage");
        }
        assertThat(Logs.usage(log, "t7", LocalDate.ofEpochDay(20003), LocalDate.ofEpochDay(20005)))
                .hasSize(100);
    }

    @Test
    void writers_at_once_lose_no_usage() throws Exception {
        int writers = 4;
        int appends = Counts.of(40, 1_000);
        NewMessage late = new NewMessage("begin", user("x").message(), 1, "c", Instant.EPOCH);
        MemoryKey key = ConversationKey.of("acme", "1");
        log.append(key, Append.underHead(late));
        ExecutorService threads = Executors.newFixedThreadPool(writers);
        try {
            List<Callable<Void>> work = new ArrayList<>();
            for (int w = 0; w < writers; w++) {
                int writer = w;
                work.add(() -> {
                    for (int i = 0; i < appends; i++) {
                        String id = writer + "-" + i;
                        Append append = Append.underHead(answer(id).withUsage(new Usage(1, 2, 0)));
                        log.append(key, i % 3 == 0 ? append.onBranch("tab " + writer) : append);
                        if (i % 5 == 0) {
                            assertThat(log.append(key, append).replayed()).isTrue();
                        }
                    }
                    return null;
                });
            }
            for (Future<Void> done : threads.invokeAll(work)) {
                done.get();
            }
        } finally {
            threads.shutdownNow();
        }
        long all = (long) writers * appends;
        assertThat(Logs.usage(log, "acme", LocalDate.EPOCH, LocalDate.EPOCH.plusDays(100_000)).stream()
                        .map(DailyUsage::usage)
                        .reduce(Usage.NONE, Usage::plus))
                .isEqualTo(new Usage(all, 2 * all, 0));
        assertThat(log.check(key)).isEmpty();
    }

    @Test
    void what_an_answer_was_made_from_takes_few_bytes() throws Exception {
        Random random = new Random(1);
        MemoryKey key = ConversationKey.of("acme", "1");
        long newest = 900_000;
        for (int i = 0; i < 300; i++) {
            newest += 1 + random.nextInt(4);
            List<Long> shown = new ArrayList<>(List.of(1L));
            List<Long> shortened = new ArrayList<>();
            long next = newest - 50;
            while (next < newest) {
                // Other branches' messages lie between, and results move behind their calls.
                next += random.nextInt(12) == 0 ? 2 + random.nextInt(3) : 1;
                shown.add(next);
                if (random.nextInt(12) == 0) {
                    shortened.add(next);
                }
            }
            Seen seen = new Seen(Seen.ranges(shown), shortened, random.nextInt(5), random.nextBoolean());
            log.append(key, Append.underHead(answer("m" + i).withSeen(seen).withUsage(new Usage(4_000, 300, 2_000))));
            assertThat(Logs.made(log, key, "m" + i).orElseThrow().seen()).isEqualTo(seen);
        }
        long median = number(
                "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY pg_column_size(made)) FROM keepsake_message");
        long most = number("SELECT max(pg_column_size(made)) FROM keepsake_message");
        Tell.line("Bytes kept for an answer: %d in the median, %d at most", median, most);
        assertThat(median).isLessThanOrEqualTo(200);
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
