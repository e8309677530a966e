package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A SQLite file that is removed, moved or replaced while a log has it open: nothing is appended to a file without a name. */
class SqliteRemovedFileTest {

    @TempDir
    Path directory;

    private Path file;
    private MessageLog log;

    @BeforeEach
    void open() {
        file = directory.resolve("chat.db");
        log = SqliteMessageLog.open(file);
        log.append(KEY, batch("a"));
    }

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void while_it_is_away_each_call_fails_and_when_it_is_back_calls_go_on() throws Exception {
        move("chat.db", "away.db");
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> log.append(KEY, batch("b")))
                    .isInstanceOf(StorageUnavailableException.class)
                    .hasMessageContaining(KEY.toString())
                    .hasMessageContaining("put it back");
            assertThatThrownBy(() -> branch(log, KEY)).isInstanceOf(StorageUnavailableException.class);
        }
        assertThat(file).doesNotExist();
        move("away.db", "chat.db");

        assertThat(log.append(KEY, batch("b")).replayed()).isFalse();
        try (MessageLog other = SqliteMessageLog.open(file)) {
            assertThat(branch(other, KEY)).containsExactly("a", "b");
        }
    }

    @Test
    void what_is_appended_after_another_process_has_made_a_new_one_is_in_the_new_one() throws Exception {
        for (String suffix : new String[] {"", "-wal", "-shm"}) {
            Files.deleteIfExists(directory.resolve("chat.db" + suffix));
        }
        try (MessageLog other = SqliteMessageLog.open(file)) {
            other.append(KEY, batch("c"));
            log.append(KEY, batch("d"));
            assertThat(branch(other, KEY)).containsExactly("c", "d");
            log.close();
            assertThat(branch(other, KEY)).containsExactly("c", "d");
            assertThat(other.check(KEY)).isEmpty();
        }
    }

    private void move(String from, String to) throws IOException {
        Files.move(directory.resolve(from), directory.resolve(to));
    }
}
