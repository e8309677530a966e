package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.MessageLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the guide says of backups of a SQLite file. */
class SqliteBackupTest {

    @TempDir
    Path directory;

    @Test
    void a_backup_by_vacuum_into_has_every_message_while_the_log_is_open_and_a_copied_file_may_have_none()
            throws Exception {
        Path file = directory.resolve("chat.db");
        Path backup = directory.resolve("backup.db");
        Path copy = directory.resolve("copy.db");
        try (MessageLog log = SqliteMessageLog.open(file)) {
            for (int i = 0; i < 50; i++) {
                log.append(KEY, batch("m" + i));
            }
            try (Connection client = DriverManager.getConnection("jdbc:sqlite:" + file);
                    Statement statement = client.createStatement()) {
                statement.execute("VACUUM INTO '" + backup + "'");
            }
            Files.copy(file, copy);
            log.append(KEY, batch("later"));

            assertThat(messages(backup)).isEqualTo(50);
            assertThat(messages(copy)).isZero();
            assertThat(branch(log, KEY)).hasSize(51);
        }
    }

    private static int messages(Path file) {
        try (MessageLog log = SqliteMessageLog.open(file)) {
            assertThat(log.check(KEY)).isEmpty();
            return branch(log, KEY).size();
        }
    }
}
