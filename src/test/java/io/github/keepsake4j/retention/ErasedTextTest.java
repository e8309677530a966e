package io.github.keepsake4j.retention;

import static io.github.keepsake4j.log.LogTesting.message;
import static io.github.keepsake4j.log.LogTesting.user;
import static io.github.keepsake4j.testing.Dialogue.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.memories.DiscussionConfig;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.StoredFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/** What was erased is in no file and in no object, while everything is open. */
class ErasedTextTest {

    private static final MemoryKey GOES = ConversationKey.of("acme", "qqgoes-conversation");
    private static final MemoryKey STAYS = ConversationKey.of("acme", "qqstays-conversation");

    /** All words that begin like this are one of {@link #GOES}. */
    private static final String CANARY = "qqgoes";

    private static final List<String> IN_THE_LOG = List.of(
            "conversation",
            "question",
            "answer",
            "system",
            "call",
            "result",
            "title",
            "metadata",
            "summary",
            "branch",
            "view",
            "request",
            "outcome");

    private static final List<String> IN_MEMORIES = List.of("chunk", "fact", "phrase", "told");

    private static final int ROUNDS = Counts.of(3, 8);

    @TempDir
    Path directory;

    @Test
    void no_file_of_sqlite_has_an_erased_text_while_it_is_open() throws Exception {
        assertNothingStays(SqliteMessageLog.open(directory.resolve("log.db")), this::files);
    }

    @Test
    void no_file_of_a_log_in_files_has_an_erased_text() throws Exception {
        assertNothingStays(FileMessageLog.in(directory.resolve("log")), this::files);
    }

    @Test
    void no_object_of_an_unversioned_bucket_has_an_erased_text() throws Exception {
        S3Server server = S3Server.shared();
        String bucket = server.newBucket();
        try (S3Client client = S3Server.client(server.port())) {
            assertNothingStays(
                    S3MessageLog.builder().client(client).bucket(bucket).build(), () -> {
                        List<String> all = new ArrayList<>(files());
                        for (S3Object object : client.listObjectsV2Paginator(request -> request.bucket(bucket))
                                .contents()) {
                            String key = object.key();
                            byte[] bytes = client.getObjectAsBytes(
                                            request -> request.bucket(bucket).key(key))
                                    .asByteArray();
                            all.add(key + " " + new String(inflated(bytes), StandardCharsets.ISO_8859_1));
                        }
                        return all;
                    });
        }
    }

    private static byte[] inflated(byte[] bytes) throws IOException {
        if (bytes.length == 0 || bytes[0] != 0x1f) {
            return bytes;
        }
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            return in.readAllBytes();
        }
    }

    /** Returns all that is stored, each file or object with its name. */
    @FunctionalInterface
    private interface Stored {
        List<String> all() throws IOException;
    }

    private List<String> files() throws IOException {
        List<String> all = new ArrayList<>();
        for (Path file : StoredFiles.in(directory)) {
            all.add(file + " " + StoredFiles.text(file));
        }
        return all;
    }

    private static List<String> with(String text, Stored stored) throws IOException {
        return stored.all().stream()
                .filter(each -> each.contains(text))
                .map(each -> each.substring(0, Math.min(80, each.length())))
                .toList();
    }

    private void assertNothingStays(MessageLog log, Stored stored) throws Exception {
        try (MessageLog opened = log;
                MessageIndex index = JdbcMessageIndex.sqlite(directory.resolve("index.db"));
                LongTermMemoryStore memories = FileLongTermMemoryStore.of(directory.resolve("memories"))) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(opened)
                    .tenant("acme")
                    .index(index)
                    .longTermMemories(
                            Discussions.builder(memories)
                                    .config(DiscussionConfig.ofJson(
                                            "{\"useVectorForQualityMemory\":true,\"vectorMemoryWorkflowName\":\"w\"}"))
                                    .workflow("w", inputs -> "[]")
                                    .build(),
                            Duration.ofDays(1))
                    .build();
            for (int i = 0; i < ROUNDS; i++) {
                for (MemoryKey key : List.of(GOES, STAYS)) {
                    write(opened, memories, key, i);
                }
            }
            for (String word : List.of("qqgoesquestion", "qqstaysquestion")) {
                await().untilAsserted(() -> assertThat(keepsake.search()
                                .find(Scope.tenant("acme"), word)
                                .hits())
                        .isNotEmpty());
            }
            await().untilAsserted(() -> assertThat(StoredFiles.with(CANARY + "quest", directory))
                    .anyMatch(name -> name.startsWith("index.db")));
            for (String canary : IN_THE_LOG) {
                assertThat(with(CANARY + (canary.equals("conversation") ? "-" : "") + canary, stored))
                        .as(canary)
                        .isNotEmpty();
            }
            for (String canary : IN_MEMORIES) {
                assertThat(with(CANARY + canary, stored)).as(canary).isNotEmpty();
            }

            keepsake.conversation(GOES).erase();

            await().untilAsserted(() -> assertThat(with(CANARY, stored)).isEmpty());
            assertThat(with("qqstaysquestion", stored)).isNotEmpty();
            assertThat(keepsake.search()
                            .find(Scope.tenant("acme"), "qqstaysquestion")
                            .hits())
                    .isNotEmpty();
        }
    }

    private static void write(MessageLog log, LongTermMemoryStore memories, MemoryKey key, int round) {
        String canary = key.equals(GOES) ? CANARY : "qqstays";
        String filler = " word".repeat(round * 50);
        ToolExecutionRequest call = call("call" + round, "tool", "{\"a\":\"" + canary + "call\"}");
        log.append(
                key,
                Append.under(
                        Parent.head(),
                        List.of(
                                message("s" + round, SystemMessage.from(canary + "system " + round + filler), 1),
                                message("q" + round, UserMessage.from(canary + "question" + filler), 1),
                                message("c" + round, AiMessage.from(call), 1)
                                        .withRequest("{\"messages\":\"" + canary + "request" + filler + "\"}"),
                                message("r" + round, ToolExecutionResultMessage.from(call, canary + "result"), 1),
                                message("a" + round, AiMessage.from(canary + "answer" + filler), 1))));
        String seen = canary + "view" + round;
        log.append(
                key,
                Append.underHead(user(seen))
                        .withView(View.of(null, List.of(new View.Run(null, seen))))
                        .onBranch(canary + "branch" + round));
        Logs.setOutcome(log, key, "a" + round, Outcome.failed(canary + "outcome"), null);
        long epoch = log.read(key, ReadQuery.newest(1)).epoch();
        Logs.putSummary(
                log,
                key,
                new Summary("a" + round, canary + "summary" + filler, 1, "test-counter", 1, 1, null, Instant.EPOCH),
                epoch);
        Logs.describe(log, key, canary + "title" + round, Map.of("note", canary + "metadata"));
        Passage passage =
                new Passage(List.of("a" + round), 1, "hash" + round, round == 0 ? "" : "a" + (round - 1), "a" + round);
        add(
                memories,
                key,
                MadeMemory.Kind.CHUNK,
                passage,
                MadeMemory.ofText(MadeMemory.Kind.CHUNK, canary + "chunk", passage, Trust.USER));
        MadeMemory fact = MadeMemory.fact(
                canary + "fact" + round, "", List.of("Ada"), List.of(canary + "phrase"), passage, Trust.USER);
        add(memories, key, MadeMemory.Kind.FACT, passage, fact);
        assertThat(memories.addSummary(
                        key,
                        round,
                        memories.progress(key, MadeMemory.Kind.CHUNK).revision(),
                        MadeMemory.ofText(MadeMemory.Kind.SUMMARY, canary + "told" + filler, passage, Trust.USER)))
                .isTrue();
    }

    private static void add(
            LongTermMemoryStore memories, MemoryKey key, MadeMemory.Kind kind, Passage passage, MadeMemory made) {
        assertThat(memories.add(key, kind, memories.progress(key, kind).revision(), passage, List.of(made)))
                .isTrue();
    }
}
