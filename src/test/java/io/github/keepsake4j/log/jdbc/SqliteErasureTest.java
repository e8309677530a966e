package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.SECRET;
import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.StoredFiles;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is erased in a SQLite file leaves its write-ahead log soon, whoever else uses the file. */
@Timeout(120)
class SqliteErasureTest {

    private static final MemoryKey OTHER = ConversationKey.of("acme", "other");

    @TempDir
    Path directory;

    private Path file() {
        return directory.resolve("log.db");
    }

    private List<String> filesWithSecret() throws Exception {
        return StoredFiles.with(SECRET, directory);
    }

    @Test
    void a_reader_delays_the_end_of_erased_text_and_no_call() throws Exception {
        try (MessageLog log = SqliteMessageLog.open(file());
                Connection other = DriverManager.getConnection("jdbc:sqlite:" + file());
                Statement statement = other.createStatement()) {
            log.append(KEY, batch("a"));
            statement.execute("BEGIN");
            try (ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM keepsake_message")) {
                assertThat(row.next()).isTrue();
            }

            log.erase(KEY);
            // Its reader still sees it, so it cannot go.
            for (int i = 0; i < 50; i++) {
                Logs.setTitle(log, OTHER, "title " + i);
            }
            assertThat(filesWithSecret()).contains("log.db-wal");

            statement.execute("COMMIT");
            await().untilAsserted(() -> assertThat(filesWithSecret()).isEmpty());
            log.append(KEY, batch("b"));
        }
    }

    @Test
    void a_process_that_was_killed_behind_an_erasure_leaves_it_to_the_next_one() throws Exception {
        try (Child child = Child.start(Eraser.class, file())) {
            assertThat(child.line()).isEqualTo("erased");
            child.kill();
        }
        assertThat(filesWithSecret()).contains("log.db-wal");

        try (MessageLog log = SqliteMessageLog.open(file())) {
            Logs.setTitle(log, OTHER, "title");
            await().untilAsserted(() -> assertThat(filesWithSecret()).isEmpty());
        }
    }

    @Tag("landing")
    @Test
    void two_processes_that_write_lose_nothing_while_one_erases() throws Exception {
        try (Child child = Child.start(SqliteWriter.class, file(), "log", "p", 2, 200);
                MessageLog log = SqliteMessageLog.open(file())) {
            assertThat(child.line()).isNotNull();
            for (int i = 0; i < 20; i++) {
                log.append(KEY, batch("a" + i));
                log.erase(KEY);
            }
            assertThat(child.awaitEnd()).hasSize(2 * 200 - 1);
            await().untilAsserted(() -> assertThat(filesWithSecret()).isEmpty());
            assertThat(LogTesting.branch(log, SqliteWriter.KEY)).hasSize(2 * 200);
        }
    }

    @Test
    void a_close_waits_for_the_end_of_erased_text_while_another_process_has_the_file_open() throws Exception {
        try (MessageLog other = SqliteMessageLog.open(file())) {
            try (MessageLog log = SqliteMessageLog.open(file())) {
                log.append(KEY, batch("a"));
                assertThat(LogTesting.branch(other, KEY)).containsExactly("a");
                log.erase(KEY);
            }
            assertThat(filesWithSecret()).isEmpty();
        }
    }

    /** A process that erases, and is killed. */
    static final class Eraser {

        private Eraser() {}

        public static void main(String[] arguments) throws Exception {
            Path file = Path.of(arguments[0]);
            MessageLog log = SqliteMessageLog.open(file);
            log.append(KEY, batch("a"));
            try (Connection reader = DriverManager.getConnection("jdbc:sqlite:" + file);
                    Statement statement = reader.createStatement()) {
                statement.execute("BEGIN");
                statement.executeQuery("SELECT COUNT(*) FROM keepsake_message").close();
                // The reader keeps the write-ahead log until the process is killed.
                log.erase(KEY);
                System.out.println("erased");
                Thread.sleep(60_000);
            }
        }
    }
}
