package io.github.keepsake4j.log.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.ActivityContract;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.MessageLogContract;
import io.github.keepsake4j.log.MetadataListContract;
import io.github.keepsake4j.log.OutageContract;
import io.github.keepsake4j.log.StoreClockContract;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.Session;
import io.github.keepsake4j.sql.SqlConnection;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.SwitchedDataSource;
import io.github.keepsake4j.testing.TcpProxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The contract on PostgreSQL, on a pool whose connections don't commit by themselves, in a session far from UTC (the
 * driver tells the server the zone that the tests run in).
 */
abstract class PostgresContract extends MessageLogContract
        implements ActivityContract, MetadataListContract, OutageContract, StoreClockContract {

    private static TcpProxy proxy;
    private static PGSimpleDataSource database;
    private static HikariDataSource direct;
    private static HikariDataSource pool;
    private static final SwitchedDataSource source = new SwitchedDataSource();

    static void start(Postgres server) throws Exception {
        start(server.database(server.newDatabase()));
    }

    static void start(PGSimpleDataSource server) throws Exception {
        database = server;
        direct = Postgres.trustingPool(database, 1, true);
        proxy = new TcpProxy(database.getPortNumbers()[0]);
        connect();
        try (JdbcMessageLog log = JdbcMessageLog.builder()
                .dataSource(source)
                .schema(SchemaMode.ALWAYS)
                .build()) {
            log.list("nobody", ListQuery.first(1));
        }
    }

    @AfterAll
    static void stop() throws Exception {
        if (pool != null) {
            pool.close();
            proxy.close();
            direct.close();
            pool = null;
        }
    }

    @Override
    protected MessageLog open(Clock clock) throws SQLException {
        Postgres.execute(
                direct,
                """
                DELETE FROM keepsake_memory;
                DELETE FROM keepsake_listed;
                DELETE FROM keepsake_message;
                DELETE FROM keepsake_view;
                DELETE FROM keepsake_summary;
                DELETE FROM keepsake_reference;
                DELETE FROM keepsake_usage;
                DELETE FROM keepsake_lease;
                """);
        return openAgain(clock);
    }

    @Override
    protected MessageLog openAgain(Clock clock) {
        return builder().clock(clock).build();
    }

    @Override
    public MessageLog reopenAt(Clock clock) {
        return openAgain(clock);
    }

    /** The server's time goes on by itself, so the leases are moved into the past instead. */
    @Override
    public void passTime(Duration duration) throws SQLException {
        clock().advance(duration);
        Postgres.execute(
                direct,
                "UPDATE keepsake_lease SET expires_at = expires_at - "
                        + TimeUnit.NANOSECONDS.toMicros(duration.toNanos()));
    }

    @Override
    public Instant storeTime() throws SQLException {
        try (Connection connection = direct.getConnection()) {
            return new Session(SqlConnection.of(connection))
                    .list(
                            "SELECT CAST(extract(epoch FROM now()) * 1000000 AS bigint)",
                            row -> Rows.time(row.getLong(1)))
                    .get(0);
        }
    }

    JdbcMessageLog.Builder builder() {
        return JdbcMessageLog.builder()
                .dataSource(source)
                .listedMetadata(DECLARED)
                .statementTimeout(Duration.ofSeconds(20));
    }

    @Override
    public void corrupt(MemoryKey key, String messageId) throws SQLException {
        try (Connection connection = direct.getConnection()) {
            new Session(SqlConnection.of(connection))
                    .update(
                            "UPDATE keepsake_message SET message = '{\"v\":1,\"type\":\"US' WHERE memory_key = ? AND id = ?",
                            Rows.hash(key),
                            messageId);
        }
    }

    @Override
    public String rawBytes(MemoryKey key, String messageId) throws SQLException {
        try (Connection connection = direct.getConnection()) {
            return new Session(SqlConnection.of(connection))
                    .first(
                            "SELECT message FROM keepsake_message WHERE memory_key = ? AND id = ?",
                            row -> row.getString(1),
                            Rows.hash(key),
                            messageId);
        }
    }

    /** The line to the server is cut, and the pool is a new one afterwards: HikariCP pauses longer and longer. */
    @Override
    public Outage breakStorage() {
        proxy.refuse();
        pool.close();
        source.use(behindProxy());
        return () -> {
            proxy.letThrough();
            connect();
        };
    }

    private static void connect() {
        pool = Postgres.trustingPool(database, 10, false);
        source.use(pool);
    }

    private static PGSimpleDataSource behindProxy() {
        PGSimpleDataSource source = Postgres.database(database.getDatabaseName(), proxy.port());
        source.setUser(database.getUser());
        source.setPassword(database.getPassword());
        return source;
    }
}
