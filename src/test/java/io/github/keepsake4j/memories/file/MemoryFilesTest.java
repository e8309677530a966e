package io.github.keepsake4j.memories.file;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.memories.Discussion;
import io.github.keepsake4j.memories.DiscussionConfig;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.FactQuery;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.MadeMemory.Status;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.SourceMessage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Postgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files as other programs see them, and what is left of them after an erasure. */
class MemoryFilesTest {

    private static final MemoryKey KEY = ConversationKey.of("ada", "chat");
    private static final MemoryKey SECRET_KEY = ConversationKey.of("ada", "QQsecret/chat");

    @TempDir
    Path directory;

    private static List<SourceMessage> talk(int messages) {
        return IntStream.rangeClosed(1, messages)
                .mapToObj(i -> SourceMessage.of(
                        i % 2 == 1 ? UserMessage.from("qqsecret question " + i) : AiMessage.from("answer " + i)))
                .toList();
    }

    private static Discussion discussion(LongTermMemoryStore store, MemoryKey key, boolean facts) {
        return Discussions.builder(store)
                .config(DiscussionConfig.ofJson("{\"lookbackStartTurn\":0,\"minMemoriesPerSummary\":1,"
                        + "\"useVectorForQualityMemory\":" + facts
                        + ",\"fileMemoryWorkflowName\":\"w\",\"vectorMemoryWorkflowName\":\"w\","
                        + "\"chatSummaryWorkflowName\":\"s\"}"))
                .workflow(
                        "w",
                        any -> facts
                                ? "[{\"title\":\"Rome qqsecret\",\"summary\":\"The hotels were booked"
                                        + " qqsecret.\",\"entities\":[\"Ada\",\"qqsecretson\"],\"key_phrases\":[\"grand"
                                        + " tour\"]},{\"title\":\"Food\",\"summary\":\"Pasta in Rome is good, and so is"
                                        + " all that they cook.\",\"entities\":[],\"key_phrases\":[]}]"
                                : "chunk qqsecret")
                .workflow("s", any -> "summary qqsecret")
                .build()
                .discussion(key);
    }

    private static String sha256(String text) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    @Tag("posix")
    void all_files_are_their_owners_alone() throws Exception {
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory.resolve("memories"))) {
            Discussion discussion = discussion(store, KEY, false);
            discussion.qualityMemory(talk(10));
            discussion.updateSummary();
            try (Stream<Path> files = Files.walk(directory.resolve("memories"))) {
                assertThat(files).hasSizeGreaterThan(3).allMatch(file -> right(file)
                        .equals(Files.isDirectory(file) ? "rwx------" : "rw-------"));
            }
        }
    }

    /** Each page of the facts is zeroed once. They are made by a model, so the file is never replaced. */
    @Test
    void every_call_on_damaged_facts_says_so_or_works() throws Exception {
        Path file = directory.resolve("ada/chat_vector_memory.db");
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            for (int i = 1; i <= 30; i++) {
                Passage source = new Passage(List.of("m" + i), 1, "h" + i, "h" + (i - 1), "h" + i);
                String summary = ("Hotel " + i + " in Rome ").repeat(i % 3 == 0 ? 500 : 5);
                MadeMemory fact =
                        MadeMemory.fact("Title " + i, summary, List.of("Ada" + i), List.of("tour"), source, Trust.USER);
                assertThat(store.add(KEY, MadeMemory.Kind.FACT, i - 1, source, List.of(fact)))
                        .isTrue();
            }
        }
        byte[] sound = Files.readAllBytes(file);
        int pages = sound.length / 4_096;
        int damaged = 0;
        for (int page = 0; page < pages; page += Counts.of(5, 1)) {
            byte[] bytes = sound.clone();
            Arrays.fill(bytes, page * 4_096, (page + 1) * 4_096, (byte) 0);
            for (Consumer<LongTermMemoryStore> call : List.<Consumer<LongTermMemoryStore>>of(
                    store -> store.facts(KEY, 100),
                    store -> store.search(KEY, FactQuery.of("hotel rome")),
                    store -> store.progress(KEY, MadeMemory.Kind.FACT),
                    store -> store.overview(KEY, 10, Trust.USER),
                    store -> store.find(KEY, "none"),
                    store -> store.facts(KEY, 3).forEach(fact -> store.put(KEY, fact.withStatus(Status.FORGOTTEN))),
                    store -> store.moveTo(KEY, MadeMemory.Kind.FACT, 30, 15),
                    store -> store.add(
                            KEY,
                            MadeMemory.Kind.FACT,
                            30,
                            Passage.NONE,
                            List.of(MadeMemory.fact("New", "New", List.of(), List.of(), Passage.NONE, Trust.USER))))) {
                Files.write(file, bytes);
                try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
                    call.accept(store);
                } catch (UnreadableDataException e) {
                    damaged++;
                }
            }
        }
        assertThat(damaged).isPositive();
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            store.erase(KEY);
            assertThat(store.facts(KEY, 100)).isEmpty();
        }
    }

    private static String right(Path file) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void b4_a_program_that_knows_only_texts_and_hashes_reads_the_ledger_and_the_summary() throws Exception {
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            Discussion discussion = discussion(store, KEY, false);
            discussion.qualityMemory(talk(10));
            discussion.updateSummary();
        }
        ObjectMapper mapper = new ObjectMapper();
        List<JsonNode> lines = new ArrayList<>();
        for (String line : Files.readAllLines(directory.resolve("ada/chat_memories.jsonl"))) {
            lines.add(mapper.readTree(line));
        }
        assertThat(lines).extracting(line -> line.get("text_block").asText()).containsOnly("chunk qqsecret");
        assertThat(lines.get(lines.size() - 1).get("hash").asText()).isEqualTo(sha256("answer 10"));
        List<String> summary = Files.readAllLines(directory.resolve("ada/chat_summary.jsonl"));
        assertThat(summary).hasSize(1);
        assertThat(mapper.readTree(summary.get(0)).get("text_block").asText()).isEqualTo("summary qqsecret");
        assertThat(mapper.readTree(summary.get(0)).get("hash").asText())
                .as("that of the last chunk in it")
                .isEqualTo(lines.get(lines.size() - 1).get("hash").asText());
    }

    /** Makes five chunks, m1 to m5. The second and the fourth one fail once. */
    private Discussion fiveChunks(LongTermMemoryStore store) {
        int[] calls = {0};
        Discussion discussion = Discussions.builder(store)
                .config(DiscussionConfig.ofJson("{\"lookbackStartTurn\":0,\"fileMemoryWorkflowName\":\"w\"}"))
                .workflow("w", inputs -> {
                    calls[0]++;
                    return calls[0] == 2 || calls[0] == 5
                            ? " "
                            : "m" + (store.chunks(KEY, 9).size() + 1);
                })
                .build()
                .discussion(KEY);
        for (int messages = 5; messages <= 25; messages += 5) {
            int failed = messages == 10 || messages == 20 ? 1 : 0;
            for (int attempt = 0; attempt <= failed; attempt++) {
                discussion.qualityMemory(talk(messages));
            }
        }
        assertThat(calls[0]).isEqualTo(7);
        return discussion;
    }

    /** Reads a ledger as the retriever of WilmerAI's guide does: the text of each line, whatever else is in it. */
    private List<String> firstFive() throws IOException {
        List<String> texts = new ArrayList<>();
        for (String line : Files.readAllLines(directory.resolve("ada/chat_memories.jsonl"))) {
            texts.add(new ObjectMapper().readTree(line).get("text_block").asText());
        }
        return texts.subList(0, Math.min(5, texts.size()));
    }

    @Test
    void b4_a_ledger_has_one_line_for_each_chunk_whatever_failed_or_was_switched_between() throws Exception {
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            Discussion discussion = fiveChunks(store);
            assertThat(String.join("--ChunkBreak--", firstFive()))
                    .isEqualTo("m1--ChunkBreak--m2--ChunkBreak--m3--ChunkBreak--m4--ChunkBreak--m5");
            List<SourceMessage> other = new ArrayList<>(talk(12));
            other.set(6, SourceMessage.of(UserMessage.from("edited")));
            discussion.qualityMemory(other);
            discussion.qualityMemory(talk(25));
            assertThat(store.chunks(KEY, 9)).extracting(MadeMemory::text).containsExactly("m1", "m2", "m3", "m4", "m5");
            assertThat(firstFive()).containsExactly("m1", "m2", "m3", "m4", "m5");
            assertThat(Files.readAllLines(directory.resolve("ada/chat_memories.jsonl")))
                    .as("the chunk of the other branch is the last one")
                    .hasSize(6);
        }
    }

    /** A process that dies while it writes a move or a failed try leaves what was there before. */
    @Test
    void b4_moves_and_failed_tries_that_are_cut_at_any_byte_are_as_if_they_were_never_written() throws Exception {
        Path moves = directory.resolve("ada/chat_memories.moves.jsonl");
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            fiveChunks(store);
            byte[] tries = Files.readAllBytes(moves);
            long failed = store.progress(KEY, MadeMemory.Kind.CHUNK).revision();
            store.moveTo(KEY, MadeMemory.Kind.CHUNK, failed, 2);
            byte[] all = Files.readAllBytes(moves);
            Passage next = new Passage(List.of(), 1, "h", "e2", "e3");
            for (int length = tries.length; length <= all.length; length++) {
                Files.write(moves, Arrays.copyOf(all, length));
                boolean isMoved = length >= all.length - 1;
                assertThat(store.chunks(KEY, 9)).as("cut at byte " + length).hasSize(isMoved ? 2 : 5);
                assertThat(store.addFailure(KEY, MadeMemory.Kind.CHUNK, isMoved ? failed : failed + 1, next))
                        .as("a writer that saw something else")
                        .isFalse();
                if (length % Counts.of(16, 1) == 0) {
                    long seen = isMoved ? failed + 1 : failed;
                    assertThat(store.addFailure(KEY, MadeMemory.Kind.CHUNK, seen, next))
                            .isTrue();
                    assertThat(store.progress(KEY, MadeMemory.Kind.CHUNK).steps())
                            .last()
                            .matches(step -> step.failures() == 1 && step.parent() == (isMoved ? 2 : 5));
                }
            }
            for (int length = 0; length < tries.length; length++) {
                Files.write(moves, Arrays.copyOf(tries, length));
                assertThat(store.chunks(KEY, 9)).as("cut at byte " + length).hasSize(5);
            }
        }
    }

    @Test
    void a_chunk_that_is_replaced_on_one_branch_is_shown_on_the_other_after_each_change() {
        Passage first = new Passage(List.of(), 1, "h1", "", "e1");
        Passage second = new Passage(List.of(), 1, "h2", "e1", "e2");
        MadeMemory old = MadeMemory.ofText(MadeMemory.Kind.CHUNK, "old", first, Trust.USER);
        MadeMemory other = MadeMemory.ofText(MadeMemory.Kind.CHUNK, "other", first, Trust.USER);
        MadeMemory newer = MadeMemory.ofText(MadeMemory.Kind.CHUNK, "newer", second, Trust.USER)
                .replacing(old.id());
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            store.add(KEY, MadeMemory.Kind.CHUNK, 0, first, List.of(old, other));
            store.add(KEY, MadeMemory.Kind.CHUNK, 1, second, List.of(newer));
            for (int round = 0; round < 3; round++) {
                for (int step = 1; step <= 2; step++) {
                    long revision = store.progress(KEY, MadeMemory.Kind.CHUNK).revision();
                    assertThat(store.moveTo(KEY, MadeMemory.Kind.CHUNK, revision, step))
                            .isTrue();
                    List<String> shown = step == 1 ? List.of("old", "other") : List.of("other", "newer");
                    assertThat(store.chunks(KEY, 9))
                            .extracting(MadeMemory::text)
                            .isEqualTo(shown);
                    assertThat(store.put(KEY, other.withPinned(step == 1))).isTrue();
                    assertThat(store.chunks(KEY, 9))
                            .extracting(MadeMemory::text)
                            .isEqualTo(shown);
                    assertThat(store.progress(KEY, MadeMemory.Kind.CHUNK).revision())
                            .isEqualTo(revision + 2);
                }
            }
        }
    }

    /** It finds its place by any line of the ledger, so its chunk belongs to the branch that was shown before it. */
    @Test
    void b5_a_chunk_that_another_program_adds_after_a_switch_continues_the_branch_that_was_shown() throws Exception {
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            fiveChunks(store);
            long revision = store.progress(KEY, MadeMemory.Kind.CHUNK).revision();
            store.moveTo(KEY, MadeMemory.Kind.CHUNK, revision, 2);
            Files.writeString(
                    directory.resolve("ada/chat_memories.jsonl"),
                    "{\"text_block\": \"theirs\", \"hash\": \"" + sha256("answer 12") + "\"}\n",
                    StandardOpenOption.APPEND);
            assertThat(store.chunks(KEY, 9)).extracting(MadeMemory::text).containsExactly("m1", "m2", "theirs");
            assertThat(store.moveTo(KEY, MadeMemory.Kind.CHUNK, revision + 1, 5))
                    .isFalse();
            assertThat(store.moveTo(KEY, MadeMemory.Kind.CHUNK, revision + 2, 5))
                    .isTrue();
            assertThat(store.chunks(KEY, 9)).extracting(MadeMemory::text).containsExactly("m1", "m2", "m3", "m4", "m5");
        }
    }

    @Test
    void what_was_moved_in_a_ledger_counts_no_more_if_another_program_wrote_the_ledger_again() throws Exception {
        Path ledger = directory.resolve("ada/chat_memories.jsonl");
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            fiveChunks(store);
            long revision = store.progress(KEY, MadeMemory.Kind.CHUNK).revision();
            assertThat(store.moveTo(KEY, MadeMemory.Kind.CHUNK, revision, 2)).isTrue();
            String theirs = "";
            for (int line = 1; line <= 6; line++) {
                theirs += "{\"text_block\": \"w" + line + "\", \"hash\": \"" + sha256("other " + line) + "\"}\n";
                Files.writeString(ledger, theirs);
                assertThat(store.chunks(KEY, 9)).hasSize(line);
            }
            assertThat(store.progress(KEY, MadeMemory.Kind.CHUNK).revision()).isGreaterThan(revision);
        }
    }

    @Test
    void a_ledger_of_a_snapshot_that_has_moves_among_its_lines_is_continued() throws Exception {
        Path ledger = directory.resolve("ada/chat_memories.jsonl");
        Path moves = directory.resolve("ada/chat_memories.moves.jsonl");
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            Discussion discussion = fiveChunks(store);
            List<String> lines = new ArrayList<>(Files.readAllLines(ledger));
            List<String> tries = Files.readAllLines(moves);
            String move = "{\"text_block\":\"\",\"hash\":\"\",\"keepsake\":%s}";
            lines.add(3, move.formatted(tries.get(1)));
            lines.add(1, move.formatted(tries.get(0)));
            Files.write(ledger, lines);
            Files.delete(moves);
            assertThat(store.chunks(KEY, 9)).extracting(MadeMemory::text).containsExactly("m1", "m2", "m3", "m4", "m5");
            assertThat(discussion.qualityMemory(talk(30)).made()).hasSize(1);
            assertThat(store.progress(KEY, MadeMemory.Kind.CHUNK).path()).hasSize(6);
        }
    }

    @Test
    void b5_work_goes_on_behind_lines_that_another_program_wrote() throws Exception {
        Files.createDirectories(directory.resolve("ada"));
        Files.writeString(
                directory.resolve("ada/chat_memories.jsonl"),
                "{\"text_block\": \"theirs\", \"hash\": \"" + sha256("answer 4") + "\"}");
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            assertThat(store.chunks(KEY, 9)).extracting(MadeMemory::text).containsExactly("theirs");
            discussion(store, KEY, false).qualityMemory(talk(10));
            assertThat(store.chunks(KEY, 9)).extracting(MadeMemory::text).containsExactly("theirs", "chunk qqsecret");
            assertThat(store.chunks(KEY, 1).get(0).source().messages()).isEqualTo(6);
        }
    }

    @Test
    void facts_that_wilmerai_stored_are_refused_by_the_name_of_their_format() throws Exception {
        Path file = Files.createDirectories(directory.resolve("ada")).resolve("chat_vector_memory.db");
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            statement.executeUpdate(
                    "CREATE TABLE memories (id INTEGER PRIMARY KEY, discussion_id TEXT, memory_text TEXT, date_added"
                            + " TEXT, metadata_json TEXT); CREATE VIRTUAL TABLE memories_fts USING fts5 (title, summary,"
                            + " entities, key_phrases, memory_text); CREATE TABLE vector_memory_tracker (discussion_id"
                            + " TEXT PRIMARY KEY, message_hash TEXT); INSERT INTO memories (discussion_id, memory_text)"
                            + " VALUES ('chat', 'theirs')");
        }
        byte[] before = Files.readAllBytes(file);
        Passage source = new Passage(List.of("m"), 1, "h", "", "h");
        MadeMemory fact = MadeMemory.fact("Ours", "Ours", List.of(), List.of(), source, Trust.USER);
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> store.facts(KEY, 5),
                    () -> store.search(KEY, FactQuery.of("theirs")),
                    () -> store.progress(KEY, MadeMemory.Kind.FACT),
                    () -> store.add(KEY, MadeMemory.Kind.FACT, 0, source, List.of(fact)))) {
                assertThrown(UnreadableDataException.class, call, "WilmerAI's own format", file.toString());
            }
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(before);
    }

    @Test
    void a_ledger_that_begins_with_a_byte_order_mark_is_continued() throws Exception {
        MemoryFiles files = MemoryFiles.of(directory, KEY);
        Files.createDirectories(files.directory());
        String theirs = "\uFEFF{\"text_block\": \"theirs\", \"hash\": \"h\"}\n";
        for (String whole : List.of(theirs, theirs.strip(), "\uFEFF")) {
            Files.writeString(files.ledger(), whole);
            int there = whole.length() > 1 ? 1 : 0;
            try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
                assertThat(store.chunks(KEY, 5)).hasSize(there);
                MadeMemory next = MadeMemory.ofText(MadeMemory.Kind.CHUNK, "next", Passage.NONE, Trust.USER);
                assertThat(store.add(KEY, MadeMemory.Kind.CHUNK, there, Passage.NONE, List.of(next)))
                        .isTrue();
                assertThat(store.chunks(KEY, 5)).hasSize(there + 1);
            }
            assertThat(Files.readString(files.ledger())).startsWith(whole);
        }
    }

    @Test
    @ExpectedLog("names no discussion")
    void a_key_that_cannot_be_read_keeps_no_other_discussion_from_a_clean_up() throws Exception {
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            List<MemoryKey> keys = List.of("a", "b", "c").stream()
                    .<MemoryKey>map(id -> ConversationKey.of("ada", id))
                    .toList();
            MadeMemory chunk = MadeMemory.ofText(MadeMemory.Kind.CHUNK, "ours", Passage.NONE, Trust.USER);
            for (MemoryKey key : keys) {
                store.add(key, MadeMemory.Kind.CHUNK, 0, Passage.NONE, List.of(chunk));
            }
            for (String content : List.of("", "2\n", "conversation/ada/", "\0\0\0", "{}")) {
                Files.writeString(MemoryFiles.of(directory, keys.get(1)).key(), content);
                List<MemoryKey> found = new ArrayList<>();
                store.discussions("ada", found::add);
                assertThat(found).as(content).containsExactlyInAnyOrder(keys.get(0), keys.get(2));
            }
            MadeMemory second = MadeMemory.ofText(MadeMemory.Kind.CHUNK, "more", Passage.NONE, Trust.USER);
            store.add(keys.get(1), MadeMemory.Kind.CHUNK, 1, Passage.NONE, List.of(second));
            List<MemoryKey> found = new ArrayList<>();
            store.discussions("ada", found::add);
            assertThat(found).as("its next change mends it").hasSize(3);
            store.discussions("ada", store::erase);
            assertThat(filesWith("ours")).isEmpty();
        }
    }

    @Test
    void b10_the_queries_of_wilmerai_read_the_facts() throws Exception {
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            discussion(store, KEY, true).qualityMemory(talk(5));
            try (Connection connection = DriverManager.getConnection(
                            "jdbc:sqlite:" + directory.resolve("ada/chat_vector_memory.db"));
                    PreparedStatement search = connection.prepareStatement(
                            """
                            SELECT
                                m.*,
                                bm25(memories_fts) AS rank
                            FROM memories_fts AS fts
                            JOIN memories AS m ON fts.rowid = m.id
                            WHERE memories_fts MATCH ?
                            ORDER BY rank ASC
                            LIMIT ?
                            """);
                    Statement statement = connection.createStatement()) {
                search.setString(1, "\"hotel\" OR \"grand tour\"");
                search.setInt(2, 5);
                try (ResultSet row = search.executeQuery()) {
                    assertThat(row.next()).isTrue();
                    assertThat(row.getString("memory_text")).isEqualTo("The hotels were booked qqsecret.");
                    assertThat(row.getString("discussion_id")).isEqualTo("chat");
                    assertThat(row.getString("date_added")).startsWith("20");
                    JsonNode metadata = new ObjectMapper().readTree(row.getString("metadata_json"));
                    assertThat(metadata.get("title").asText()).isEqualTo("Rome qqsecret");
                    assertThat(metadata.get("entities").get(0).asText()).isEqualTo("Ada");
                    assertThat(metadata.get("key_phrases").get(0).asText()).isEqualTo("grand tour");
                    assertThat(row.next()).isFalse();
                }
                try (ResultSet row = statement.executeQuery(
                        "SELECT title FROM memories_fts WHERE memories_fts MATCH 'rome' ORDER BY rank")) {
                    assertThat(row.next()).isTrue();
                    assertThat(row.getString(1)).as("a title counts most").isEqualTo("Rome qqsecret");
                    assertThat(row.next()).isTrue();
                }
                try (ResultSet row = statement.executeQuery(
                        "SELECT title, summary, entities, key_phrases, memory_text FROM memories_fts WHERE rowid ="
                                + " 1")) {
                    assertThat(row.next()).isTrue();
                    assertThat(row.getString("entities")).isEqualTo("Ada qqsecretson");
                }
                try (ResultSet row = statement.executeQuery(
                        "SELECT message_hash FROM vector_memory_tracker WHERE discussion_id = 'chat'"
                                + " ORDER BY timestamp DESC LIMIT 10")) {
                    assertThat(row.next()).isTrue();
                    assertThat(row.getString(1)).isEqualTo(sha256("qqsecret question 5"));
                }
            }
        }
    }

    @Test
    void facts_that_were_stored_by_other_words_are_found() {
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            discussion(store, KEY, true).qualityMemory(talk(5));
        }
        Words others = Words.builder().language("fr").build();
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory, others)) {
            assertThat(store.search(KEY, FactQuery.of("pasta"))).hasSize(1);
            discussion(store, KEY, true).qualityMemory(talk(10));
            assertThat(store.search(KEY, FactQuery.of("pasta"))).hasSize(2);
        }
    }

    private List<String> filesWith(String text) throws Exception {
        List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.toList()) {
                boolean inName = file.getFileName().toString().contains(text);
                boolean inside = Files.isRegularFile(file)
                        && new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(text);
                if (inName || inside) {
                    found.add(file.getFileName().toString());
                }
            }
        }
        return found;
    }

    @Test
    void nothing_of_an_erased_discussion_is_in_a_file() throws Exception {
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            for (boolean facts : new boolean[] {false, true}) {
                Discussion discussion = discussion(store, SECRET_KEY, facts);
                discussion.qualityMemory(talk(20));
                discussion.updateSummary();
            }
            assertThat(filesWith("qqsecret")).hasSize(5);
            store.acquireLease(SECRET_KEY, "memories", "me", java.time.Duration.ofMinutes(1));
            discussion(store, SECRET_KEY, true).erase();
            assertThat(filesWith("qqsecret")).isEmpty();
        }
        assertThat(filesWith("qqsecret")).isEmpty();
    }

    @Test
    void nothing_of_a_forgotten_memory_is_in_a_file() throws Exception {
        Passage passage = new Passage(List.of(), 1, "hash", "", "end");
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            MadeMemory fact = MadeMemory.fact(
                    "qqsecret", "qqsecret", List.of("qqsecret"), List.of("qqsecret"), passage, Trust.USER);
            MadeMemory chunk = MadeMemory.ofText(MadeMemory.Kind.CHUNK, "qqsecret", passage, Trust.USER);
            store.add(KEY, MadeMemory.Kind.FACT, 0, passage, List.of(fact));
            store.add(KEY, MadeMemory.Kind.CHUNK, 0, passage, List.of(chunk));
            assertThat(filesWith("qqsecret")).hasSize(2);
            store.put(KEY, fact.withStatus(Status.FORGOTTEN));
            store.put(KEY, chunk.withStatus(Status.FORGOTTEN));
            assertThat(filesWith("qqsecret")).isEmpty();
            assertThat(filesWith("qqsec")).isEmpty();
        }
    }

    /** Files of other programs under our names, cut at every byte: nothing of them is lost. */
    @Test
    void what_another_program_wrote_stays_byte_by_byte_or_is_continued() throws Exception {
        Random random = new Random(7);
        int refused = 0;
        int continued = 0;
        for (int file = 0; file < Counts.of(12, 500); file++) {
            byte[] whole = foreign(file, random).getBytes(StandardCharsets.UTF_8);
            for (int length = 1; length <= whole.length; length++) {
                byte[] before = Arrays.copyOf(whole, length);
                Path folder = directory.resolve(file + "-" + length);
                MemoryFiles files = MemoryFiles.of(folder, KEY);
                Path ledger = Files.createDirectories(files.directory()).resolve(files.ledger());
                Files.write(ledger, before);
                String as = "file " + file + " of " + length + " bytes";
                byte[] after;
                try (LongTermMemoryStore store = FileLongTermMemoryStore.of(folder)) {
                    addChunk(store, "ours");
                    after = Files.readAllBytes(ledger);
                    assertThat(store.chunks(KEY, 1)).as(as).hasSize(1);
                    continued++;
                } catch (UnreadableDataException e) {
                    assertThat(Files.readAllBytes(ledger)).as(as).isEqualTo(before);
                    assertThat(e).hasMessageContaining(ledger.toString());
                    refused++;
                    continue;
                }
                byte[] kept = withoutOurBeginning(before);
                assertThat(Arrays.copyOf(after, kept.length)).as(as).isEqualTo(kept);
            }
        }
        assertThat(refused).isPositive();
        assertThat(continued).isPositive();
    }

    /** What is left of a file without an unfinished line that is, byte by byte, the beginning of one of ours. */
    private static byte[] withoutOurBeginning(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        String tail = text.substring(text.lastIndexOf('\n') + 1);
        return Ledger.BEGIN.startsWith(tail) ? Arrays.copyOf(bytes, bytes.length - tail.length()) : bytes;
    }

    private static void addChunk(LongTermMemoryStore store, String text) {
        MadeMemory chunk = MadeMemory.ofText(MadeMemory.Kind.CHUNK, text, Passage.NONE, Trust.USER);
        long revision = store.progress(KEY, MadeMemory.Kind.CHUNK).revision();
        assertThat(store.add(KEY, MadeMemory.Kind.CHUNK, revision, Passage.NONE, List.of(chunk)))
                .isTrue();
    }

    private static String foreign(int kind, Random random) {
        String text = random.ints(5 + random.nextInt(20), 'a', 'z' + 1)
                .mapToObj(Character::toString)
                .collect(Collectors.joining());
        String line = "{\"text_block\": \"" + text + " é\", \"hash\": \"" + random.nextInt() + "\"}";
        return switch (kind % 7) {
            case 0 -> "[" + line + ", " + line + "]";
            case 1 -> Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
            case 2 -> line + "\n{\"text_block\": \"" + text + "\", \"score\": NaN}";
            case 3 -> line + "\r\n" + line;
            case 4 -> "{\n  \"text_block\": \"" + text + "\"\n}\n";
            case 5 -> "{\"hash\":\"1\",\"text_block\":\"" + text + "\"}\n" + line + "\n";
            default -> text + "\0\0" + text;
        };
    }

    @Test
    void zeros_behind_an_unfinished_line_of_ours_are_cut_off() throws Exception {
        MemoryFiles files = MemoryFiles.of(directory, KEY);
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            addChunk(store, "ours");
            String whole = Files.readString(files.ledger());
            for (String tail :
                    List.of("\0\0\0", "{\"te\0\0", "{\"text_block\":\"ab\0", whole.substring(0, 30) + "\0")) {
                Files.writeString(files.ledger(), whole + tail);
                assertThat(store.chunks(KEY, 5)).hasSize(1);
                addChunk(store, "next");
                assertThat(Files.readString(files.ledger())).startsWith(whole).doesNotContain("\0");
            }
        }
    }

    @Test
    void a_summary_that_another_program_wrote_is_the_first_version() throws Exception {
        MemoryFiles files = MemoryFiles.of(directory, KEY);
        Files.createDirectories(files.directory());
        String theirs = "{\"text_block\": \"Ada likes bees.\", \"hash\": \"abc\", \"more\": 1}\n";
        Files.writeString(files.summary(), theirs);
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            assertThat(store.summary(KEY).text()).isEqualTo("Ada likes bees.");
            assertThat(store.summaries(KEY)).hasSize(1);
            assertThat(Files.readString(files.summary())).isEqualTo(theirs);
            MadeMemory second =
                    MadeMemory.ofText(MadeMemory.Kind.SUMMARY, "Ada likes wasps.", Passage.NONE, Trust.USER);
            assertThat(store.addSummary(KEY, 0, 0, second)).isFalse();
            assertThat(store.addSummary(KEY, 1, 0, second)).isTrue();
            assertThat(store.summaries(KEY))
                    .extracting(MadeMemory::text)
                    .containsExactly("Ada likes bees.", "Ada likes wasps.");
            assertThat(store.summary(KEY).text()).isEqualTo("Ada likes wasps.");
            assertThat(Files.readString(files.summaries())).contains("\"more\":1");
        }
        Files.delete(files.summaries());
        Files.writeString(files.summary(), "gAAAAABm-token");
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            MadeMemory third = MadeMemory.ofText(MadeMemory.Kind.SUMMARY, "Other", Passage.NONE, Trust.USER);
            assertThatThrownBy(() -> store.addSummary(KEY, 0, 0, third)).isInstanceOf(UnreadableDataException.class);
            assertThat(Files.readString(files.summary())).isEqualTo("gAAAAABm-token");
        }
    }

    @Test
    void nothing_of_an_erased_discussion_is_in_a_row() throws Exception {
        DataSource source = Postgres.newest().kept(Postgres.newest().newDatabase());
        try (LongTermMemoryStore store = JdbcLongTermMemoryStore.builder()
                .dataSource(source)
                .schema(SchemaMode.ALWAYS)
                .build()) {
            for (boolean facts : new boolean[] {false, true}) {
                Discussion discussion = discussion(store, SECRET_KEY, facts);
                discussion.qualityMemory(talk(20));
                discussion.updateSummary();
            }
            assertThat(rowsWith(source, "qqsecret")).isPositive();
            discussion(store, SECRET_KEY, false).erase();
            store.compact();
            assertThat(rowsWith(source, "qqsecret")).isZero();
        }
    }

    private static int rowsWith(DataSource source, String text) throws Exception {
        int rows = 0;
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            for (String table : List.of("progress", "step", "memory", "word", "lease")) {
                try (ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM keepsake_made_" + table
                        + " t WHERE CAST(t AS text) ILIKE '%" + text + "%'")) {
                    row.next();
                    rows += row.getInt(1);
                }
            }
        }
        return rows;
    }
}
