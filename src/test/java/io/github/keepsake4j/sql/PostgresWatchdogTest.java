package io.github.keepsake4j.sql;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.PostgresBuilder;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** The watchdog, on statements of a real server. */
@Tag("landing")
@Timeout(120)
class PostgresWatchdogTest {

    private static final String CANCELLED = "57014";
    private static final Duration LIMIT = Duration.ofMillis(200);

    private final Watchdog watchdog = new Watchdog(LIMIT);
    private PGSimpleDataSource source;
    private Connection connection;
    private Session session;

    @BeforeEach
    void connect() throws SQLException {
        Postgres server = Postgres.newest();
        source = server.database(server.newDatabase());
        connection = source.getConnection();
        session = new Session(SqlConnection.of(connection), watchdog, null, null);
    }

    /** To make tables may take a busy machine longer than the limit of these tests. */
    private void makeTables() {
        try (MessageLog log = Postgres.log(source);
                JdbcMessageIndex index = Postgres.index(source)) {
            branch(log, KEY);
            index.clear();
        }
    }

    @AfterEach
    void close() throws SQLException {
        watchdog.close();
        connection.close();
    }

    @Test
    void a_statement_past_the_limit_is_cancelled() {
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> sleep(session, 60))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(CANCELLED));
        }
    }

    @Test
    void a_row_that_another_transaction_locks_is_not_waited_for_longer() throws Exception {
        makeTables();
        try (HikariDataSource pool = Postgres.pool(source, 1, true);
                MessageLog log = JdbcMessageLog.builder()
                        .dataSource(pool)
                        .schema(SchemaMode.ALWAYS)
                        .statementTimeout(LIMIT)
                        .build();
                Connection other = source.getConnection();
                Statement statement = other.createStatement()) {
            log.append(KEY, batch("a"));
            other.setAutoCommit(false);
            statement.execute("SELECT * FROM keepsake_memory FOR UPDATE");

            assertThrown(
                    StorageUnavailableException.class, () -> log.append(KEY, batch("b")), CANCELLED, KEY.canonical());
            assertThrown(StorageUnavailableException.class, () -> Logs.moveHead(log, KEY, "a", null), CANCELLED);
            other.rollback();
            assertThat(log.append(KEY, batch("b")).replayed()).isFalse();
            assertThat(branch(log, KEY)).containsExactly("a", "b");
        }
    }

    /** It removes all rows of all tenants in a few statements. The sleep is longer than the pool's wait for the server. */
    @Test
    void a_whole_index_may_be_cleared_for_longer_than_the_limit() throws Exception {
        makeTables();
        try (JdbcMessageIndex index = JdbcMessageIndex.builder()
                        .url(source.getUrl(), source.getUser(), "none")
                        .schema(SchemaMode.ALWAYS)
                        .statementTimeout(LIMIT)
                        .build();
                Connection other = source.getConnection();
                Statement statement = other.createStatement()) {
            index.clear();
            other.setAutoCommit(false);
            statement.execute("LOCK TABLE keepsake_index_memory IN SHARE MODE");

            CompletableFuture<Void> cleared = CompletableFuture.runAsync(index::clear);
            statement.execute("SELECT pg_sleep(2.5)");
            assertThat(cleared).isNotDone();
            other.rollback();

            assertThat(cleared).succeedsWithin(Duration.ofSeconds(20));
            assertThrown(
                    StorageUnavailableException.class,
                    () -> {
                        statement.execute("LOCK TABLE keepsake_index_memory");
                        index.watermarks(List.of(KEY));
                    },
                    CANCELLED);
            other.rollback();
        }
    }

    /** All builders have the same limit, which is said once. */
    @Test
    void a_statement_has_ten_seconds_in_each_home() throws Exception {
        for (PostgresBuilder<?> builder :
                List.of(JdbcMessageLog.builder(), JdbcMessageIndex.builder(), JdbcLongTermMemoryStore.builder())) {
            Method settings = PostgresBuilder.class.getDeclaredMethod("settings");
            settings.setAccessible(true);
            PostgresBuilder.Settings set = (PostgresBuilder.Settings) settings.invoke(builder.dataSource(source));
            assertThat(set.statementTimeout()).as(builder.getClass().getName()).isEqualTo(Duration.ofSeconds(10));
        }
    }

    /** Statements that end about when they are cancelled, each followed by one on the same connection without a limit. */
    @Test
    void what_follows_on_the_connection_is_not_cancelled() throws Exception {
        Session unwatched = new Session(SqlConnection.of(connection));
        List<String> states = new ArrayList<>();
        int statements = Counts.of(8, 30);
        for (int i = 1; i <= statements; i++) {
            double seconds = i == statements ? 60 : 0.15 + 0.3 * i / statements;
            Throwable error = catchThrowable(() -> sleep(session, seconds));
            if (error instanceof SQLException e) {
                states.add(e.getSQLState());
            }
            sleep(unwatched, 0.02);
        }
        // The last one at least.
        assertThat(states).isNotEmpty().containsOnly(CANCELLED);
    }

    @Test
    void a_statement_that_ended_is_not_cancelled() throws Exception {
        try (Statement statement = connection.createStatement()) {
            Watchdog.Watch watch = watchdog.watch(statement);
            statement.execute("SELECT 1");
            watch.end();
            statement.execute("SELECT pg_sleep(" + LIMIT.multipliedBy(3).toMillis() / 1e3 + ")");
        }
    }

    @Test
    void the_thread_ends_on_close_and_only_once_nothing_runs() throws Exception {
        assertThat(watchdog.isAwake()).isFalse();
        sleep(session, 0);
        assertThat(watchdog.isAwake()).isTrue();
        try (Statement statement = connection.createStatement()) {
            Watchdog.Watch watch = watchdog.watch(statement);
            watchdog.close();
            assertThatThrownBy(() -> statement.execute("SELECT pg_sleep(60)")).isInstanceOf(SQLException.class);
            assertThat(watchdog.isAwake()).isTrue();
            watch.end();
        }
        await().until(() -> !watchdog.isAwake());
    }

    @Test
    void the_thread_of_a_log_ends_when_the_log_is_closed() {
        Connections connections = Connections.postgresql(
                new PostgresBuilder.Settings(source, null, "", "", 1, Duration.ofSeconds(10), SchemaMode.ALWAYS, false),
                Translated.SCHEMA,
                null,
                session -> {});
        Session[] used = new Session[1];
        connections.single("test", session -> {
            used[0] = session;
            return session.first("SELECT 1", row -> true);
        });
        Watchdog watchdog = used[0].watchdog();
        assertThat(watchdog.isAwake()).isTrue();

        connections.close();

        await().until(() -> !watchdog.isAwake());
    }

    private static void sleep(Session session, double seconds) throws SQLException {
        session.first("SELECT pg_sleep(?)", row -> true, seconds);
    }
}
