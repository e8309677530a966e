package io.github.keepsake4j.testing;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import redis.clients.jedis.Jedis;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Object;

/** The homes of a log, for tests that hold on all of them. */
public enum Home {
    IN_MEMORY,
    SQLITE,
    FILES,
    POSTGRESQL,
    REDIS,
    S3,
    S3_TURNS;

    private static final List<String> TABLES =
            List.of("memory", "message", "view", "summary", "reference", "usage", "lease");

    /** One storage, and logs on it. */
    public interface Storage extends AutoCloseable {

        /** Opens a log on the storage. In memory it is always the same one. */
        MessageLog open();

        /**
         * Copies the whole storage.
         *
         * @return takes the storage back to the copy, as a restored backup or a failover does, while logs on it are open
         */
        default Restore copy() throws Exception {
            throw new UnsupportedOperationException("this storage has no older state");
        }

        @Override
        void close();
    }

    /** Takes a storage back. */
    @FunctionalInterface
    public interface Restore {
        void run() throws Exception;
    }

    /**
     * Returns the homes that this run has by {@code keepsake.homes}: the {@code first} ones, with which {@code verify} proves
     * what holds on each home, the {@code others}, which the landing build adds, or all.
     */
    public static Stream<Home> ofThisRun() {
        Set<Home> first = EnumSet.of(IN_MEMORY, SQLITE, POSTGRESQL);
        String run = System.getProperty("keepsake.homes", "all");
        return Stream.of(values()).filter(home -> run.equals("all") || run.equals("first") == first.contains(home));
    }

    /** How often a schedule is repeated where calls cost as much as here. */
    public int counts(int quick, int full) {
        int all = Counts.of(quick, full);
        return switch (this) {
            case IN_MEMORY -> all;
            case SQLITE, FILES, POSTGRESQL, REDIS -> Math.max(3, all / 10);
            case S3, S3_TURNS -> Math.max(2, all / 25);
        };
    }

    public Storage storage() throws Exception {
        return switch (this) {
            case IN_MEMORY -> inMemory();
            case SQLITE -> sqlite();
            case FILES -> files();
            case POSTGRESQL -> postgres();
            case REDIS -> redis();
            case S3 -> bucket(false);
            case S3_TURNS -> bucket(true);
        };
    }

    private static Storage inMemory() {
        InMemoryMessageLog log = new InMemoryMessageLog();
        return new Storage() {
            /** The storage outlives its logs, as others do. */
            @Override
            public MessageLog open() {
                return new ForwardingMessageLog(log) {
                    @Override
                    public void close() {}
                };
            }

            @Override
            public void close() {
                log.close();
            }
        };
    }

    private static Storage sqlite() throws Exception {
        Path directory = Files.createTempDirectory("keepsake");
        return new Storage() {
            @Override
            public MessageLog open() {
                return SqliteMessageLog.open(directory.resolve("chat.db"));
            }

            @Override
            public Restore copy() throws Exception {
                Path backup = directory.resolve("backup.db");
                sqlite("backup to " + backup);
                return () -> sqlite("restore from " + backup);
            }

            private void sqlite(String command) throws SQLException {
                try (Connection connection =
                                DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("chat.db"));
                        Statement statement = connection.createStatement()) {
                    statement.executeUpdate(command);
                }
            }

            @Override
            public void close() {
                for (String file : new String[] {"chat.db", "chat.db-wal", "chat.db-shm", "backup.db"}) {
                    directory.resolve(file).toFile().delete();
                }
                directory.toFile().delete();
            }
        };
    }

    private static Storage files() throws IOException {
        Path directory = Files.createTempDirectory("keepsake");
        Path files = directory.resolve("files");
        Path backup = directory.resolve("backup");
        return new Storage() {
            @Override
            public MessageLog open() {
                return FileMessageLog.builder().directory(files).fsync(false).build();
            }

            @Override
            public Restore copy() throws IOException {
                delete(backup);
                copy(files, backup);
                return () -> {
                    for (Path path : below(files)) {
                        if (Files.isRegularFile(path) && !path.endsWith("keepsake.lock")) {
                            Files.delete(path);
                        }
                    }
                    copy(backup, files);
                };
            }

            /** The lock file is no data. */
            private void copy(Path from, Path to) throws IOException {
                List<Path> paths = below(from);
                for (Path path : paths) {
                    Path copy = to.resolve(from.relativize(path).toString());
                    if (Files.isDirectory(path)) {
                        Files.createDirectories(copy);
                    } else if (!path.endsWith("keepsake.lock")) {
                        Files.copy(path, copy);
                    }
                }
            }

            private List<Path> below(Path root) throws IOException {
                try (Stream<Path> paths = Files.exists(root) ? Files.walk(root) : Stream.empty()) {
                    return paths.toList();
                }
            }

            private void delete(Path root) throws IOException {
                List<Path> paths = new ArrayList<>(below(root));
                Collections.reverse(paths);
                for (Path path : paths) {
                    Files.delete(path);
                }
            }

            @Override
            public void close() {
                try {
                    delete(directory);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
    }

    private static Storage postgres() throws Exception {
        Postgres server = Postgres.newest();
        String database = server.newDatabase();
        HikariDataSource pool = Postgres.trustingPool(server.database(database), 20, true);
        return new Storage() {
            @Override
            public MessageLog open() {
                return JdbcMessageLog.builder()
                        .dataSource(pool)
                        .schema(SchemaMode.ALWAYS)
                        .build();
            }

            @Override
            public Restore copy() throws Exception {
                for (String table : TABLES) {
                    Postgres.execute(pool, "DROP TABLE IF EXISTS copy_" + table);
                    Postgres.execute(pool, "CREATE TABLE copy_" + table + " AS SELECT * FROM keepsake_" + table);
                }
                return () -> {
                    StringBuilder all = new StringBuilder("BEGIN;");
                    for (String table : TABLES) {
                        all.append("DELETE FROM keepsake_%1$s;INSERT INTO keepsake_%1$s SELECT * FROM copy_%1$s;"
                                .formatted(table));
                    }
                    Postgres.execute(pool, all.append("COMMIT").toString());
                };
            }

            @Override
            public void close() {
                pool.close();
                server.giveBack(database);
            }
        };
    }

    private static Storage redis() {
        Redis server = Redis.shared();
        String prefix = Redis.newPrefix();
        return new Storage() {
            @Override
            public MessageLog open() {
                return server.log(prefix);
            }

            @Override
            public Restore copy() {
                try (Jedis console = server.console()) {
                    Map<String, byte[]> copies = new HashMap<>();
                    console.keys(prefix + "*").forEach(key -> copies.put(key, console.dump(key)));
                    return () -> restore(copies);
                }
            }

            private void restore(Map<String, byte[]> copies) {
                try (Jedis console = server.console()) {
                    console.keys(prefix + "*").forEach(console::del);
                    copies.forEach((key, copy) -> console.restore(key, 0, copy));
                }
            }

            @Override
            public void close() {
                restore(Map.of());
            }
        };
    }

    private static Storage bucket(boolean turns) throws Exception {
        S3Server server = S3Server.shared();
        S3Client client = server.client();
        String bucket = server.newBucket();
        return new Storage() {
            @Override
            public MessageLog open() {
                S3MessageLog.Builder builder =
                        S3MessageLog.builder().client(client).bucket(bucket);
                return (turns ? builder.turnMode(Duration.ofHours(1)) : builder).build();
            }

            @Override
            public Restore copy() {
                Map<String, ResponseBytes<GetObjectResponse>> objects = new HashMap<>();
                names().forEach(name -> objects.put(
                        name, client.getObjectAsBytes(get -> get.bucket(bucket).key(name))));
                return () -> restore(objects);
            }

            private void restore(Map<String, ResponseBytes<GetObjectResponse>> objects) {
                names().forEach(name ->
                        client.deleteObject(delete -> delete.bucket(bucket).key(name)));
                objects.forEach((name, object) -> client.putObject(
                        put -> put.bucket(bucket)
                                .key(name)
                                .contentEncoding(object.response().contentEncoding()),
                        RequestBody.fromBytes(object.asByteArray())));
            }

            private List<String> names() {
                return client.listObjectsV2(list -> list.bucket(bucket)).contents().stream()
                        .map(S3Object::key)
                        .toList();
            }

            @Override
            public void close() {}
        };
    }
}
