package io.github.keepsake4j.recall.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.MessageVector;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.StoredFiles;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is removed from an index is in no row, and after it was compacted in no file. */
class ErasedFromIndexTest {

    private static final String SECRET = "qqsecret";

    /** In the components of vectors, which are stored as they are if the largest is 127. */
    private static final String MARKER = "qqmarker";

    @TempDir
    Path directory;

    private static void fill(MessageIndex index) {
        for (String name : List.of("stays", "goes")) {
            List<IndexedMessage> messages = new ArrayList<>();
            for (int i = 1; i <= 500; i++) {
                Map<String, Integer> terms = new HashMap<>(Map.of("shared", 1, "term" + i, 1));
                if (name.equals("goes")) {
                    terms.put(SECRET + i, 1);
                }
                messages.add(new IndexedMessage(i, ChatMessageType.USER, 3, terms));
            }
            MemoryKey key = ConversationKey.of("acme", "memory-that-" + name);
            index.add(key, null, new Watermark(1, 500), messages);
            String text = name.equals("goes") ? MARKER : "qqkept";
            addVectors(index, key, null, 1, text);
            addVectors(index, key, new VectorMark(1, 300, 1, 0), 301, text);
        }
    }

    private static void addVectors(
            MessageIndex index, MemoryKey key, @Nullable VectorMark before, int from, String text) {
        List<MessageVector> vectors = new ArrayList<>();
        for (int sequence = from; sequence < from + 300; sequence++) {
            float[] vector = new float[64];
            for (int i = 0; i < text.length(); i++) {
                vector[i] = text.charAt(i);
            }
            vector[63] = 127;
            vectors.add(new MessageVector(sequence, Instant.EPOCH, vector));
        }
        assertThat(index.addVectors("model", key, before, new VectorMark(1, from + 299, 1, 0), vectors))
                .isTrue();
    }

    private List<String> filesWith(String text) throws Exception {
        return StoredFiles.with(text, directory);
    }

    @Test
    void no_file_of_sqlite_has_a_term_of_a_removed_memory() throws Exception {
        try (MessageIndex index = JdbcMessageIndex.sqlite(directory.resolve("index.db"))) {
            fill(index);
            assertThat(filesWith(SECRET)).isNotEmpty();
            assertThat(filesWith(MARKER)).isNotEmpty();

            index.remove(ConversationKey.of("acme", "memory-that-goes"));
            index.compact();

            assertThat(filesWith(SECRET)).isEmpty();
            assertThat(filesWith(MARKER)).isEmpty();
            assertThat(filesWith("qqkept")).isNotEmpty();
            assertThat(filesWith("memory-that-goes")).isEmpty();
            assertThat(filesWith("memory-that-stays")).isNotEmpty();
        }
        assertThat(filesWith(SECRET)).isEmpty();
    }

    /** Has the lock that SQLite takes for a checkpoint, for a while. */
    static final class Checkpoint {

        /** The lock's byte of the shared memory, as in the documentation of its format. */
        private static final long BYTE = 121;

        public static void main(String[] arguments) throws Exception {
            try (FileChannel shared = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.WRITE)) {
                shared.lock(BYTE, 1, false);
                System.out.println("locked");
                Thread.sleep(500);
            }
        }
    }

    @Test
    void compacting_waits_for_a_checkpoint_that_runs() throws Exception {
        Path file = directory.resolve("index.db");
        try (MessageIndex index = JdbcMessageIndex.sqlite(file)) {
            fill(index);
            index.remove(ConversationKey.of("acme", "memory-that-goes"));
            try (Child other = Child.start(Checkpoint.class, file + "-shm")) {
                assertThat(other.line()).isEqualTo("locked");
                index.compact();
            }
        }
    }

    @Test
    void no_row_and_no_file_of_postgresql_has_a_term_of_a_removed_memory() throws Exception {
        DataSource source = Postgres.newest().kept(Postgres.newest().newDatabase());
        try (MessageIndex index = Postgres.index(source)) {
            fill(index);
            Path files = StoredFiles.ofDatabase(source);
            // As autovacuum does when it likes.
            Postgres.execute(source, "ANALYZE");
            Postgres.execute(source, "CHECKPOINT");
            assertThat(StoredFiles.with(SECRET, files)).isNotEmpty();
            assertThat(StoredFiles.with(MARKER, files)).isNotEmpty();

            index.remove(ConversationKey.of("acme", "memory-that-goes"));
            index.compact();

            // The files that were replaced are deleted then. The write-ahead log is no part of these.
            Postgres.execute(source, "CHECKPOINT");
            assertThat(StoredFiles.with(SECRET, files)).isEmpty();
            assertThat(StoredFiles.with(MARKER, files)).isEmpty();
            assertThat(StoredFiles.with("qqkept", files)).isNotEmpty();
            assertThat(StoredFiles.with("memory-that-goes", files)).isEmpty();
            assertThat(StoredFiles.with("memory-that-stays", files)).isNotEmpty();
        }
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        """
                        SELECT (SELECT COUNT(*) FROM keepsake_index_term WHERE term LIKE 'qqsecret%')
                             + (SELECT COUNT(*) FROM keepsake_index_posting WHERE term LIKE 'qqsecret%')
                             + (SELECT COUNT(*) FROM keepsake_index_memory WHERE conversation_id LIKE '%goes')
                             + (SELECT COUNT(*) FROM keepsake_index_vector WHERE position('qqmarker' IN vectors) > 0),
                               (SELECT COUNT(*) FROM keepsake_index_term),
                               (SELECT messages FROM keepsake_index_tenant)
                        """)) {
            assertThat(row.next()).isTrue();
            assertThat(row.getInt(1)).isZero();
            assertThat(row.getInt(2)).isEqualTo(501);
            assertThat(row.getInt(3)).isEqualTo(500);
        }
    }
}
