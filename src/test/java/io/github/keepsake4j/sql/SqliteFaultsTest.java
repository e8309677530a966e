package io.github.keepsake4j.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Faults of a SQLite file. */
class SqliteFaultsTest extends FaultContract {

    /** The place in a file's header of the version that a program must know to write the file. */
    private static final int WRITE_VERSION = 18;

    @TempDir
    Path directory;

    @Override
    Stored open(Home home) {
        return open(home, directory);
    }

    private static Stored open(Home home, Path in) {
        return switch (home) {
            case LOG -> Stored.of(SqliteMessageLog.open(in.resolve("kept.db")));
            case INDEX -> Stored.of(JdbcMessageIndex.sqlite(in.resolve("kept.db")));
            case MEMORIES -> Stored.of(FileLongTermMemoryStore.of(in));
        };
    }

    /** Makes the file, and returns its name. */
    private Path made(Home home) throws Exception {
        try (Stored stored = open(home)) {
            stored.write().run();
        }
        return file();
    }

    private Path file() throws IOException {
        return file(directory);
    }

    private static Path file(Path in) throws IOException {
        try (Stream<Path> files = Files.walk(in)) {
            return files.filter(file -> file.toString().endsWith(".db"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_directory_in_place_of_the_file_is_final_and_says_so(Home home) throws Exception {
        Path file = made(home);
        Files.delete(file);
        Files.createDirectory(file);
        try (Stored stored = open(home)) {
            assertFails(
                    stored.read(),
                    KeepsakeException.class,
                    file.toString(),
                    "it is a directory; name a file",
                    "MessageLogs.files(…)");
            assertFails(
                    stored.write(),
                    KeepsakeException.class,
                    file.toString(),
                    "it is a directory; name a file",
                    "MessageLogs.files(…)");
            Files.delete(file);
            stored.write().run();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LOG", "INDEX"})
    void a_directory_that_is_not_there_is_a_wrong_input(Home home) throws Exception {
        try (Stored stored = open(home, directory.resolve("nowhere"))) {
            assertFails(stored.read(), InvalidInputException.class, "file", "nowhere does not exist");
            assertFails(stored.write(), InvalidInputException.class, "file", "nowhere does not exist");
        }
        assertThat(directory.resolve("nowhere")).doesNotExist();
    }

    @Test
    void a_file_that_the_file_system_refuses_to_create_is_final_and_names_its_directory() throws Exception {
        Path file = Path.of("/proc/kept.db");
        Assumptions.assumeTrue(Files.isDirectory(file.getParent()));
        try (Stored stored = Stored.of(SqliteMessageLog.open(file))) {
            for (Call call : List.of(stored.read(), stored.write())) {
                assertFails(call, KeepsakeException.class, file.toString(), "/proc");
                assertThat(catchThrowable(call::run)).matches(error -> !((KeepsakeException) error).isRetryable());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LOG", "INDEX"})
    void a_log_and_an_index_do_not_share_a_file(Home home) throws Exception {
        Path file = made(home);
        byte[] before = Files.readAllBytes(file);
        boolean isLog = home == Home.LOG;
        try (Stored other = isLog ? Stored.of(JdbcMessageIndex.sqlite(file)) : Stored.of(SqliteMessageLog.open(file))) {
            String problem = isLog ? "is the file of a log" : "is the file of an index";
            for (Call call : List.of(other.read(), other.write())) {
                assertFails(call, UnreadableDataException.class, file.toString(), problem, "choose another path");
            }
        }
        assertThat(file).hasBinaryContent(before);
    }

    /** The files of memories are open during a call only: one that is removed is one that is not there. */
    @ParameterizedTest
    @EnumSource(names = {"LOG", "INDEX"})
    void a_file_that_is_removed_in_use_is_an_outage_until_it_is_back(Home home) throws Exception {
        try (Stored stored = open(home)) {
            stored.write().run();
            stored.read().run();
            Path file = file();
            Path away = directory.resolve("away");
            Files.move(file, away);
            for (int i = 0; i < 2; i++) {
                assertFails(
                        stored.read(), StorageUnavailableException.class, file.toString(), "put it back", home.what);
                assertFails(
                        stored.write(), StorageUnavailableException.class, file.toString(), "put it back", home.what);
            }
            assertThat(file).doesNotExist();
            Files.move(away, file);
            stored.write().run();
            stored.read().run();
        }
    }

    /** What is written to a file without a name is lost, so nothing is. */
    @ParameterizedTest
    @EnumSource(names = {"LOG", "INDEX"})
    void a_file_that_took_the_place_of_another_is_the_one_that_is_used(Home home) throws Exception {
        try (Stored stored = open(home)) {
            stored.write().run();
            stored.read().run();
            for (String suffix : List.of("", "-wal", "-shm")) {
                Files.deleteIfExists(directory.resolve("kept.db" + suffix));
            }
            try (Stored other = open(home)) {
                other.write().run();
                long before = rows(file());
                stored.read().run();
                stored.write().run();
                assertThat(rows(file())).isGreaterThan(before);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_file_that_sqlite_takes_for_read_only_is_final_until_that_is_mended(Home home) throws Exception {
        Path file = made(home);
        int version = setWriteVersion(file, 3);
        try (Stored stored = open(home)) {
            for (int i = 0; i < 2; i++) {
                assertFails(
                        stored.write(),
                        KeepsakeException.class,
                        file.toString(),
                        "read-only",
                        "permission to write it");
                stored.read().run();
            }
            setWriteVersion(file, version);
            stored.write().run();
            stored.read().run();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_file_of_another_user_is_final_until_its_permissions_are_changed(Home home) throws Exception {
        Path file = made(home);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
        try (Stored stored = open(home)) {
            if (Files.isWritable(file)) {
                // Permissions bind no superuser, and the library adds no refusal of its own.
                stored.write().run();
                return;
            }
            assertFails(stored.write(), KeepsakeException.class, file.toString(), "change its permissions");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            stored.write().run();
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_is_no_database_is_unreadable_and_stays_as_it_is(Home home) throws Exception {
        Path file = made(home);
        Files.writeString(file, "no database ".repeat(1_000));
        try (Stored stored = open(home)) {
            for (Call call : List.of(stored.read(), stored.write())) {
                assertFails(
                        call,
                        UnreadableDataException.class,
                        file.toString(),
                        "the file is not a SQLite database; choose another path");
            }
        }
        assertThat(file).content().startsWith("no database");
    }

    @ParameterizedTest
    @EnumSource
    void a_table_that_is_missing_is_unreadable_until_it_is_back(Home home) throws Exception {
        try (Stored stored = open(home)) {
            stored.write().run();
            stored.read().run();
            List<String> tables =
                    switch (home) {
                        case LOG -> List.of("keepsake_memory", "keepsake_message");
                        case INDEX -> List.of("keepsake_index_memory", "keepsake_index_tenant");
                        case MEMORIES -> List.of("memories", "keepsake_progress");
                    };
            for (String table : tables) {
                execute("ALTER TABLE %1$s RENAME TO away_%1$s".formatted(table));
            }
            for (int i = 0; i < 2; i++) {
                for (Call call : List.of(stored.read(), stored.write())) {
                    assertFails(call, UnreadableDataException.class, file().toString(), "tables", "another version");
                }
            }
            for (String table : tables) {
                execute("ALTER TABLE away_%1$s RENAME TO %1$s".formatted(table));
            }
            stored.write().run();
            stored.read().run();
        }
    }

    @ParameterizedTest
    @EnumSource
    void tables_of_a_newer_library_are_refused_by_name(Home home) throws Exception {
        made(home);
        execute(("DROP TABLE %1$s; CREATE TABLE %1$s (version integer, oldest_writer integer);"
                        + " INSERT INTO %1$s VALUES (99, 99)")
                .formatted(home.versions));
        try (Stored stored = open(home)) {
            for (Call call : List.of(stored.read(), stored.write())) {
                assertFails(call, KeepsakeException.class, "This library is older than the tables of the " + home.what);
            }
        }
    }

    /** A call waits for ten seconds. So all wait at once. */
    @Test
    void a_writer_that_takes_too_long_is_an_outage_of_those_that_write() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(Home.values().length);
        try {
            List<Future<?>> homes = new ArrayList<>();
            for (Home home : Home.values()) {
                Path in = Files.createDirectory(directory.resolve(home.what));
                homes.add(threads.submit(() -> {
                    waits(home, in);
                    return null;
                }));
            }
            for (Future<?> home : homes) {
                home.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void waits(Home home, Path in) throws Exception {
        try (Stored made = open(home, in)) {
            made.write().run();
        }
        Path file = file(in);
        try (Stored stored = open(home, in);
                Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = other.createStatement()) {
            statement.execute("BEGIN IMMEDIATE");
            stored.read().run();
            assertFails(
                    stored.write(), StorageUnavailableException.class, file.toString(), "cannot be used at the moment");
            statement.execute("ROLLBACK");
            stored.write().run();
        }
    }

    private Connection connect() throws Exception {
        return DriverManager.getConnection("jdbc:sqlite:" + file());
    }

    private void execute(String sql) throws Exception {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate(sql);
        }
    }

    /** Returns how many rows all tables have. */
    private static long rows(Path file) throws SQLException {
        long rows = 0;
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            List<String> tables = new ArrayList<>();
            try (ResultSet names = statement.executeQuery("SELECT name FROM sqlite_master WHERE type = 'table'")) {
                while (names.next()) {
                    tables.add(names.getString(1));
                }
            }
            for (String table : tables) {
                try (ResultSet row = statement.executeQuery("SELECT count(*) FROM " + table)) {
                    rows += row.getLong(1);
                }
            }
        }
        return rows;
    }

    /** Returns the version from before. */
    private static int setWriteVersion(Path file, int version) throws IOException {
        try (RandomAccessFile header = new RandomAccessFile(file.toFile(), "rw")) {
            header.seek(WRITE_VERSION);
            int before = header.read();
            header.seek(WRITE_VERSION);
            header.write(version);
            return before;
        }
    }
}
