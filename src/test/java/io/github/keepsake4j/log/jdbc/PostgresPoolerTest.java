package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.Threads;
import io.github.keepsake4j.testing.TransactionPooler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;

/** PostgreSQL behind a pooler in transaction mode that does not track prepared statements. */
@Tag("landing")
@Timeout(600)
class PostgresPoolerTest {

    private static final int CLIENTS = 8;
    private static final int SERVERS = 3;

    private final List<AutoCloseable> open = Collections.synchronizedList(new ArrayList<>());
    private Postgres server;
    private String database;
    private TransactionPooler pooler;
    private MessageLog direct;

    @BeforeEach
    void open() throws Exception {
        server = Postgres.newest();
        database = server.newDatabase();
        pooler = new TransactionPooler(server.port(), database, "postgres", SERVERS);
        direct = JdbcMessageLog.builder()
                .dataSource(server.kept(database))
                .schema(SchemaMode.ALWAYS)
                .build();
        direct.append(KEY, batch("a"));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable resource : open) {
            resource.close();
        }
        direct.close();
        pooler.close();
    }

    /** @param callers whether the pools' other users commit and roll back, which the driver prepares too */
    @ParameterizedTest
    @CsvSource({"false,true", "true,false"})
    @ExpectedLog(maybe = "marked as broken because of SQLSTATE")
    void with_the_setting_nothing_fails(boolean byUrl, boolean callers) throws Exception {
        List<KeepsakeException> errors = load(byUrl, callers, true);

        assertThat(errors).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @ExpectedLog(maybe = "marked as broken because of SQLSTATE")
    void without_the_setting_calls_that_fail_say_so_and_do_nothing(boolean callers) throws Exception {
        List<KeepsakeException> errors = load(false, callers, false);

        assertThat(errors).isNotEmpty().allSatisfy(PostgresPoolerTest::namesTheSetting);
    }

    /** What the erasing clients prepare must not be what the reading ones execute. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @ExpectedLog(maybe = "marked as broken because of SQLSTATE")
    void a_read_erases_nothing(boolean transactionPooler) throws Exception {
        ConversationKey read = ConversationKey.of("acme", "read");
        direct.append(read, batch("a", "b"));
        Logs.putSummary(direct, read, new Summary("a", "text", 1, "none", 1, 1, null, Instant.EPOCH), 1);
        int count = Counts.of(60, 200);
        List<KeepsakeException> errors = Collections.synchronizedList(new ArrayList<>());
        Threads.run(6, client -> {
            MessageLog log = client(pool(), transactionPooler);
            for (int i = 0; i < count; i++) {
                try {
                    if (client % 2 == 0) {
                        assertThat(Logs.summaries(log, read)).hasSize(1);
                    } else {
                        log.erase(ConversationKey.of("acme", "erased" + client));
                    }
                } catch (KeepsakeException e) {
                    errors.add(e);
                }
            }
        });
        Tell.line("3 readers, 3 erasers: %d of %d calls failed", errors.size(), 6 * count);

        assertThat(errors).allSatisfy(PostgresPoolerTest::namesTheSetting);
        assertThat(Logs.summaries(direct, read)).hasSize(1);
        assertThat(branch(direct, read)).containsExactly("a", "b");
    }

    @Test
    void instances_that_start_at_once_make_the_tables_through_the_pooler() throws Exception {
        Postgres.execute(server.database(database), "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        Threads.run(CLIENTS, client -> {
            try (HikariDataSource pool = pool();
                    MessageLog log = JdbcMessageLog.builder()
                            .dataSource(pool)
                            .schema(SchemaMode.ALWAYS)
                            .transactionPooler()
                            .build()) {
                log.append(KEY, batch("made by " + client));
            }
        });

        assertThat(branch(direct, KEY)).hasSize(CLIENTS);
    }

    /** The request to cancel comes on a connection of its own, and the pooler finds out whom it is for. */
    @Test
    void a_statement_that_waits_too_long_is_cancelled_and_no_other_one() throws Exception {
        MessageLog waiting = log(pool(), true, Duration.ofMillis(300));
        ConversationKey other = ConversationKey.of("acme", "other");
        MessageLog busy = client(pool(), true);
        try (Connection locking = server.database(database).getConnection();
                Statement statement = locking.createStatement()) {
            locking.setAutoCommit(false);
            statement.execute("SELECT * FROM keepsake_memory FOR UPDATE");
            Threads.run(2, thread -> {
                if (thread == 0) {
                    assertThatThrownBy(() -> waiting.append(KEY, batch("b")))
                            .isInstanceOf(StorageUnavailableException.class);
                    return;
                }
                while (pooler.cancelled() == 0) {
                    busy.append(other, batch("m" + System.nanoTime()));
                }
            });
        }
        assertThat(pooler.cancelled()).isOne();
        assertThat(waiting.append(KEY, batch("b")).replayed()).isFalse();
        assertThat(branch(direct, KEY)).containsExactly("a", "b");
    }

    @Test
    void the_connection_prepares_as_before_once_it_is_given_back() throws Exception {
        try (HikariDataSource pool = Postgres.pool(server.database(database), 1, true);
                MessageLog log = log(pool, true, Duration.ofSeconds(10))) {
            log.append(KEY, batch("b"));
            assertThatThrownBy(() -> Logs.moveHead(log, KEY, "nowhere", null)).isInstanceOf(KeepsakeException.class);
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.unwrap(PGConnection.class).getPrepareThreshold())
                        .isEqualTo(5);
            }
        }
    }

    @Test
    void a_data_source_that_hides_the_driver_is_refused_where_nothing_may_be_prepared() throws Exception {
        DataSource hiding = hiding(server.database(database));
        assertThat(client(hiding, false).append(KEY, batch("b")).head()).isEqualTo("b");
        assertThatThrownBy(() -> client(hiding, true).append(KEY, batch("c")))
                .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                        .isFalse())
                .hasMessageContaining("transactionPooler()")
                .hasMessageContaining("PGConnection");
    }

    private static void namesTheSetting(KeepsakeException error) {
        assertThat(error.isRetryable()).as("%s", error).isFalse();
        assertThat(error).hasMessageContaining("transactionPooler()").hasMessageContaining("prepareThreshold=0");
    }

    /** Each client has a connection of its own. Returns the errors. */
    private List<KeepsakeException> load(boolean byUrl, boolean callers, boolean transactionPooler) throws Exception {
        int count = Counts.of(60, 200);
        List<PoolerLoad> loads = Collections.synchronizedList(new ArrayList<>());
        Threads.run(CLIENTS, client -> {
            PoolerLoad load = new PoolerLoad(
                    byUrl ? clientByUrl() : client(callers ? usedByOthers(client) : pool(), transactionPooler), client);
            loads.add(load);
            load.run(count);
        });
        loads.forEach(load -> load.compare(direct));
        List<KeepsakeException> errors =
                loads.stream().flatMap(load -> load.errors().stream()).toList();
        List<String> wrong =
                loads.stream().flatMap(load -> load.wrong().stream()).toList();
        Tell.line(
                "%d clients, %d server connections: %d calls, %d failed, %d wrong",
                CLIENTS, SERVERS, loads.stream().mapToInt(PoolerLoad::calls).sum(), errors.size(), wrong.size());
        assertThat(wrong).isEmpty();
        return errors;
    }

    private HikariDataSource pool() {
        return Postgres.pool(Postgres.database(database, pooler.port()), 1, true);
    }

    /** A pool whose other user has ended transactions, some clients by a commit first and some by a rollback. */
    private HikariDataSource usedByOthers(int client) {
        HikariDataSource pool = pool();
        for (int i = 0; i < 4; i++) {
            try (Connection connection = pool.getConnection()) {
                connection.setAutoCommit(false);
                useAndEnd(connection, (client + i) % 2 == 0);
            } catch (SQLException e) {
                // Another client has the name in the session that this one got. The next round is on a new connection.
                assertThat(e.getSQLState()).isNotNull();
            }
        }
        return pool;
    }

    private static void useAndEnd(Connection connection, boolean isCommit) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT 1");
            if (isCommit) {
                connection.commit();
            } else {
                connection.rollback();
            }
        } catch (SQLException e) {
            connection.abort(Runnable::run);
            throw e;
        }
    }

    private MessageLog client(DataSource source, boolean transactionPooler) {
        return log(source, transactionPooler, Duration.ofSeconds(30));
    }

    private MessageLog log(DataSource source, boolean transactionPooler, Duration timeout) {
        JdbcMessageLog.Builder builder =
                JdbcMessageLog.builder().dataSource(source).statementTimeout(timeout);
        MessageLog log = (transactionPooler ? builder.transactionPooler() : builder).build();
        open.add(log);
        if (source instanceof AutoCloseable pool) {
            open.add(pool);
        }
        return log;
    }

    private MessageLog clientByUrl() {
        MessageLog log = JdbcMessageLog.builder()
                .url("jdbc:postgresql://127.0.0.1:" + pooler.port() + "/" + database, "postgres", "")
                .maxPoolSize(1)
                .transactionPooler()
                .build();
        open.add(log);
        return log;
    }

    /** A data source whose connections are wrapped and do not unwrap. */
    private static DataSource hiding(DataSource source) {
        return proxy(DataSource.class, (proxy, method, arguments) -> {
            Connection connection = source.getConnection();
            return proxy(
                    Connection.class,
                    (hidden, called, values) -> called.getName().equals("isWrapperFor")
                            ? (Object) false
                            : called.invoke(connection, values));
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
