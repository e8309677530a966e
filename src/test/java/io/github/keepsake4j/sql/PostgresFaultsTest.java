package io.github.keepsake4j.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.PostgresBuilder;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.TransactionPooler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.sqlite.SQLiteDataSource;

/** Faults of a PostgreSQL server, and of what is between it and the library. */
class PostgresFaultsTest extends FaultContract {

    private static final int CLIENTS = 4;
    private static final AtomicInteger ROLES = new AtomicInteger();

    @TempDir
    Path directory;

    private static Postgres server;
    private static String database;

    /** Connections of the superuser, to whom nothing happens. */
    private static HikariDataSource pool;

    @BeforeAll
    static void makeDatabase() throws SQLException {
        server = Postgres.newest();
        database = server.newDatabase();
        pool = Postgres.trustingPool(source(), 4, true);
    }

    @AfterAll
    static void disconnect() {
        pool.close();
    }

    @AfterEach
    void dropTables() throws SQLException {
        Postgres.execute(pool, Postgres.DROP_TABLES);
    }

    @Override
    Stored open(Home home) {
        return open(home, pool, SchemaMode.ALWAYS);
    }

    private static PGSimpleDataSource source() {
        return server.database(database);
    }

    private static Stored open(Home home, DataSource source) {
        return open(home, source, SchemaMode.NEVER);
    }

    private static Stored open(Home home, DataSource source, SchemaMode mode) {
        return open(home, new Settings() {
            @Override
            public <B extends PostgresBuilder<B>> B on(B builder) {
                return builder.dataSource(source).schema(mode).statementTimeout(Duration.ofSeconds(1));
            }
        });
    }

    private interface Settings {
        <B extends PostgresBuilder<B>> B on(B builder);
    }

    private static Stored open(Home home, Settings settings) {
        return switch (home) {
            case LOG -> Stored.of(settings.on(JdbcMessageLog.builder()).build());
            case INDEX -> Stored.of(settings.on(JdbcMessageIndex.builder()).build());
            case MEMORIES ->
                Stored.of(settings.on(JdbcLongTermMemoryStore.builder()).build());
        };
    }

    /** Makes the tables and a row. */
    private void make(Home home) throws Exception {
        try (Stored stored = open(home)) {
            stored.write().run();
        }
    }

    private static void assertBothFail(Stored stored, Class<? extends KeepsakeException> type, String... told) {
        for (int i = 0; i < 2; i++) {
            assertFails(stored.read(), type, told);
            assertFails(stored.write(), type, told);
        }
    }

    @ParameterizedTest
    @EnumSource
    void another_database_is_refused_by_name(Home home) throws Exception {
        SQLiteDataSource other = new SQLiteDataSource();
        other.setUrl("jdbc:sqlite:" + directory.resolve("other.db"));
        try (Stored stored = open(home, other)) {
            assertBothFail(
                    stored, KeepsakeException.class, home.what, "requires a data source of PostgreSQL", "SQLite");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_database_that_is_not_there_is_final(Home home) throws Exception {
        try (Stored stored = open(home, server.database("nowhere"))) {
            assertBothFail(stored, KeepsakeException.class, "the database does not exist", "3D000");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_user_that_the_server_refuses_is_final_through_a_pool_too(Home home) throws Exception {
        PGSimpleDataSource source = source();
        source.setUser("stranger");
        String url = "jdbc:postgresql://127.0.0.1:" + server.port() + "/" + database;
        try (HikariDataSource strangers = Postgres.pool(source, 1, true, 300);
                Stored plain = open(home, source);
                Stored pooled = open(home, strangers);
                Stored own = open(home, new Settings() {
                    @Override
                    public <B extends PostgresBuilder<B>> B on(B builder) {
                        return builder.url(url, "stranger", "password").statementTimeout(Duration.ofMillis(300));
                    }
                })) {
            for (Stored stored : List.of(plain, pooled, own)) {
                assertBothFail(stored, KeepsakeException.class, "check the user", "28000");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_session_that_is_read_only_by_a_setting_is_final_for_writes(Home home) throws Exception {
        make(home);
        PGSimpleDataSource source = source();
        source.setOptions("-c default_transaction_read_only=on");
        try (HikariDataSource readers = Postgres.trustingPool(source, 1, true);
                Stored stored = open(home, readers)) {
            stored.read().run();
            assertFails(
                    stored.write(),
                    KeepsakeException.class,
                    "the session is read-only; check default_transaction_read_only",
                    "25006");
            stored.read().run();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_connection_of_the_callers_transaction_is_refused_and_the_transaction_goes_on(Home home) throws Exception {
        make(home);
        try (Connection caller = pool.getConnection();
                Statement statement = caller.createStatement();
                Stored stored = open(home, enlisted(caller))) {
            caller.setAutoCommit(false);
            statement.execute("CREATE TABLE caller (name text)");
            assertBothFail(
                    stored,
                    KeepsakeException.class,
                    "the connection of the caller's transaction",
                    "jdbc.transactions=disabled");
            caller.rollback();
            try (ResultSet found = statement.executeQuery("SELECT to_regclass('caller')")) {
                assertThat(found.next()).isTrue();
                assertThat(found.getString(1)).as("what the caller rolled back").isNull();
            }
        }
    }

    /** Returns the connection as Agroal does in a transaction of JTA. */
    private static DataSource enlisted(Connection caller) {
        Connection connection = proxy(Connection.class, (proxy, method, values) -> switch (method.getName()) {
            case "close" -> null;
            case "commit", "rollback" ->
                throw new SQLException("Attempting to commit while taking part in a transaction");
            case "setAutoCommit" -> {
                if (values[0].equals(true)) {
                    throw new SQLException("Trying to set autocommit in connection taking part of transaction");
                }
                yield null;
            }
            default -> method.invoke(caller, values);
        });
        return proxy(DataSource.class, (proxy, method, values) -> connection);
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @ParameterizedTest
    @EnumSource
    void a_right_that_lacks_is_final_until_it_is_granted(Home home) throws Exception {
        make(home);
        String role = "guest_" + ROLES.incrementAndGet();
        Postgres.execute(
                pool, "CREATE ROLE " + role + " LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role);
        PGSimpleDataSource source = source();
        source.setUser(role);
        try (HikariDataSource guests = Postgres.trustingPool(source, 1, true);
                Stored stored = open(home, guests)) {
            stored.read().run();
            assertFails(stored.write(), KeepsakeException.class, "grant it the rights that it lacks", "42501");
            Postgres.execute(
                    pool,
                    "GRANT ALL ON ALL TABLES IN SCHEMA public TO %1$s; GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO %1$s"
                            .formatted(role));
            stored.write().run();
        }
    }

    @ParameterizedTest
    @EnumSource
    void tables_that_are_missing_are_named_with_their_script_and_the_setting(Home home) throws Exception {
        String folder = home == Home.LOG ? "postgresql" : home.what + "/postgresql";
        try (Stored stored = open(home, pool)) {
            assertBothFail(
                    stored,
                    KeepsakeException.class,
                    "The tables of the " + home.what + " are missing",
                    "io/github/keepsake4j/schema/" + folder + "/V1__",
                    "schema(SchemaMode.ALWAYS)");
            make(home);
            stored.write().run();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_role_that_may_not_make_tables_is_told_the_script(Home home) throws Exception {
        String role = "reader_without_" + ROLES.incrementAndGet();
        Postgres.execute(pool, "REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE " + role + " LOGIN");
        PGSimpleDataSource source = source();
        source.setUser(role);
        try (HikariDataSource guests = Postgres.trustingPool(source, 1, true);
                Stored stored = open(home, guests, SchemaMode.ALWAYS)) {
            assertBothFail(stored, KeepsakeException.class, "may not create or read them", "Run the script", "V1__");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_table_that_was_dropped_is_final_and_names_the_script(Home home) throws Exception {
        try (Stored stored = open(home)) {
            stored.write().run();
            Postgres.execute(pool, "DROP TABLE " + String.join(", ", tables(home)) + " CASCADE");
            assertBothFail(
                    stored, KeepsakeException.class, "a table or column is missing", "run the script", "V1__", "42P01");
        }
    }

    @ParameterizedTest
    @EnumSource
    void tables_of_a_newer_library_are_refused_by_name(Home home) throws Exception {
        make(home);
        Postgres.execute(
                pool,
                ("DROP TABLE %1$s; CREATE TABLE %1$s (version integer, oldest_writer integer);"
                                + " INSERT INTO %1$s VALUES (99, 99)")
                        .formatted(home.versions));
        try (Stored stored = open(home)) {
            assertBothFail(
                    stored, KeepsakeException.class, "This library is older than the tables of the " + home.what);
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_another_locks_for_too_long_is_an_outage(Home home) throws Exception {
        make(home);
        try (Stored stored = open(home, new Settings() {
                    @Override
                    public <B extends PostgresBuilder<B>> B on(B builder) {
                        return builder.dataSource(pool).statementTimeout(Duration.ofMillis(300));
                    }
                });
                Connection other = pool.getConnection();
                Statement statement = other.createStatement()) {
            stored.read().run();
            other.setAutoCommit(false);
            statement.execute("LOCK TABLE " + String.join(", ", tables(home)) + " IN ACCESS EXCLUSIVE MODE");
            assertBothFail(stored, StorageUnavailableException.class, "cannot be reached or is too busy", "57014");
            other.rollback();
            stored.write().run();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_server_that_is_down_is_an_outage_through_a_pool_too(Home home) throws Exception {
        DataSource source = Postgres.database(database, 1);
        try (HikariDataSource unreachable = Postgres.pool(source, 1, true, 300);
                Stored plain = open(home, source);
                Stored pooled = open(home, unreachable)) {
            assertBothFail(plain, StorageUnavailableException.class, "cannot be reached", "is refused", "08001");
            assertBothFail(pooled, StorageUnavailableException.class, "cannot be reached", "is refused");
        }
    }

    /** Nothing is prepared but by a log without the setting. */
    @ParameterizedTest
    @EnumSource
    @ExpectedLog(maybe = "marked as broken because of SQLSTATE")
    void behind_an_untracked_pooler_what_fails_names_the_setting_and_with_it_nothing_fails(Home home) throws Exception {
        make(home);
        List<Throwable> without =
                load(home, UnaryOperator.identity(), UnaryOperator.identity(), UnaryOperator.identity());
        List<Throwable> with = load(
                home,
                PostgresBuilder::transactionPooler,
                PostgresBuilder::transactionPooler,
                PostgresBuilder::transactionPooler);
        assertThat(with).isEmpty();
        assertThat(without)
                .allSatisfy(error -> assertFails(
                        () -> {
                            throw (Exception) error;
                        },
                        KeepsakeException.class,
                        "build the " + home.what + " with transactionPooler()"));
        assertThat(without.isEmpty()).isEqualTo(home != Home.LOG);
    }

    private List<Throwable> load(
            Home home,
            UnaryOperator<JdbcMessageLog.Builder> log,
            UnaryOperator<JdbcMessageIndex.Builder> index,
            UnaryOperator<JdbcLongTermMemoryStore.Builder> memories)
            throws Exception {
        List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
        try (TransactionPooler pooler = new TransactionPooler(server.port(), database, "postgres", CLIENTS / 2)) {
            List<Callable<Void>> clients = Collections.nCopies(CLIENTS, () -> {
                try (HikariDataSource pooled = Postgres.pool(Postgres.database(database, pooler.port()), 1, true);
                        Stored stored =
                                switch (home) {
                                    case LOG ->
                                        Stored.of(log.apply(
                                                        JdbcMessageLog.builder().dataSource(pooled))
                                                .build());
                                    case INDEX ->
                                        Stored.of(index.apply(JdbcMessageIndex.builder()
                                                        .dataSource(pooled))
                                                .build());
                                    case MEMORIES ->
                                        Stored.of(memories.apply(JdbcLongTermMemoryStore.builder()
                                                        .dataSource(pooled))
                                                .build());
                                }) {
                    for (int i = 0; i < Counts.of(25, 200); i++) {
                        for (Call call : List.of(stored.read(), stored.write())) {
                            try {
                                call.run();
                            } catch (KeepsakeException e) {
                                errors.add(e);
                            }
                        }
                    }
                }
                return null;
            });
            for (Future<Void> client : threads.invokeAll(clients)) {
                client.get();
            }
        } finally {
            threads.shutdown();
        }
        return errors;
    }

    /** Returns the tables but that of the versions. */
    private List<String> tables(Home home) throws SQLException {
        List<String> tables = new ArrayList<>();
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'keepsake%'")) {
            while (rows.next()) {
                tables.add(rows.getString(1));
            }
        }
        tables.remove(home.versions);
        return tables;
    }
}
