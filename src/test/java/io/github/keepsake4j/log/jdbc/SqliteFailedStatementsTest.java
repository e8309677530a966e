package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.log.LogTesting.ids;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Logs;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A statement that fails once is kept by no connection: the calls that follow are as if it had not been. */
class SqliteFailedStatementsTest {

    private static final int PAGE = 4096;
    private static final MemoryKey DAMAGED = ConversationKey.of("acme", "damaged");

    @TempDir
    Path directory;

    @Test
    void a_damaged_memory_stops_no_call_to_another_one() throws Exception {
        Path file = directory.resolve("chat.db");
        try (MessageLog log = SqliteMessageLog.open(file)) {
            log.append(DAMAGED, Append.underHead(LogTesting.message("big", UserMessage.from("x".repeat(100_000)), 1)));
            log.append(KEY, batch("a", "b"));
        }
        Files.write(file, withoutEndOfLongText(Files.readAllBytes(file)));

        try (MessageLog log = SqliteMessageLog.open(file)) {
            assertThatThrownBy(() -> log.read(DAMAGED, ReadQuery.newest(5)))
                    .isInstanceOf(UnreadableDataException.class);
            assertThatThrownBy(() -> Logs.find(log, DAMAGED, List.of("big")))
                    .isInstanceOf(UnreadableDataException.class);
            assertThatThrownBy(() -> log.history(DAMAGED, HistoryQuery.newest(5)))
                    .isInstanceOf(UnreadableDataException.class);
            assertThatThrownBy(() -> log.append(DAMAGED, batch("big"))).isInstanceOf(UnreadableDataException.class);

            assertThat(branch(log, KEY)).containsExactly("a", "b");
            assertThat(ids(Logs.find(log, KEY, List.of("b")))).containsExactly("b");
            assertThat(ids(log.history(KEY, HistoryQuery.newest(5)).messages())).containsExactly("a", "b");
            assertThat(log.append(KEY, batch("b")).replayed()).isTrue();
            assertThat(log.append(KEY, batch("c")).head()).isEqualTo("c");
        }
    }

    @Test
    void a_table_that_comes_back_is_used_again() throws Exception {
        Path file = directory.resolve("chat.db");
        try (MessageLog log = SqliteMessageLog.open(file)) {
            log.append(KEY, batch("a"));
            assertThat(branch(log, KEY)).containsExactly("a");
            execute(file, "ALTER TABLE keepsake_message RENAME TO away");
            assertThatThrownBy(() -> log.append(KEY, batch("b"))).isInstanceOf(UnreadableDataException.class);
            assertThatThrownBy(() -> branch(log, KEY)).isInstanceOf(UnreadableDataException.class);
            execute(file, "ALTER TABLE away RENAME TO keepsake_message");

            assertThat(log.append(KEY, batch("b")).replayed()).isFalse();
            assertThat(branch(log, KEY)).containsExactly("a", "b");
        }
    }

    /** Breaks the chain of pages that hold a long text: each begins with the number of the next. */
    private static byte[] withoutEndOfLongText(byte[] file) {
        int broken = 0;
        for (int page = 0; page < file.length; page += PAGE) {
            String text = new String(file, page + 4, 100, StandardCharsets.ISO_8859_1);
            if (text.equals("x".repeat(100))) {
                file[page] = 0x7f;
                broken++;
            }
        }
        assertThat(broken).isGreaterThan(2);
        return file;
    }

    private static void execute(Path file, String sql) throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
