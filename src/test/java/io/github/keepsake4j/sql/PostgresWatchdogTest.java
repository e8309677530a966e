package io.github.keepsake4j.sql;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.PostgresBuilder;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** The watchdog, on statements of a real server. */
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

            assertThatThrownBy(() -> log.append(KEY, batch("b")))
                    .isInstanceOf(StorageUnavailableException.class)
                    .hasMessageContainingAll(CANCELLED, KEY.canonical());
            assertThatThrownBy(() -> Logs.moveHead(log, KEY, "a", null))
                    .isInstanceOf(StorageUnavailableException.class)
                    .hasMessageContaining(CANCELLED);
            other.rollback();
            assertThat(log.append(KEY, batch("b")).replayed()).isFalse();
            assertThat(branch(log, KEY)).containsExactly("a", "b");
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
                new PostgresBuilder.Settings(source, null, "", "", 1, LIMIT, SchemaMode.ALWAYS, false),
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
