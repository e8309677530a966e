package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.testing.Logged;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A SQLite file that cannot be used until its owner changes something: no retry mends that, so no error says so. */
class SqliteUnusableFileTest {

    /** The place in a file's header of the version that a program must know to write the file. */
    private static final int WRITE_VERSION = 18;

    @TempDir
    Path directory;

    private Path file;

    @BeforeEach
    void fill() {
        file = directory.resolve("chat.db");
        try (MessageLog log = SqliteMessageLog.open(file)) {
            log.append(KEY, batch("a"));
        }
    }

    @Test
    void a_directory_in_its_place_is_no_outage() {
        try (MessageLog log = SqliteMessageLog.open(directory)) {
            assertFinal(() -> log.append(KEY, batch("b")), "is a directory");
            assertFinal(() -> branch(log, KEY), "is a directory");
        }
    }

    @Test
    void a_file_of_another_program_is_used_with_a_warning() throws Exception {
        Path places = directory.resolve("places.db");
        try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + places);
                Statement statement = other.createStatement()) {
            statement.execute("CREATE TABLE moz_places (id INTEGER)");
        }
        List<String> lines = Logged.during(() -> {
            for (int i = 0; i < 2; i++) {
                try (MessageLog log = SqliteMessageLog.open(places)) {
                    log.append(KEY, batch("m" + i));
                }
            }
        });
        assertThat(lines)
                .singleElement()
                .asString()
                .contains("WARN", "SQLite file " + places + " also has moz_places of another program");
    }

    @Test
    void a_file_that_sqlite_takes_for_read_only_is_no_outage_and_once_mended_is_used_by_the_same_log()
            throws Exception {
        setWriteVersion(3);
        try (MessageLog log = SqliteMessageLog.open(file)) {
            for (int i = 0; i < 2; i++) {
                assertFinal(() -> log.append(KEY, batch("b")), "read-only");
                assertThat(branch(log, KEY)).containsExactly("a");
            }
            setWriteVersion(2);

            assertThat(log.append(KEY, batch("b")).head()).isEqualTo("b");
            assertThat(branch(log, KEY)).containsExactly("a", "b");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"r--r--r--", "---------"})
    void a_file_that_may_not_be_written_is_no_outage_and_once_it_may_is_used_by_the_same_log(String permissions)
            throws Exception {
        setPermissions(file, permissions);
        try (MessageLog log = SqliteMessageLog.open(file)) {
            if (Files.isWritable(file)) {
                assertIsUsed(log);
                return;
            }
            assertFinal(() -> log.append(KEY, batch("b")), "may not read and write it");
            setPermissions(file, "rw-r--r--");
            assertThat(log.append(KEY, batch("b")).head()).isEqualTo("b");
        }
    }

    @Test
    void a_directory_that_may_not_be_written_is_no_outage() throws Exception {
        setPermissions(directory, "r-xr-xr-x");
        try (MessageLog log = SqliteMessageLog.open(file)) {
            if (Files.isWritable(directory)) {
                assertIsUsed(log);
                return;
            }
            assertFinal(() -> log.append(KEY, batch("b")), "directory");
        } finally {
            setPermissions(directory, "rwxr-xr-x");
        }
    }

    /** Permissions bind no superuser, and the library adds no refusal of its own. */
    private static void assertIsUsed(MessageLog log) {
        assertThat(log.append(KEY, batch("b")).head()).isEqualTo("b");
    }

    private static void assertFinal(ThrowingCallable call, String reason) {
        assertThat(catchThrowable(call)).isInstanceOfSatisfying(KeepsakeException.class, error -> {
            assertThat(error.isRetryable()).as("%s", error).isFalse();
            assertThat(error).hasMessageContaining(KEY.canonical()).hasMessageContaining(reason);
        });
    }

    private void setWriteVersion(int version) throws Exception {
        try (RandomAccessFile header = new RandomAccessFile(file.toFile(), "rw")) {
            header.seek(WRITE_VERSION);
            header.write(version);
        }
    }

    private static void setPermissions(Path path, String permissions) throws Exception {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    }
}
