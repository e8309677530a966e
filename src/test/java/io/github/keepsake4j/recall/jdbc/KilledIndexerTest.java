package io.github.keepsake4j.recall.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.IndexingProcess;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.VectorProcess;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("landing")
class KilledIndexerTest {

    @TempDir
    Path directory;

    @Test
    void an_indexer_that_is_killed_again_and_again_leaves_the_rows_of_one_that_was_not() throws Exception {
        int kills = Counts.of(2, 50);
        Path chat = directory.resolve("chat.db");
        Path file = directory.resolve("killed.db");
        Random random = new Random(1);
        try (MessageLog log = SqliteMessageLog.open(chat)) {
            for (int i = 0; i < 3; i++) {
                log.append(
                        ConversationKey.of("acme", "memory" + i),
                        Append.underHead(IntStream.range(0, 60 * kills)
                                .mapToObj(number -> NewMessage.of(
                                        UserMessage.from("word w" + random.nextInt(50) + " number" + number),
                                        1,
                                        "test"))
                                .toArray(NewMessage[]::new)));
            }
            kill(kills, random, 3, () -> Child.start(IndexingProcess.class, chat, file));
            try (MessageIndex killed = JdbcMessageIndex.sqlite(file);
                    MessageIndex atOnce = JdbcMessageIndex.sqlite(directory.resolve("once.db"))) {
                IndexingProcess.index(log, killed);
                IndexingProcess.index(log, atOnce);
            }
        }
        List<String> rows = SqliteIndexFiles.rows(file);
        assertThat(rows).hasSizeGreaterThan(100).isEqualTo(SqliteIndexFiles.rows(directory.resolve("once.db")));
    }

    @Test
    void vectors_that_are_added_by_killed_processes_have_the_rows_of_one_that_was_not() throws Exception {
        int kills = Counts.of(2, 50);
        int messages = 60 * kills + 500;
        Path file = directory.resolve("killed.db");
        Random random = new Random(2);
        kill(kills, random, 8, () -> Child.start(VectorProcess.class, file, messages));
        try (MessageIndex killed = JdbcMessageIndex.sqlite(file);
                MessageIndex atOnce = JdbcMessageIndex.sqlite(directory.resolve("once.db"))) {
            VectorProcess.add(killed, messages, () -> {});
            VectorProcess.add(atOnce, messages, () -> {});
        }
        List<String> rows = SqliteIndexFiles.rows(file);
        assertThat(rows).hasSizeGreaterThan(8).isEqualTo(SqliteIndexFiles.rows(directory.resolve("once.db")));
    }

    /** Kills processes that add to an index, each after a few of its additions. */
    private static void kill(int kills, Random random, int most, Callable<Child> start) throws Exception {
        for (int kill = 0; kill < kills; kill++) {
            try (Child child = start.call()) {
                for (int lines = 1 + random.nextInt(most); lines > 0; lines--) {
                    assertThat(child.line()).isEqualTo("add");
                }
                child.kill();
            }
        }
    }
}
