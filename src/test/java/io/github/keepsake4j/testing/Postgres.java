package io.github.keepsake4j.testing;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Real PostgreSQL servers for tests, with {@code fsync} and {@code synchronous_commit} on, which embedded servers turn
 * off. One server serves the whole test run; with reduced counts it does without {@code fsync}, since it is
 * not killed. A test has a database of its own, or one that was emptied.
 */
public final class Postgres implements AutoCloseable {

    /** Empties a database in which there are only tables. */
    public static final String DROP_TABLES = "SET lock_timeout = '10s'; DROP SCHEMA public CASCADE;"
            + " CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC; RESET lock_timeout";

    /** How many milliseconds a pool trusts a connection that it used. */
    private static final String TRUSTED = "com.zaxxer.hikari.aliveBypassWindowMs";

    private static Postgres newest;
    private static int databases;
    private static final Map<String, DataSource> KEPT = new HashMap<>();
    private static final Set<String> COMMON = ConcurrentHashMap.newKeySet();

    /** Whether a database has nothing but tables, and no other connection. */
    private static final String ONLY_TABLES =
            """
            SELECT NOT EXISTS (SELECT FROM pg_stat_activity
                               WHERE datname = current_database() AND pid <> pg_backend_pid())
               AND NOT EXISTS (SELECT FROM pg_namespace WHERE nspname !~ '^(pg_|public$|information_schema$)')
               AND NOT EXISTS (SELECT FROM pg_publication)
               AND NOT EXISTS (SELECT FROM pg_extension WHERE extname <> 'plpgsql')
               AND NOT EXISTS (SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
                               WHERE datname = current_database())
            """;

    private final EmbeddedPostgres server;
    private final Queue<String> empty = new ArrayDeque<>();

    /** The databases that were given out and not given back, the last one first. */
    private final Deque<String> used = new ArrayDeque<>();

    private Postgres(EmbeddedPostgres server) {
        this.server = server;
    }

    /**
     * Returns a server of the newest version, or of the one whose archive the build puts on the class path, started on first
     * use.
     */
    public static synchronized Postgres newest() {
        if (newest == null) {
            newest = start(shared());
        }
        return newest;
    }

    /** Starts a separate server on a data directory that is kept, for tests that kill the server. */
    public static Postgres on(Path directory, String synchronousCommit) throws IOException {
        return new Postgres(builder()
                .setServerConfig("synchronous_commit", synchronousCommit)
                .setDataDirectory(directory)
                .setCleanDataDirectory(false)
                .setPGStartupWait(Duration.ofSeconds(60))
                .start());
    }

    private static EmbeddedPostgres.Builder builder() {
        return EmbeddedPostgres.builder()
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("max_connections", "150");
    }

    private static EmbeddedPostgres.Builder shared() {
        return builder()
                .setServerConfig("fsync", Counts.isToldQuick() ? "off" : "on")
                // Each minute by default, which is a process a second where each test class has a database.
                .setServerConfig("autovacuum_naptime", "10min");
    }

    private static Postgres start(EmbeddedPostgres.Builder builder) {
        try {
            return new Postgres(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns the name of an empty database: a new one, or one that was given back. It is given back
     * at the end of the test or the class that asks for it.
     */
    public String newDatabase() throws SQLException {
        String name;
        synchronized (Postgres.class) {
            name = empty.poll();
            if (name != null) {
                used.push(name);
                return name;
            }
            name = "test" + ++databases;
            used.push(name);
        }
        create(name);
        return name;
    }

    private void create(String name) throws SQLException {
        DataSource source = this == newest ? kept("postgres") : server.getPostgresDatabase();
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            // Without fsync, copied files take a quarter of the time of copied pages. PostgreSQL 14 only copies files.
            boolean copiesPages = connection.getMetaData().getDatabaseMajorVersion() > 14;
            statement.execute("CREATE DATABASE " + name
                    + (copiesPages && Counts.isToldQuick() && this == newest ? " STRATEGY FILE_COPY" : ""));
        }
    }

    /**
     * Returns kept connections to a database of the newest server that tests use one after the other, until this JVM ends. Its
     * tables stay, without rows.
     */
    public static DataSource common(String name) throws SQLException {
        Postgres server = newest();
        if (COMMON.add(name)) {
            server.create(name);
        }
        deleteRows(server.kept(name));
        return server.kept(name);
    }

    /** Returns how many databases are in use. */
    static synchronized int used() {
        return newest == null ? 0 : newest.used.size();
    }

    /** Gives back what was given out since that many databases were in use, but for what a next user would notice. */
    static void giveBackTo(int count) {
        while (used() > count) {
            String name;
            synchronized (Postgres.class) {
                name = newest.used.peek();
            }
            newest.giveBackIfPossible(name);
        }
    }

    private void giveBackIfPossible(String name) {
        DataSource kept;
        synchronized (KEPT) {
            kept = KEPT.remove(port() + name);
        }
        if (kept instanceof HikariDataSource pool) {
            pool.close();
        }
        synchronized (Postgres.class) {
            used.remove(name);
        }
        if (hasOnlyTables(name)) {
            giveBack(name);
        }
    }

    private boolean hasOnlyTables(String name) {
        try (Connection connection = database(name).getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(ONLY_TABLES)) {
            return row.next() && row.getBoolean(1);
        } catch (SQLException e) {
            // A test dropped or closed it.
            return false;
        }
    }

    /**
     * Empties a database, for tests that make and leave only tables. A new one takes 35 ms, its first connection 70 ms, and
     * its hundreds of files are deleted at the end. The database's connections must be closed.
     */
    public void giveBack(String name) {
        try {
            execute(database(name), DROP_TABLES);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        synchronized (Postgres.class) {
            used.remove(name);
            empty.add(name);
        }
    }

    /** Deletes what is in the library's tables, for the next test that uses them: new tables take longer by far. */
    public static void deleteRows(DataSource source) throws SQLException {
        execute(
                source,
                """
                DO $$ DECLARE t regclass; BEGIN
                  FOR t IN SELECT oid FROM pg_class
                           WHERE relkind = 'r' AND relname LIKE 'keepsake%' AND relname NOT LIKE '%schema' LOOP
                    EXECUTE 'DELETE FROM ' || t;
                  END LOOP;
                END $$
                """);
    }

    public int port() {
        return server.getPort();
    }

    /** Returns unpooled connections to a database as the superuser. */
    public PGSimpleDataSource database(String name) {
        return database(name, port());
    }

    /** Returns unpooled connections through another port, such as a proxy's. */
    public static PGSimpleDataSource database(String name, int port) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setServerNames(new String[] {"127.0.0.1"});
        source.setPortNumbers(new int[] {port});
        source.setDatabaseName(name);
        source.setUser("postgres");
        source.setConnectTimeout(10);
        return source;
    }

    /**
     * Returns connections to a database that are kept, for logs that need no pool of their own. A new connection takes the
     * time of dozens of statements, because the server starts a process for it. They end with this JVM.
     */
    public DataSource kept(String name) {
        return kept(name, port());
    }

    /** Returns kept connections to a database of a server that another process may have started. */
    public static DataSource kept(String name, int port) {
        synchronized (KEPT) {
            return KEPT.computeIfAbsent(port + name, database -> trustingPool(database(name, port), 20, true));
        }
    }

    /**
     * Creates a pool that trusts a connection for half a second after its use, as pools do by default. It saves a round trip
     * for each call, and may give out a connection that an outage has ended.
     */
    public static HikariDataSource trustingPool(DataSource source, int size, boolean autoCommit) {
        return pool(source, size, autoCommit, 10_000, 500);
    }

    /** Creates a pool on a new database of the newest server, for a class of tests. */
    public static HikariDataSource poolOfNewDatabase() {
        try {
            return trustingPool(newest().database(newest().newDatabase()), 4, true);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Creates a pool on a data source. It notices at once when an outage begins or ends. */
    public static HikariDataSource pool(DataSource source, int size, boolean autoCommit) {
        return pool(source, size, autoCommit, 10_000);
    }

    /** Creates a pool with a time limit for obtaining a connection. */
    public static HikariDataSource pool(DataSource source, int size, boolean autoCommit, long timeoutMillis) {
        return pool(source, size, autoCommit, timeoutMillis, 0);
    }

    private static synchronized HikariDataSource pool(
            DataSource source, int size, boolean autoCommit, long timeoutMillis, int trustedMillis) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setAutoCommit(autoCommit);
        config.setInitializationFailTimeout(-1);
        config.setConnectionTimeout(timeoutMillis);
        // A pool reads it when it is made.
        System.setProperty(TRUSTED, String.valueOf(trustedMillis));
        try {
            return new HikariDataSource(config);
        } finally {
            System.clearProperty(TRUSTED);
        }
    }

    public static void execute(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
        }
    }

    /** Kills the postmaster with SIGKILL, and waits until its children have noticed. */
    public void kill(Path directory) throws Exception {
        long pid = Long.parseLong(
                Files.readAllLines(directory.resolve("postmaster.pid")).get(0).trim());
        Optional<ProcessHandle> postmaster = ProcessHandle.of(pid);
        var children = postmaster.map(handle -> handle.children().toList()).orElseThrow();
        postmaster.get().destroyForcibly();
        postmaster.get().onExit().get();
        for (ProcessHandle child : children) {
            child.onExit().get();
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    /** Opens a log whose tables are made, on a pool that is the caller's. */
    public static JdbcMessageLog log(DataSource pool) {
        return JdbcMessageLog.builder()
                .dataSource(pool)
                .schema(SchemaMode.ALWAYS)
                .build();
    }

    /** The same for an index. */
    public static JdbcMessageIndex index(DataSource pool) {
        return JdbcMessageIndex.builder()
                .dataSource(pool)
                .schema(SchemaMode.ALWAYS)
                .build();
    }
}
