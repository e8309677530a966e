package io.github.keepsake4j.log.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One SQLite file, several processes, and some of them killed. */
@Tag("landing")
@Timeout(600)
class SqliteProcessesTest {

    private static final int PROCESSES = 2;
    private static final int THREADS = 8;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"log", "chat"})
    void two_processes_of_eight_threads_lose_and_double_nothing(String what) throws Exception {
        int count = Counts.of(25, 500);
        try (Child child = Child.start(SqliteWriter.class, file(), what, "p0", THREADS, count)) {
            // The other process is this one, which begins when the child writes.
            assertThat(child.line()).startsWith("p0-");
            SqliteWriter.write(file(), what, "p1", THREADS, count, text -> {});
            assertThat(child.awaitEnd()).hasSize(THREADS * count - 1);
        }

        try (MessageLog log = SqliteMessageLog.open(file())) {
            List<String> texts = texts(history(log));
            assertThat(texts).hasSize(PROCESSES * THREADS * count).doesNotHaveDuplicates();
            assertOwnOrder(texts, count);
            assertThat(log.branches(SqliteWriter.KEY)).hasSize(1);
            assertThat(texts(log.read(SqliteWriter.KEY, ReadQuery.wholeBranch()).messages()))
                    .isEqualTo(texts);
            Tell.line("%s: %d messages of %d writers, none lost or doubled", what, texts.size(), 16);
        }
    }

    @Test
    void what_was_acknowledged_survives_a_kill_and_batches_are_whole() throws Exception {
        int kills = Counts.of(2, 50);
        List<String> acknowledged = new ArrayList<>();
        for (int kill = 0; kill < kills; kill++) {
            try (Child child = Child.start(SqliteWriter.class, file(), "batches", "k" + kill, 4, 1_000_000)) {
                // Some way into its work, each time another.
                for (int i = 0; i < 5 + kill; i++) {
                    acknowledged.add(child.line());
                }
                acknowledged.addAll(whole(child.kill()));
            }
        }

        try (MessageLog log = SqliteMessageLog.open(file())) {
            List<LoggedMessage> all = history(log);
            Map<String, Long> parts =
                    texts(all).stream().collect(Collectors.groupingBy(text -> text, Collectors.counting()));
            assertThat(parts.values()).as("parts of each batch").containsOnly((long) SqliteWriter.BATCH);
            assertThat(parts.keySet()).as("batches that are there").containsAll(acknowledged);
            assertThat(all).extracting(LoggedMessage::id).doesNotHaveDuplicates();
            assertThat(log.branches(SqliteWriter.KEY)).hasSize(1);
            Tell.line(
                    "%d kills: %d batches acknowledged, all there; %d more were stored whole",
                    kills, acknowledged.size(), parts.size() - acknowledged.size());
        }
    }

    /** SQLite answers BUSY at once, whatever the time-out, when a file cannot be switched to WAL. */
    @Test
    void a_new_file_that_another_writer_just_writes_to_is_waited_for() throws Exception {
        try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file());
                Statement statement = other.createStatement();
                MessageLog log = SqliteMessageLog.open(file())) {
            statement.execute("BEGIN IMMEDIATE");
            statement.execute("CREATE TABLE theirs (id INTEGER)");
            Thread writer = new Thread(() -> log.append(
                    SqliteWriter.KEY, Append.underHead(new NewMessage("m", UserMessage.from("m"), 1, "none", null))));
            writer.start();
            await().until(() ->
                    writer.getState() == Thread.State.TIMED_WAITING || writer.getState() == Thread.State.TERMINATED);
            statement.execute("COMMIT");
            writer.join();

            assertThat(history(log)).hasSize(1);
        }
    }

    /** The last line may have been cut by the kill. */
    private static List<String> whole(List<String> lines) {
        return lines.stream()
                .filter(line -> line.matches("k\\d+-\\d-\\d+"))
                .limit(Math.max(0, lines.size() - 1L))
                .toList();
    }

    private static void assertOwnOrder(List<String> texts, int count) {
        Map<String, Integer> next = new HashMap<>();
        for (String text : texts) {
            int dash = text.lastIndexOf('-');
            int expected = next.merge(text.substring(0, dash), 1, Integer::sum) - 1;
            assertThat(Integer.parseInt(text.substring(dash + 1))).isEqualTo(expected);
        }
        assertThat(next).hasSize(PROCESSES * THREADS);
        assertThat(next.values()).containsOnly(count);
    }

    private static List<LoggedMessage> history(MessageLog log) {
        List<LoggedMessage> all = new ArrayList<>();
        HistoryPage page = log.history(SqliteWriter.KEY, HistoryQuery.oldest(1000));
        all.addAll(page.messages());
        while (page.next().isPresent()) {
            page = log.history(SqliteWriter.KEY, page.next().get());
            all.addAll(page.messages());
        }
        return all;
    }

    private static List<String> texts(List<LoggedMessage> messages) {
        return messages.stream()
                .map(logged -> ((UserMessage) logged.message()).singleText())
                .toList();
    }

    private Path file() {
        return directory.resolve("chat.db");
    }
}
