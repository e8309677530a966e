package io.github.keepsake4j.benchmark;

import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.Postgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.postgresql.ds.PGSimpleDataSource;

/** A real server, on disk and with every commit synced, that is deleted at the end. */
final class Server implements AutoCloseable {

    private final Path directory;
    private final Postgres postgres;

    Server(Path directory) throws IOException, SQLException {
        this.directory = directory;
        delete(directory);
        Files.createDirectories(directory);
        postgres = Postgres.on(directory, "on");
        // Background work would affect some calls and not others.
        for (String setting : List.of("max_wal_size = '8GB'", "checkpoint_timeout = '1h'", "autovacuum = off")) {
            Postgres.execute(postgres.database("postgres"), "ALTER SYSTEM SET " + setting);
        }
        Postgres.execute(postgres.database("postgres"), "SELECT pg_reload_conf()");
    }

    int port() {
        return postgres.port();
    }

    PGSimpleDataSource database(String name) {
        return postgres.database(name);
    }

    /** Creates a new database with the tables, once for this library and once for the hand-written code. */
    PGSimpleDataSource newDatabase() throws SQLException {
        PGSimpleDataSource database = postgres.database(postgres.newDatabase());
        Postgres.execute(database, "CREATE SCHEMA " + HandWritten.SCHEMA);
        PGSimpleDataSource floor = postgres.database(database.getDatabaseName());
        floor.setCurrentSchema(HandWritten.SCHEMA);
        for (PGSimpleDataSource schema : List.of(database, floor)) {
            try (JdbcMessageLog log = Postgres.log(schema)) {
                log.read(ConversationKey.of("benchmark", "none"), ReadQuery.newest(1));
            }
        }
        return database;
    }

    /**
     * Brings the database into a state as after some time in use: statistics exist, and no data waits to be written.
     */
    static void settle(PGSimpleDataSource database) throws SQLException {
        Postgres.execute(database, "VACUUM (ANALYZE)");
        Postgres.execute(database, "CHECKPOINT");
    }

    /** Returns the end of the write-ahead log, in bytes. */
    static long walEnd(PGSimpleDataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT pg_current_wal_insert_lsn() - '0/0'")) {
            row.next();
            return row.getLong(1);
        }
    }

    @Override
    public void close() throws IOException {
        postgres.close();
        delete(directory);
    }

    private static void delete(Path directory) throws IOException {
        if (Files.exists(directory)) {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
