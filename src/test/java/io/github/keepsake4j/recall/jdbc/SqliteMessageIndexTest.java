package io.github.keepsake4j.recall.jdbc;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.MessageIndexContract;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqliteMessageIndexTest extends MessageIndexContract {

    @TempDir
    Path directory;

    @Override
    protected MessageIndex newIndex() {
        return JdbcMessageIndex.sqlite(directory.resolve("index.db"));
    }

    @Override
    protected MessageIndex sameIndex() {
        return newIndex();
    }

    @ParameterizedTest
    @CsvSource({"SQLite format 3,clear()", "no database,is not a SQLite database; choose another path"})
    void a_file_that_cannot_be_read_says_what_to_do_and_stays(String begin, String advice) throws Exception {
        Path file = directory.resolve("damaged.db");
        String content = begin + "\0" + "no page ".repeat(1_000);
        Files.writeString(file, content);
        try (MessageIndex damaged = JdbcMessageIndex.sqlite(file)) {
            assertThrown(UnreadableDataException.class, damaged::tenants, advice);
        }
        assertThat(file).hasContent(content);
    }

    @Test
    void a_new_file_can_be_opened_by_many_at_the_same_moment() throws Exception {
        int many = 8;
        ExecutorService executor = Executors.newFixedThreadPool(many);
        for (int round = 0; round < 30; round++) {
            Path file = directory.resolve("new" + round + ".db");
            CyclicBarrier start = new CyclicBarrier(many);
            Callable<List<String>> open = () -> {
                start.await();
                try (MessageIndex own = JdbcMessageIndex.sqlite(file)) {
                    return own.tenants();
                }
            };
            for (Future<List<String>> opened : executor.invokeAll(Collections.nCopies(many, open))) {
                assertThat(opened.get()).isEmpty();
            }
        }
        executor.shutdown();
    }

    @Test
    void nothing_is_added_to_what_another_process_cleared_and_made_with_other_words() throws Exception {
        index.open("ours");
        try (MessageIndex other = sameIndex()) {
            other.clear();
            other.open("theirs");
        }
        MemoryKey key = ConversationKey.of("acme", "one");
        List<IndexedMessage> messages = List.of(new IndexedMessage(1, ChatMessageType.USER, 1, Map.of("cat", 1)));
        assertThrown(KeepsakeException.class, () -> index.add(key, null, new Watermark(1, 1), messages), "clear()");
        assertThat(index.watermarks(List.of(key))).isEmpty();
    }
}
