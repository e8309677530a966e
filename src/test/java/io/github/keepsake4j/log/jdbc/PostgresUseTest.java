package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.SECRET;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.log.LogTesting.history;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.TestClock;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.sql.Session;
import io.github.keepsake4j.sql.SqlConnection;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.Threads;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** PostgreSQL as applications use it: pools, callers' transactions, roles, start-up, isolation levels, time-outs. */
@Timeout(600)
class PostgresUseTest {

    private static final int THREADS = 16;

    private static Postgres server;

    private String database;

    /** Connections that are kept, where it does not matter whose they are: a new one takes the time of a hundred statements. */
    private HikariDataSource kept;

    @BeforeAll
    static void start() {
        server = Postgres.newest();
    }

    @BeforeEach
    void makeDatabase() throws SQLException {
        database = server.newDatabase();
        kept = Postgres.trustingPool(source(), THREADS, true);
    }

    @AfterEach
    void disconnect() {
        kept.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void a_pool_smaller_than_the_threads_and_callers_that_roll_back(int size) throws Exception {
        int count = 5;
        int threads = Counts.of(6, THREADS);
        try (HikariDataSource pool = Postgres.pool(source(), size, true);
                HikariDataSource callers = Postgres.trustingPool(source(), threads, false);
                MessageLog log = always(pool)) {
            Postgres.execute(callers, "CREATE TABLE caller (name text)");
            Threads.run(threads, thread -> {
                for (int i = 0; i < count; i++) {
                    try (Connection caller = callers.getConnection();
                            Statement statement = caller.createStatement()) {
                        statement.execute("INSERT INTO caller VALUES ('" + thread + "')");
                        log.append(KEY, batch(thread + "-" + i));
                        log.read(KEY, ReadQuery.newest(5));
                        caller.rollback();
                    }
                }
            });

            assertThat(history(log, KEY)).hasSize(threads * count);
            assertThat(branch(log, KEY)).hasSize(threads * count);
        }
    }

    @Test
    void a_caller_that_holds_the_only_connection_gets_a_retryable_error_and_no_deadlock() throws Exception {
        try (HikariDataSource pool = Postgres.pool(source(), 1, true, 3_000);
                MessageLog log = always(pool)) {
            log.append(KEY, batch("a"));
            try (Connection caller = pool.getConnection()) {
                caller.setAutoCommit(false);
                assertThatThrownBy(() -> log.append(KEY, batch("b"))).isInstanceOf(StorageUnavailableException.class);
                caller.setAutoCommit(true);
            }
            assertThat(log.append(KEY, batch("b")).head()).isEqualTo("b");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"read committed", "serializable"})
    void twenty_instances_start_at_once_on_an_empty_database(String isolation) throws Exception {
        isolate(isolation);
        CyclicBarrier all = new CyclicBarrier(20);
        try (HikariDataSource pool = Postgres.trustingPool(source(), 20, true);
                MessageLog reader = PostgresMessageLog.open(pool)) {
            Threads.run(20, instance -> {
                try (MessageLog log = always(pool)) {
                    all.await();
                    log.append(KEY, batch("i" + instance));
                }
            });

            assertThat(branch(reader, KEY)).hasSize(20);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ALWAYS", "EMBEDDED", "NEVER"})
    void a_role_that_may_not_make_tables_is_told_which_script_is_missing(SchemaMode mode) throws Exception {
        String role = "reader_" + mode.ordinal();
        Postgres.execute(
                kept, "REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE " + role + " LOGIN PASSWORD 'x'");
        PGSimpleDataSource source = source();
        source.setUser(role);
        source.setPassword("x");
        try (HikariDataSource pool = Postgres.trustingPool(source, 1, true);
                MessageLog log =
                        JdbcMessageLog.builder().dataSource(pool).schema(mode).build()) {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> log.append(KEY, batch("a")))
                        .isInstanceOf(KeepsakeException.class)
                        .hasMessageContaining("io/github/keepsake4j/schema/postgresql/V1__keepsake.sql");
            }
            always(kept).append(KEY, batch("made"));
            Postgres.execute(kept, "GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role);
            Postgres.execute(kept, "GRANT USAGE ON SEQUENCE keepsake_memory_number TO " + role);

            assertThat(log.append(KEY, batch("a")).head()).isEqualTo("a");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_session_that_is_read_only_by_a_setting_is_no_outage(boolean autoCommit) throws Exception {
        always(kept).append(KEY, batch("a"));
        PGSimpleDataSource source = source();
        source.setOptions("-c default_transaction_read_only=on");
        try (HikariDataSource pool = Postgres.pool(source, 1, autoCommit);
                MessageLog log = PostgresMessageLog.open(pool)) {
            assertThat(branch(log, KEY)).containsExactly("a");
            assertFinal(() -> log.append(KEY, batch("b")), "read-only");
            assertFinal(() -> Logs.describe(log, KEY, "title", Map.of()), "read-only");
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isEqualTo(autoCommit);
            }
            assertThat(branch(log, KEY)).containsExactly("a");
        }
        PGSimpleDataSource ofDriver = source();
        ofDriver.setReadOnly(true);
        try (MessageLog log = PostgresMessageLog.open(ofDriver)) {
            assertFinal(() -> Logs.describe(log, KEY, "title", Map.of()), "read-only");
        }
    }

    private static void assertFinal(ThrowingCallable call, String reason) {
        assertThat(catchThrowable(call)).isInstanceOfSatisfying(KeepsakeException.class, error -> {
            assertThat(error.isRetryable()).as("%s", error).isFalse();
            assertThat(error).hasMessageContaining(reason).hasMessageNotContaining(SECRET);
        });
    }

    @Test
    void a_pool_of_our_own_connects_on_first_use() {
        try (MessageLog log = JdbcMessageLog.builder()
                .url("jdbc:postgresql://127.0.0.1:1/" + database, "postgres", "password")
                .statementTimeout(Duration.ofMillis(300))
                .build()) {
            assertThatThrownBy(() -> log.append(KEY, batch("a")))
                    .isInstanceOf(StorageUnavailableException.class)
                    .hasMessageNotContaining("password");
        }
    }

    @Test
    void a_refused_login_and_a_server_that_is_not_there_are_told_at_once_with_host_port_and_database() {
        String there = "127.0.0.1:" + server.port();
        Map<String, String> urls = Map.of(
                "jdbc:postgresql://" + there + "/nowhere?password=" + SECRET, there + "/nowhere",
                "jdbc:postgresql://127.0.0.1:1/" + database + "?password=" + SECRET, "127.0.0.1:1/" + database,
                "jdbc:postgresql://" + there + "/" + database, there + "/" + database);
        urls.forEach((url, where) -> {
            boolean isUser = !url.contains(SECRET);
            Instant begin = Instant.now();
            try (MessageLog log =
                    PostgresMessageLog.open(url, isUser ? "nobody" : "postgres", "postgres", SchemaMode.EMBEDDED)) {
                assertThatThrownBy(() -> log.append(KEY, batch("a")))
                        .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                                .isEqualTo(url.contains("127.0.0.1:1/")))
                        .hasMessageContaining("(" + where + ")")
                        .hasMessageNotContaining(SECRET);
            }
            assertThat(Duration.between(begin, Instant.now())).isLessThan(Duration.ofSeconds(8));
        });
        PGSimpleDataSource given = source();
        given.setDatabaseName("nowhere");
        try (MessageLog log = PostgresMessageLog.open(given)) {
            assertThatThrownBy(() -> log.append(KEY, batch("a"))).hasMessageContaining("/nowhere)");
        }
    }

    @Test
    void the_url_of_another_database_is_refused_when_the_log_is_built_and_the_databases_are_told() {
        for (String url : List.of("jdbc:mysql://host/" + SECRET, "jdbc:sqlite:chat.db", "postgres://host/chat")) {
            assertThatThrownBy(() -> PostgresMessageLog.open(url, "user", SECRET, SchemaMode.EMBEDDED))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("jdbc:postgresql:")
                    .hasMessageContaining("SQLite")
                    .hasMessageNotContaining(SECRET);
        }
    }

    /** The driver would quote it in its error, as the name of a host. */
    @Test
    void a_password_before_the_host_is_refused_before_the_driver_reads_it() {
        assertThatThrownBy(() -> PostgresMessageLog.open(
                        "jdbc:postgresql://user:" + SECRET + "@host/chat", "user", SECRET, SchemaMode.EMBEDDED))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageStartingWith("url: has a user before the host")
                .hasMessageNotContaining(SECRET);
        PGSimpleDataSource own = new PGSimpleDataSource();
        own.setUrl("jdbc:postgresql://user:" + SECRET + "@127.0.0.1:1/chat");
        assertThatThrownBy(() -> PostgresMessageLog.builder().dataSource(own).build())
                .isInstanceOf(InvalidInputException.class)
                .hasMessageStartingWith("url: has a user before the host")
                .hasNoCause();
    }

    @Test
    void a_pool_of_our_own_is_closed_with_the_log() throws SQLException {
        String url = "jdbc:postgresql://127.0.0.1:" + server.port() + "/" + database;
        JdbcMessageLog log = JdbcMessageLog.builder()
                .url(url, "postgres", "postgres")
                .schema(SchemaMode.ALWAYS)
                .maxPoolSize(2)
                .build();
        log.append(KEY, batch("a"));
        log.close();
        log.close();

        assertThatThrownBy(() -> log.append(KEY, batch("b"))).isInstanceOf(KeepsakeException.class);
    }

    /** As a transaction pooler gives them: another session each time, and nothing prepared in it. */
    @Test
    void no_session_is_needed() throws Exception {
        PGSimpleDataSource source = source();
        source.setPrepareThreshold(0);
        try (MessageLog log = always(source)) {
            PostgresWriter.write(log, 0, Counts.of(2, 4), Counts.of(3, 8), attempt -> {});
            assertThat(log.branches(PostgresWriter.KEY)).hasSize(1);
        }
    }

    @Test
    void a_connection_comes_back_as_it_was() throws Exception {
        try (HikariDataSource pool = Postgres.pool(source(), 1, false);
                MessageLog log = always(pool)) {
            log.append(KEY, batch("a"));
            log.read(KEY, ReadQuery.newest(1));
            Logs.describe(log, KEY, "title", Map.of());
            assertThatThrownBy(() -> Logs.moveHead(log, KEY, "nowhere", null)).isInstanceOf(KeepsakeException.class);
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isFalse();
                Session session = new Session(SqlConnection.of(connection));
                assertThat(session.<Integer>first(
                                "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'",
                                row -> row.getInt(1)))
                        .isZero();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"serializable", "repeatable read"})
    void stricter_isolation_of_the_data_source(String isolation) throws Exception {
        isolate(isolation);
        try (HikariDataSource pool = Postgres.trustingPool(source(), 4, true);
                MessageLog log = always(pool)) {
            Threads.run(4, thread -> {
                for (int i = 0; i < 10; i++) {
                    log.append(KEY, batch(thread + "-" + i));
                    Logs.describe(log, KEY, "title " + i, Map.of());
                    log.read(KEY, ReadQuery.newest(3));
                }
            });
            assertThat(branch(log, KEY)).hasSize(40);
        }
    }

    /** Sets the level of sessions that begin later. */
    private void isolate(String isolation) throws SQLException {
        Postgres.execute(
                server.kept("postgres"),
                "ALTER DATABASE " + database + " SET default_transaction_isolation = '" + isolation + "'");
    }

    /** PostgreSQL repeats the whole row in the detail of a violated constraint. */
    @Test
    void no_error_repeats_message_text() throws Exception {
        try (MessageLog log = always(kept)) {
            log.append(KEY, batch("a"));
            Postgres.execute(kept, "ALTER TABLE keepsake_message ADD CHECK (id <> 'refused')");
            Throwable error = catchThrowable(() -> log.append(KEY, batch("refused")));
            StringWriter everything = new StringWriter();
            error.printStackTrace(new PrintWriter(everything));

            assertThat(error).isInstanceOf(KeepsakeException.class);
            assertThat(everything.toString()).contains("23514").doesNotContain(SECRET);
        }
    }

    @Test
    void an_append_costs_little_wal_and_updates_stay_in_the_page() throws Exception {
        int count = Counts.of(200, 4_000);
        try (HikariDataSource pool = Postgres.trustingPool(source(), 1, true);
                MessageLog log = always(pool)) {
            log.append(KEY, batch("first"));
            for (int i = 0; i < 100; i++) {
                log.append(ConversationKey.of("acme", "other" + i), batch("first"));
            }
            Postgres.execute(kept, "CHECKPOINT");
            long before = number("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn");
            long payload = 100;
            long begin = System.nanoTime();
            for (int i = 0; i < count; i++) {
                log.append(KEY, batch(Ids.next()));
            }
            long micros = (System.nanoTime() - begin) / 1_000 / count;
            long wal = (number("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn") - before) / count;
            pool.close();
            // The server counts a session's updates when the session ends.
            String updated = "SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'keepsake_memory'";
            await().until(() -> number(updated) >= count);
            long updates = number(updated);
            long hot = number("SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'keepsake_memory'");
            long numbers = number("SELECT last_value FROM keepsake_memory_number");
            Tell.line(
                    "%d appends: %d bytes of WAL each, %d us each; %d of %d updates HOT",
                    count, wal, micros, hot, updates);

            assertThat(wal).isLessThan(2_048 + payload);
            assertThat(hot).isGreaterThan(updates * 95 / 100);
            assertThat(numbers).isEqualTo(101);
        }
    }

    /** The order by activity is in a table of its own. */
    @Test
    void an_append_that_moves_a_memory_leaves_the_row_of_the_memory_in_its_page() throws Exception {
        int memories = 20;
        int minutes = Counts.of(20, 200);
        TestClock clock = new TestClock();
        try (HikariDataSource pool = Postgres.trustingPool(source(), 1, true);
                MessageLog log = JdbcMessageLog.builder()
                        .dataSource(pool)
                        .schema(SchemaMode.ALWAYS)
                        .clock(clock)
                        .build()) {
            for (int minute = 0; minute < minutes; minute++) {
                for (int i = 0; i < 3; i++) {
                    for (int m = 0; m < memories; m++) {
                        log.append(ConversationKey.of("acme", "c" + m), batch(Ids.next()));
                    }
                }
                clock.advance(Duration.ofMinutes(1));
            }
            assertThat(number("SELECT count(*) FROM pg_indexes WHERE tablename = 'keepsake_memory'"))
                    .isEqualTo(2);
            assertThat(number("SELECT count(*) FROM pg_indexes WHERE tablename = 'keepsake_listed'"))
                    .isEqualTo(1);
        }
        long all = (long) memories * (minutes * 3 - 1);
        long moved = (long) memories * (minutes - 1);
        await().until(() ->
                number("SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'keepsake_memory'") >= all);
        long hot = number("SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'keepsake_memory'");
        Tell.line("%d of %d updates HOT, %d moved a memory to the front", hot, all, moved);

        assertThat(all - hot).isLessThanOrEqualTo(all / 50);
        assertThat(number("SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'keepsake_listed'"))
                .isEqualTo(moved);
    }

    @Test
    void a_list_by_activity_and_one_of_nodes_read_an_index_and_sort_nothing() throws Exception {
        try (MessageLog log = always(kept)) {
            log.list("acme", ListQuery.first(1));
            Postgres.execute(
                    kept,
                    """
                    INSERT INTO keepsake_memory
                      (memory_key, number, tenant, app_id, conversation_id, node_id, epoch, revision, last_seq, tokens, created_at, active_at)
                    SELECT decode(md5(n::text), 'hex'), n, 'tenant ' || n % 10, 'app',
                           'c' || CASE WHEN n % 5 = 0 THEN n / 100 ELSE n END,
                           CASE WHEN n % 5 = 0 THEN 'node' || n END, 1, 1, 0, 0, 0, n * 7919 % 10007
                    FROM generate_series(1, 10000) n;
                    INSERT INTO keepsake_listed (memory_key, list, place, number, tie)
                    SELECT decode(md5(n::text), 'hex'), list.id, CASE WHEN list.id > 0 THEN n * 7919 % 10007 ELSE 0 END, n, n
                    FROM generate_series(1, 10000) n
                    JOIN (VALUES LISTS) tenant (number, id) ON tenant.number = n % 10
                    CROSS JOIN LATERAL (VALUES (tenant.id), (-tenant.id)) list (id)
                    """
                            .replace(
                                    "LISTS",
                                    IntStream.range(0, 10)
                                            .mapToObj(n -> "(" + n + ", " + Lists.ofTenant("tenant " + n) + ")")
                                            .collect(Collectors.joining(", "))));
            Postgres.execute(kept, "ANALYZE keepsake_listed; ANALYZE keepsake_memory");
            assertThat(plan(
                            PostgresListSql.LIST.text(),
                            PostgresListSql.LIST.bind("tenant 1", Lists.ofTenant("tenant 1"), 5_000L, 7L, 0L, 50)))
                    .contains("Index Scan Backward using keepsake_listed_in_order")
                    .doesNotContain("Sort");
            assertThat(plan(Sql.NODES, "tenant 5", "c7"))
                    .contains("keepsake_memory_nodes")
                    .doesNotContain("Seq Scan");
            List<MemoryKey> active = LogTesting.listByActivity(log, "tenant 1", 100);
            assertThat(active).hasSize(1_000).doesNotHaveDuplicates();
            assertThat(log.nodes(ConversationKey.of("tenant 5", "c7")))
                    .hasSize(10)
                    .allMatch(node ->
                            node.conversationId().equals("c7") && node.tenant().equals("tenant 5"));
        }
    }

    private String plan(String sql, Object... values) throws SQLException {
        try (Connection connection = kept.getConnection()) {
            return String.join(
                    "\n",
                    new Session(SqlConnection.of(connection)).list("EXPLAIN " + sql, row -> row.getString(1), values));
        }
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = kept.getConnection()) {
            return new Session(SqlConnection.of(connection)).<Long>first(sql, row -> row.getLong(1));
        }
    }

    private PGSimpleDataSource source() {
        return server.database(database);
    }

    private static MessageLog always(javax.sql.DataSource source) {
        return JdbcMessageLog.builder()
                .dataSource(source)
                .schema(SchemaMode.ALWAYS)
                .build();
    }
}
