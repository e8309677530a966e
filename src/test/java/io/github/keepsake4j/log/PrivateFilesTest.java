package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the library makes is for its owner alone. */
@Tag("posix")
class PrivateFilesTest {

    private static final ConversationKey KEY = ConversationKey.of("acme", "42");

    @TempDir
    Path directory;

    @Test
    void all_files_of_a_log_in_files_are_its_owners_alone() throws IOException {
        Path root = directory.resolve("chats");
        try (MessageLog log = FileMessageLog.in(root)) {
            log.append(KEY, batch("a"));
            log.acquireLease(KEY, "work", "me", Duration.ofHours(1));
            log.append(ConversationKey.of("acme", "gone"), batch("a"));
            log.erase(ConversationKey.of("acme", "gone"));
            log.list("acme", ListQuery.first(9));
        }
        assertThat(rights(root)).hasSizeGreaterThan(5).allMatch(right -> right.matches("(d rwx|f rw-)------ .*"));
    }

    @Test
    void a_sqlite_file_and_the_files_beside_it_are_its_owners_alone() throws IOException {
        try (MessageLog log = SqliteMessageLog.open(directory.resolve("chat.db"))) {
            log.append(KEY, batch("a"));
            assertThat(rights(directory))
                    .filteredOn(right -> right.contains("chat.db"))
                    .hasSize(3)
                    .allMatch(right -> right.startsWith("f rw-------"));
        }
    }

    @Test
    void a_search_index_in_a_file_is_its_owners_alone() throws IOException {
        MessageIndex index = JdbcMessageIndex.sqlite(directory.resolve("index.db"));
        try {
            index.open("words");
            assertThat(rights(directory))
                    .filteredOn(right -> right.contains("index.db"))
                    .isNotEmpty()
                    .allMatch(right -> right.startsWith("f rw-------"));
        } finally {
            index.close();
        }
    }

    private static List<String> rights(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.map(PrivateFilesTest::right).toList();
        }
    }

    private static String right(Path path) {
        try {
            return (Files.isDirectory(path) ? "d " : "f ")
                    + PosixFilePermissions.toString(Files.getPosixFilePermissions(path)) + " " + path.getFileName();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
