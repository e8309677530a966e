package com.example.league;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A PostgreSQL server of its own, which keeps what it has acknowledged. */
final class Server implements AutoCloseable {

    static {
        // A subject whose turn comes late must not pay for a check of its connection.
        System.setProperty("com.zaxxer.hikari.aliveBypassWindowMs", "600000");
    }

    private final EmbeddedPostgres server;

    Server() throws IOException {
        server = EmbeddedPostgres.builder()
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("max_wal_size", "4GB")
                .setServerConfig("max_connections", "150")
                .start();
    }

    int port() {
        return server.getPort();
    }

    void createDatabase(String name) {
        execute(server.getPostgresDatabase(), "CREATE DATABASE " + name);
    }

    /** Returns the position of the write-ahead log, in bytes. */
    long log() {
        return Long.parseLong(value("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"));
    }

    String value(String sql) {
        return value(server.getPostgresDatabase(), sql);
    }

    static String value(DataSource source, String sql) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static void execute(DataSource source, String sql) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static DataSource database(String name, int port) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setServerNames(new String[] {"127.0.0.1"});
        source.setPortNumbers(new int[] {port});
        source.setDatabaseName(name);
        source.setUser("postgres");
        return source;
    }

    static HikariDataSource pool(DataSource source, int connections) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(connections);
        return new HikariDataSource(config);
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
