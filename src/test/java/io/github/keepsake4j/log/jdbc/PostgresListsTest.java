package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.TestClock;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.Preparation;
import io.github.keepsake4j.sql.Session;
import io.github.keepsake4j.sql.SqlConnection;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** The cost of the lists of memories. */
@Tag("landing")
class PostgresListsTest {

    private static final Pattern ROWS =
            Pattern.compile("(?:Index|Seq).*Scan.*rows=(\\d+).*actual.*rows=([\\d.]+) loops=(\\d+)");

    @TempDir
    Path directory;

    private PGSimpleDataSource source;
    private HikariDataSource pool;

    /** A connection for what a test asks while all of the pool's may be in use. */
    private HikariDataSource beside;

    @BeforeEach
    void createDatabase() throws Exception {
        source = Postgres.newest().database(Postgres.newest().newDatabase());
        pool = Postgres.trustingPool(source, 1, true);
        beside = Postgres.trustingPool(source, 1, true);
    }

    @AfterEach
    void closePool() {
        pool.close();
        beside.close();
    }

    @Test
    void a_page_of_one_owner_reads_as_many_rows_as_one_of_all() throws Exception {
        int memories = Counts.of(1_000, 100_000);
        int owners = memories / 100;
        int written = Counts.of(100, memories);
        try (MessageLog log = log("owner")) {
            for (int i = 0; i < written; i++) {
                log.append(ConversationKey.of("acme", "c" + i), batch("a").creating(Map.of("owner", "u" + i % owners)));
            }
            PostgresPlansTest.multiply(beside, memories / written);
            // As the server does within a minute.
            Postgres.execute(beside, "ANALYZE keepsake_listed, keepsake_memory");
            ListQuery first = ListQuery.first(50);
            for (ListQuery all : List.of(first, first.byActivity())) {
                ListQuery some = all.withMetadata("owner", "u7");
                ListQuery allNext = log.list("acme", all).next().orElseThrow();
                ListQuery someNext = log.list("acme", some).next().orElseThrow();
                List<Long> rows = List.of(rows(all), rows(some), rows(allNext), rows(someNext));
                Tell.line(
                        "%d memories of %d owners: rows for two pages of 50 of all and of one: %s",
                        memories, owners, rows);
                // The last page has no row behind it. Of a small table, the server may read all rows at once.
                assertThat(rows.get(1)).isLessThanOrEqualTo(rows.get(0));
                assertThat(rows.get(3)).isLessThanOrEqualTo(rows.get(2));
                if (memories >= 100_000) {
                    assertThat(rows).containsExactly(102L, 102L, 102L, 100L);
                }
                assertThat(log.list("acme", someNext).memories()).hasSize(50).allMatch(someNext::matches);
            }
        }
    }

    /** A floor is the log of turns within one minute. */
    @Test
    void an_order_that_is_exact_to_the_minute_costs_little_of_the_write_ahead_log() throws Exception {
        int turns = Counts.of(500, 12_000);
        // A server of its own, because the log of a server has what all its databases write.
        try (Postgres server = Postgres.on(directory, "off")) {
            PGSimpleDataSource database = server.database(server.newDatabase());
            Postgres.execute(database, "ALTER SYSTEM SET autovacuum = off");
            // How many whole pages are written depends on when checkpoints come.
            Postgres.execute(database, "ALTER SYSTEM SET full_page_writes = off");
            Postgres.execute(database, "SELECT pg_reload_conf()");
            check(
                    bytesOfTurn(server, turns, Duration.ZERO),
                    bytesOfTurn(server, turns, Duration.ofSeconds(5)),
                    bytesOfTurn(server, turns, Duration.ofMinutes(1)));
        }
    }

    private static void check(long floor, long twelve, long one) {
        Tell.line("bytes of WAL for a turn: %d; with 12 turns a minute %d, with one %d", floor, twelve, one);
        assertThat(twelve).isLessThan(floor * 105 / 100);
        assertThat(one).isLessThan(floor * 110 / 100);
    }

    private static long bytesOfTurn(Postgres server, int turns, Duration pause) throws Exception {
        int memories = Counts.of(50, 100);
        TestClock clock = new TestClock();
        PGSimpleDataSource database = server.database(server.newDatabase());
        try (HikariDataSource connections = Postgres.trustingPool(database, 1, true);
                MessageLog log = JdbcMessageLog.builder()
                        .dataSource(connections)
                        .schema(SchemaMode.ALWAYS)
                        .clock(clock)
                        .build()) {
            long begin = 0;
            // The first rounds create the memories.
            for (int round = -3; round < turns / memories; round++) {
                begin = round == 0 ? wal(database) : begin;
                for (int m = 0; m < memories; m++) {
                    turn(log, ConversationKey.of("acme", "c" + m), round);
                }
                clock.advance(pause);
            }
            return (wal(database) - begin) / turns;
        }
    }

    private static void turn(MessageLog log, MemoryKey key, int number) {
        String question = "a question of about eighty characters with the number " + number + ", and what is behind it";
        String answer = ("an answer that is longer than the question " + number + ". ").repeat(8);
        log.append(key, Append.underHead(NewMessage.of(UserMessage.from(question), 20, "counter")));
        log.append(
                key,
                Append.underHead(NewMessage.of(AiMessage.from(answer), 90, "counter")
                        .withMade(new Made(null, new Usage(200, 90, 0)))));
    }

    private static long wal(PGSimpleDataSource database) throws SQLException {
        try (Connection connection = database.getConnection()) {
            return new Session(SqlConnection.of(connection))
                    .<Long>first("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn", row -> row.getLong(1));
        }
    }

    /** Appends that wait for a description, an erasure or a creation do not see the rows that these write. */
    @Test
    void writers_that_meet_leave_each_memory_on_its_lists_once() throws Exception {
        TestClock clock = new TestClock();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (HikariDataSource connections = Postgres.trustingPool(source, 4, true);
                MessageLog log = timed(connections, clock)) {
            for (int round = 0; round < Counts.of(20, 600); round++) {
                List<Future<?>> done = new ArrayList<>();
                for (int thread = 0; thread < 4; thread++) {
                    Random random = new Random(round * 4L + thread);
                    done.add(threads.submit(() -> {
                        for (int step = 0; step < 6; step++) {
                            change(log, ConversationKey.of("acme", "c" + random.nextInt(3)), random, clock);
                        }
                    }));
                }
                for (Future<?> each : done) {
                    each.get();
                }
                clock.advance(Duration.ofSeconds(50));
                assertListed();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** An append of a later minute waits for a description, whose rows it does not see. */
    @Test
    void an_append_that_waits_for_a_description_leaves_the_memory_on_its_lists() throws Exception {
        TestClock clock = new TestClock();
        ConversationKey key = ConversationKey.of("acme", "c");
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (HikariDataSource connections = Postgres.trustingPool(source, 2, true);
                MessageLog log = timed(connections, clock);
                Connection lock = source.getConnection()) {
            log.append(key, batch("a"));
            log.append(key, batch("b").creating(Map.of("owner", "unused")));
            lock.setAutoCommit(false);
            lock.createStatement().execute("SELECT 1 FROM keepsake_memory FOR UPDATE");
            Future<?> described = threads.submit(() -> Logs.describe(log, key, null, Map.of("owner", "alice")));
            awaitWaiting(1);
            clock.advance(Duration.ofMinutes(5));
            Future<?> appended = threads.submit(() -> log.append(key, batch("c")));
            awaitWaiting(2);
            lock.commit();
            described.get();
            appended.get();
            assertListed();
            assertThat(of(log, "alice")).containsExactly(key);
            log.append(key, batch("d"));
            assertListed();
            assertThat(log.check(key)).isEmpty();
        } finally {
            threads.shutdownNow();
        }
    }

    /** The memory is created by a writer that has not committed when the erasure begins. */
    @Test
    void an_erasure_that_waits_for_a_creation_leaves_nothing_on_a_list() throws Exception {
        ConversationKey key = ConversationKey.of("acme", "c");
        ExecutorService threads = Executors.newFixedThreadPool(1);
        try (MessageLog log = log("owner");
                Connection creator = source.getConnection()) {
            log.list("acme", ListQuery.first(1));
            creator.setAutoCommit(false);
            Session session = new Session(SqlConnection.of(creator));
            PostgresDialect dialect = new PostgresDialect(new Preparation(sql -> false), false);
            Memory.create(
                    session,
                    dialect,
                    key,
                    Rows.hash(key),
                    Memory.NO_METADATA,
                    List.of(Lists.ofTenant("acme")),
                    System.currentTimeMillis() * 1_000);
            Future<?> erased = threads.submit(() -> log.erase(key));
            awaitWaiting(1);
            creator.commit();
            erased.get();
            assertListed();
            log.append(key, batch("b"));
            assertListed();
        } finally {
            threads.shutdownNow();
        }
    }

    private static MessageLog timed(DataSource connections, TestClock clock) {
        return JdbcMessageLog.builder()
                .dataSource(connections)
                .schema(SchemaMode.ALWAYS)
                .listedMetadata("owner")
                .clock(clock)
                .build();
    }

    private void awaitWaiting(long sessions) {
        await().until(() -> number("SELECT count(*) FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND wait_event_type = 'Lock'")
                == sessions);
    }

    private static void change(MessageLog log, MemoryKey key, Random random, TestClock clock) {
        String owner = "u" + random.nextInt(3);
        switch (random.nextInt(8)) {
            case 0 -> log.erase(key);
            case 1 -> Logs.describe(log, key, null, Map.of("owner", owner));
            case 2 -> Logs.mergeMetadata(log, key, Map.of("colour", owner));
            case 3 -> {
                NewMessage old = new NewMessage(Ids.next(), UserMessage.from("old"), 1, "counter", Instant.EPOCH);
                log.append(key, Append.underHead(old).asImport().creating(Map.of("owner", owner)));
            }
            case 4 -> clock.advance(Duration.ofSeconds(20));
            default -> log.append(key, batch(Ids.next()).creating(Map.of("owner", owner)));
        }
    }

    /** There are as many rows as lists, and none is missing. */
    private void assertListed() throws SQLException {
        assertThat(
                        number(
                                """
                        SELECT count(*) FROM keepsake_memory m
                        CROSS JOIN unnest(m.lists) AS list (id)
                        CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
                        WHERE NOT EXISTS (
                          SELECT FROM keepsake_listed l
                          WHERE l.memory_key = m.memory_key AND l.list = list.id * orders.sign
                            AND l.place = CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END AND l.number = m.number)
                        """))
                .isZero();
        assertThat(number("SELECT count(*) FROM keepsake_listed"))
                .isEqualTo(number("SELECT COALESCE(sum(2 * cardinality(lists)), 0) FROM keepsake_memory"));
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = beside.getConnection()) {
            return new Session(SqlConnection.of(connection)).<Long>first(sql, row -> row.getLong(1));
        }
    }

    @Test
    void tables_that_are_published_are_written() throws Exception {
        try (MessageLog log = log("owner")) {
            ConversationKey key = ConversationKey.of("acme", "c");
            log.append(key, batch("a"));
            Postgres.execute(beside, "CREATE PUBLICATION everything FOR ALL TABLES");
            log.append(key, batch("b"));
            Logs.describe(log, key, null, Map.of("owner", "alice"));
            assertThat(of(log, "alice")).containsExactly(key);
            log.erase(key);
        }
        assertThat(number("SELECT count(*) FROM keepsake_listed")).isZero();
    }

    @Test
    void logs_that_declare_other_names_at_the_same_time_list_by_all() throws Exception {
        int memories = Counts.of(60, 1_200);
        try (MessageLog log = log()) {
            for (int i = 0; i < memories; i++) {
                log.append(
                        ConversationKey.of("acme", "c" + i),
                        batch("a").creating(Map.of("owner", "alice", "project", "bees")));
            }
        }
        Postgres.execute(beside, "UPDATE keepsake_memory SET conversation_id = '' WHERE conversation_id = 'c3'");
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (HikariDataSource connections = Postgres.trustingPool(source, 2, true)) {
            List<Future<Integer>> found = new ArrayList<>();
            for (String name : List.of("owner", "project")) {
                found.add(threads.submit(() -> {
                    try (MessageLog log = JdbcMessageLog.builder()
                            .dataSource(connections)
                            .listedMetadata(name)
                            .build()) {
                        return LogTesting.list(
                                        log,
                                        "acme",
                                        ListQuery.first(100)
                                                .withMetadata(name, name.equals("owner") ? "alice" : "bees"))
                                .size();
                    }
                }));
            }
            for (Future<Integer> each : found) {
                assertThat(each.get()).isEqualTo(memories - 1);
            }
        } finally {
            threads.shutdownNow();
        }
        try (MessageLog log = log("colour", "team")) {
            assertThat(of(log, "alice")).hasSize(memories - 1);
            ConversationKey key = ConversationKey.of("acme", "c7");
            assertThat(log.check(key)).isEmpty();
            Postgres.execute(beside, "UPDATE keepsake_memory SET lists = lists[1:1] WHERE conversation_id = 'c7'");
            assertThat(log.check(key)).isNotEmpty();
            log.repair(key);
            assertThat(log.check(key)).isEmpty();
            assertThat(of(log, "alice")).contains(key);
        }
    }

    /** Existing memories are put on the lists of a name when it is declared for the first time. */
    @Test
    void a_name_that_is_declared_later_lists_the_memories_from_before() throws Exception {
        int memories = Counts.of(603, 20_003);
        try (MessageLog log = log()) {
            for (int i = 0; i < memories; i++) {
                ConversationKey key = ConversationKey.of("acme", "c" + i);
                log.append(key, batch("a").creating(i % 3 == 0 ? Map.of() : Map.of("owner", "u" + i % 3)));
            }
            log.erase(ConversationKey.of("acme", "c1"));
        }
        Postgres.execute(beside, "UPDATE keepsake_memory SET metadata = '{' WHERE conversation_id = 'c2'");
        for (String[] names : new String[][] {{"owner"}, {"project"}, {}}) {
            // The database keeps the names, so a log that declares others, or none, lists by them too.
            try (MessageLog log = log(names)) {
                assertThat(of(log, "u1")).hasSize((memories + 1) / 3 - 1);
                assertThat(of(log, "u2")).hasSize(memories / 3 - 1);
                Logs.describe(log, ConversationKey.of("acme", "c4"), null, Map.of("owner", "u1", "project", "p"));
                assertThat(of(log, "u1")).contains(ConversationKey.of("acme", "c4"));
            }
        }
    }

    private static List<MemoryKey> of(MessageLog log, String owner) {
        List<MemoryKey> found = new ArrayList<>();
        Optional<ListQuery> next = Optional.of(ListQuery.first(100).withMetadata("owner", owner));
        while (next.isPresent()) {
            var page = log.list("acme", next.get());
            page.memories().forEach(info -> found.add(info.key()));
            LogTesting.refuseToPageForEver(found);
            next = page.next();
        }
        return found;
    }

    private MessageLog log(String... names) {
        return JdbcMessageLog.builder()
                .dataSource(pool)
                .schema(SchemaMode.ALWAYS)
                .listedMetadata(names)
                .build();
    }

    /** Returns the rows of all tables that a page reads. */
    private long rows(ListQuery query) throws SQLException {
        ListCursor behind = ListCursor.of(query);
        Object[] values = {
            "acme", Lists.id("acme", query), behind.place(), behind.number(), behind.tie(), query.limit() + 1
        };
        try (Connection connection = beside.getConnection()) {
            List<String> plan = new Session(SqlConnection.of(connection))
                    .list(
                            "EXPLAIN (ANALYZE, COSTS, TIMING OFF) " + PostgresListSql.LIST.text(),
                            row -> row.getString(1),
                            PostgresListSql.LIST.bind(values));
            long rows = 0;
            for (String line : plan) {
                Matcher scan = ROWS.matcher(line);
                rows += scan.find() ? Math.round(Double.parseDouble(scan.group(2)) * Long.parseLong(scan.group(3))) : 0;
                assertThat(line).doesNotContain("Seq Scan on keepsake_listed").doesNotContain("Rows Removed");
            }
            return rows;
        }
    }
}
