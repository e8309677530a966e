package io.github.keepsake4j.recall;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An index in SQLite of which one page after the other is zeroed: it says so or works, and can be made again. */
@Tag("landing")
class DamagedIndexTest {

    private static final int PAGE = 4_096;

    /** Long ids and long segments go over several pages, of which those behind the first have no form that SQLite checks. */
    private static final List<ConversationKey> CHATS = IntStream.range(0, 40)
            .mapToObj(i -> ConversationKey.of("acme", "c" + i + "-" + "x".repeat(200)))
            .toList();

    private static final ConversationKey LONG = ConversationKey.of("acme", "long");

    private static final String MODEL = "model 64";

    private static final float[] VECTOR = new float[64];

    static {
        Arrays.fill(VECTOR, 1);
    }

    private final MessageLog log = new InMemoryMessageLog();

    /** The file of a sound index of the log. */
    private byte[] sound = new byte[0];

    @TempDir
    Path directory;

    /** An index of the log, and what uses it. */
    private final class Use implements AutoCloseable {

        private final MessageIndex index;
        private final Indexer indexer;
        private final MessageSearch search;

        Use(Path file) {
            index = JdbcMessageIndex.sqlite(file);
            indexer = new Indexer(
                    index,
                    key -> log,
                    List.of(log),
                    Words.standard(),
                    task -> {},
                    pause -> task -> {},
                    new Indexer.Settings(
                            Duration.ofMillis(1), Duration.ofSeconds(30), 20, 1_024, Duration.ofSeconds(60)),
                    null);
            search = new MessageSearch(index, key -> log, Words.standard(), indexer, MessageSearch.MAX_POSTINGS);
            indexer.use("acme");
        }

        /** Indexes what the log has. */
        void catchUp() {
            indexer.sweep();
            indexer.drain();
        }

        void addVectors() {
            assertThat(index.addVectors(MODEL, CHATS.get(3), null, mark(20), vectors(20)))
                    .isTrue();
            assertThat(index.addVectors(MODEL, LONG, null, mark(5_000), vectors(5_000)))
                    .isTrue();
        }

        List<Long> found() {
            List<Long> found = new ArrayList<>();
            for (Scope scope : List.of(Scope.tenant("acme"), Scope.memory(CHATS.get(3)), Scope.memory(LONG))) {
                search.search(scope, "cat dog v3", SearchOptions.standard())
                        .hits()
                        .forEach(hit -> found.add(hit.message().sequence()));
            }
            return found;
        }

        /** Makes each call, those that only read first. */
        void call(Map<String, Integer> outcomes) {
            count(outcomes, "tenants", index::tenants);
            count(outcomes, "watermarks", () -> index.watermarks(CHATS));
            count(outcomes, "memories", () -> index.memories("acme", 0, 100));
            count(outcomes, "keys", () -> index.keys(List.of(1L, 2L, 30L, 41L)));
            List<String> terms = List.of("cat", "v3", "dog", "w7");
            count(outcomes, "match", () -> index.match(Scope.tenant("acme"), terms, 100_000));
            count(outcomes, "match memories", () -> index.match(Scope.memories(CHATS), terms, 100_000));
            count(outcomes, "search", this::found);
            count(outcomes, "open", () -> index.open(Words.standard().fingerprint()));
            List<IndexedMessage> one = List.of(new IndexedMessage(21, ChatMessageType.USER, 1, Map.of("cat", 1)));
            count(
                    outcomes,
                    "add",
                    () -> index.add(
                            CHATS.get(3), new MessageIndex.Watermark(1, 20), new MessageIndex.Watermark(1, 21), one));
            ConversationKey fresh = ConversationKey.of("acme", "fresh");
            count(outcomes, "add new", () -> index.add(fresh, null, new MessageIndex.Watermark(1, 21), one));
            count(outcomes, "marks", () -> index.vectorMarks(MODEL, CHATS));
            MessageIndex.CosineReader reader = (key, sequence, time, cosine) -> {};
            count(
                    outcomes,
                    "cosines",
                    () -> index.cosines(MODEL, Scope.tenant("acme"), VECTOR, 100_000, Map.of(), reader));
            Map<MemoryKey, List<Long>> some = Map.of(LONG, List.of(1L, 3_000L));
            count(outcomes, "cosines of some", () -> index.cosines(MODEL, Scope.memory(LONG), VECTOR, 1, some, reader));
            count(
                    outcomes,
                    "add vectors",
                    () -> index.addVectors(MODEL, CHATS.get(3), mark(20), mark(140), vectors(40)));
            count(outcomes, "sweep", this::catchUp);
            count(outcomes, "remove", () -> index.remove(CHATS.get(5)));
            count(outcomes, "compact", index::compact);
        }

        @Override
        public void close() {
            index.close();
        }
    }

    private static void count(Map<String, Integer> outcomes, String name, ThrowingCallable call) {
        String outcome = "works";
        try {
            call.call();
        } catch (UnreadableDataException e) {
            assertThat(e).hasMessageContaining("clear()");
            outcome = "says so";
        } catch (Throwable e) {
            throw new AssertionError(name + " throws " + e, e);
        }
        outcomes.merge(name + " " + outcome, 1, Integer::sum);
    }

    @BeforeEach
    void make() throws Exception {
        for (int i = 0; i < CHATS.size(); i++) {
            int chat = i;
            say(CHATS.get(i), 20, n -> "cat w" + chat + " v" + n);
        }
        say(LONG, 5_000, n -> "dog w" + n % 100);
        Path file = directory.resolve("sound.db");
        try (Use use = new Use(file)) {
            use.catchUp();
            use.addVectors();
        }
        sound = Files.readAllBytes(file);
    }

    @AfterEach
    void close() {
        log.close();
    }

    private static MessageIndex.VectorMark mark(long sequence) {
        return new MessageIndex.VectorMark(1, sequence, 1, 0);
    }

    /** Vectors of the last 20 messages of a block, or of all of many blocks. */
    private static List<MessageIndex.MessageVector> vectors(int last) {
        return IntStream.rangeClosed(last > 1_000 ? 1 : last - 19, last)
                .mapToObj(sequence -> new MessageIndex.MessageVector(sequence, Instant.EPOCH, VECTOR))
                .toList();
    }

    private void say(ConversationKey key, int messages, IntFunction<String> text) {
        log.append(
                key,
                Append.underHead(IntStream.rangeClosed(1, messages)
                        .mapToObj(n -> NewMessage.of(UserMessage.from(text.apply(n)), 1, "test"))
                        .toArray(NewMessage[]::new)));
    }

    @Test
    @ExpectedLog(maybe = "damaged SQLite file")
    void every_call_on_a_damaged_file_says_so_or_works_and_clear_makes_it_usable_again() throws Exception {
        List<Long> expected;
        try (Use use = new Use(directory.resolve("sound.db"))) {
            expected = use.found();
            assertThat(expected).hasSizeGreaterThan(10);
        }
        Map<String, Integer> outcomes = new TreeMap<>();
        int pages = sound.length / PAGE;
        for (int page = 0; page < pages; page += Counts.of(17, 1)) {
            for (boolean isOpen : new boolean[] {false, true}) {
                Path file = directory.resolve("page" + page + isOpen + ".db");
                Files.write(file, isOpen ? sound : zeroed(page));
                try (Use use = new Use(file)) {
                    if (isOpen) {
                        use.found();
                        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                            channel.write(ByteBuffer.allocate(PAGE), (long) page * PAGE);
                        }
                    }
                    use.call(outcomes);
                    use.index.clear();
                    assertThat(use.index.tenants()).isEmpty();
                    use.index.compact();
                    use.catchUp();
                    assertThat(use.found()).as("after page %d", page).isEqualTo(expected);
                }
            }
        }
        assertThat(outcomes.keySet()).anyMatch(outcome -> outcome.endsWith("says so"));
    }

    @Test
    @ExpectedLog("damaged SQLite file")
    void others_that_use_the_file_go_on_with_the_new_one() throws Exception {
        Path file = directory.resolve("shared.db");
        Files.write(file, zeroed(0));
        try (Use other = new Use(file);
                Use use = new Use(file)) {
            use.index.clear();
            use.catchUp();
            assertThat(other.found()).isEqualTo(use.found()).isNotEmpty();
            Files.write(file, zeroed(0));
            use.index.clear();
            assertThat(other.index.tenants()).isEmpty();
            other.catchUp();
            assertThat(use.found()).isEqualTo(other.found()).isNotEmpty();
        }
    }

    /** The index names a file of its own. Tables of others that were put into it are not the index's to move. */
    @Test
    void a_damaged_file_with_tables_of_others_is_left_as_it_is() throws Exception {
        Path file = directory.resolve("both.db");
        Files.write(file, sound);
        try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = other.createStatement()) {
            statement.execute("CREATE TABLE other AS SELECT 'kept' AS text");
        }
        byte[] bytes = Files.readAllBytes(file);
        Arrays.fill(bytes, 30 * PAGE, 60 * PAGE, (byte) 0);
        Files.write(file, bytes);
        try (Use use = new Use(file)) {
            assertThrown(UnreadableDataException.class, use.index::clear, "contains more than the index");
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(bytes);
        try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = other.createStatement();
                ResultSet rows = statement.executeQuery("SELECT text FROM other")) {
            assertThat(rows.getString(1)).isEqualTo("kept");
        }
    }

    private byte[] zeroed(int page) {
        byte[] bytes = sound.clone();
        Arrays.fill(bytes, page * PAGE, (page + 1) * PAGE, (byte) 0);
        return bytes;
    }
}
