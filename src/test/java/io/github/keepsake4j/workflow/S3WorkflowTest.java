package io.github.keepsake4j.workflow;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.turn.TurnConflictException;
import io.github.keepsake4j.turn.TurnPolicy;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A workflow's memories in a bucket, and the documents that other programs see there. */
@Tag("landing")
class S3WorkflowTest extends WorkflowContract {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final NodeKey WRITER = NodeKey.of("acme", "app", "c1", "writer");
    private static final String DOCUMENT = "node_memory/app/c1/writer.json";
    private static final int PLENTY = 100_000;

    private static S3Server server;
    private static S3Client client;

    private String bucket;

    @BeforeAll
    static void start() throws Exception {
        server = S3Server.shared();
        client = S3Server.client(server.port());
    }

    @AfterAll
    static void stop() {
        client.close();
    }

    @Override
    MessageLog open() {
        bucket = server.newBucket();
        return log();
    }

    @Override
    int rounds() {
        return Counts.of(4, 100);
    }

    private MessageLog log() {
        return S3MessageLog.builder()
                .client(client)
                .bucket(bucket)
                .defaultTenant("acme")
                .build();
    }

    private NodeTokenBufferMemory writer() {
        return WorkflowMemories.builder().nodeLog(log()).build().node(WRITER);
    }

    @Test
    void a8_a_nodes_memory_is_one_document_whose_name_no_id_can_leave() {
        turn(writer(), "m1", null, "q", "r");
        NodeTokenBufferMemory evil =
                WorkflowMemories.builder().nodeLog(log()).build().node(NodeKey.of("acme", "../app", "c/1", "wri\nter"));
        turn(evil, "m1", null, "q", "r");
        NodeTokenBufferMemory foreign =
                WorkflowMemories.builder().nodeLog(log()).build().node(NodeKey.of("other", "app", "c1", "writer"));
        turn(foreign, "m1", null, "q", "r");

        assertThat(objects())
                .containsExactlyInAnyOrder(
                        DOCUMENT, "node_memory/..%2Fapp/c%2F1/wri%0Ater.json", "tenants/other/" + DOCUMENT);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a8_a_run_of_the_hook_is_one_get_and_one_put(boolean turnMode) {
        S3MessageLog.Builder builder = S3MessageLog.builder().client(client).bucket(server.newBucket());
        ChatModel model = Script.answering(
                request -> AiMessage.from("answer to " + request.messages().size()));
        try (MessageLog log = turnMode ? builder.turnMode().build() : builder.build()) {
            LlmNode node = LlmNode.of(
                    WorkflowMemories.builder().nodeLog(log).build(), model, MemoryConfig.of(MemoryMode.NODE));
            for (NodeTurn turn : List.of(
                    NodeTurn.of("m1").under(null),
                    NodeTurn.of("m2").under("m1"),
                    NodeTurn.of("m2").under("m1"),
                    NodeTurn.of("m3").under("m2"))) {
                int gets = server.requests("GET");
                int puts = server.requests("PUT");
                node.run(NodeRun.of("acme", "app", "c1", "writer", turn, "question"));
                assertThat(server.requests("GET") - gets)
                        .as("GETs of %s; a new memory may have been erased, so its tombstone is looked for twice", turn)
                        .isEqualTo(turn.messageId().equals("m1") ? 3 : 1);
                assertThat(server.requests("PUT") - puts)
                        .as("PUTs of %s; before the first one, the server is tried with two", turn)
                        .isEqualTo(turn.messageId().equals("m1") ? 3 : 1);
            }
        }
    }

    @Test
    @ExpectedLog("is shown as a placeholder")
    void a9_the_document_of_the_design_keeps_its_meaning_when_a_turn_is_added() throws Exception {
        String before =
                """
                {"version": 1, "messages": [
                  {"message_id": "msg-001", "parent_message_id": null, "role": "user", "content": "Analyze this image",
                   "files": [{"type": "image", "transfer_method": "local_file", "upload_file_id": "file-uuid-123",
                              "belongs_to": "user"}],
                   "token_count": 15, "created_at": "2026-01-07T10:00:00Z"},
                  {"message_id": "msg-002", "parent_message_id": "msg-001", "role": "assistant",
                   "content": "This is a landscape image...", "files": [],
                   "token_count": 50, "created_at": "2026-01-07T10:00:01Z"}]}
                """;
        put(before);
        NodeTokenBufferMemory memory = writer();
        List<ChatMessage> history = memory.getHistoryPromptMessages("msg-004", "acme");
        assertThat(((UserMessage) history.get(0)).contents())
                .containsExactly(TextContent.from("[image: not available]"), TextContent.from("Analyze this image"));
        assertThat(history.get(1)).isEqualTo(ai("This is a landscape image..."));

        List<FileReference> files = List.of(FileReference.remoteUrl(FileReference.Type.AUDIO, "https://example.org/a"));
        memory.addMessages("msg-004", "msg-002", "and this", files, "a sound", List.of());
        memory.flush();
        JsonNode after = document();
        assertThat(after.path("version").intValue()).isEqualTo(1);
        ArrayNode messages = (ArrayNode) after.path("messages");
        JsonNode given = JSON.readTree(before).path("messages");
        assertThat(messages).hasSize(4);
        assertThat(messages.get(0)).isEqualTo(given.get(0));
        assertThat(messages.get(1)).isEqualTo(given.get(1));
        assertThat(messages.get(2).path("message_id").textValue()).isEqualTo("msg-004#user");
        assertThat(messages.get(2).path("parent_message_id").textValue()).isEqualTo("msg-002");
        assertThat(messages.get(2).path("role").textValue()).isEqualTo("user");
        assertThat(messages.get(2).path("content").textValue()).isEqualTo("and this");
        assertThat(messages.get(2).path("files"))
                .isEqualTo(JSON.readTree("[{\"type\":\"audio\",\"transfer_method\":\"remote_url\","
                        + "\"url\":\"https://example.org/a\",\"belongs_to\":\"user\"}]"));
        assertThat(messages.get(2).path("token_count").intValue()).isPositive();
        assertThat(messages.get(2).path("created_at").textValue()).endsWith("Z");
        assertThat(messages.get(3).path("message_id").textValue()).isEqualTo("msg-004");
        assertThat(messages.get(3).path("parent_message_id").textValue()).isEqualTo("msg-004#user");
        assertThat(messages.get(3).path("role").textValue()).isEqualTo("assistant");
        assertThat(messages.get(3).path("files")).isEmpty();
    }

    @Test
    @ExpectedLog("is shown as a placeholder")
    void a9_turns_by_run_id_and_turns_of_ours_are_the_same_memory() {
        List<FileReference> files = List.of(FileReference.localFile(FileReference.Type.IMAGE, "f1"));
        NodeTokenBufferMemory ours = writer();
        ours.addMessages("run-1", null, "Hello", List.of(), "Good day", List.of());
        ours.addMessages("run-2", "run-1", "And this?", files, "A picture", List.of());
        ours.flush();
        List<String> ids = ids();
        List<ChatMessage> history = writer().getHistoryPromptMessages("run-3", "acme");

        put(
                """
                {"version": 1, "turns": {
                  "run-1": {"user_content": "Hello", "user_files": [], "assistant_content": "Good day",
                            "assistant_files": null},
                  "run-2": {"user_content": "And this?", "assistant_content": "A picture",
                            "user_files": [{"type": "image", "transfer_method": "local_file", "upload_file_id": "f1",
                                            "tool_file_id": null, "url": null, "belongs_to": "user"}]}}}
                """);
        assertThat(ids()).isEqualTo(ids).containsExactly("run-1#user", "run-1", "run-2#user", "run-2");
        assertThat(writer().getHistoryPromptMessages("run-3", "acme"))
                .usingElementComparator((a, b) -> contents(a).equals(contents(b)) ? 0 : 1)
                .isEqualTo(history);
        NodeTurn second = NodeTurn.of("run-2").under("run-1").inIteration(1);
        assertThat(writer().getHistoryPromptMessages(second, "acme", PLENTY, null))
                .hasSize(2);

        NodeTokenBufferMemory again = writer();
        again.addMessages(second, "And this?", files, List.of(ai("A picture")));
        again.addMessages("run-3", "run-2", "q", List.of(), "r", List.of());
        again.flush();
        assertThat(ids()).containsExactly("run-1#user", "run-1", "run-2#user", "run-2", "run-3#user", "run-3");
        assertThat(writer().getHistoryPromptMessages("run-4", "acme")).hasSize(6);
    }

    @Test
    void a12_after_clear_a_program_that_knows_the_documents_fields_only_sees_no_messages() throws Exception {
        turn(writer(), "m1", null, "q", "r");
        writer().clear();
        assertThat(document().path("messages")).isEmpty();
        assertThat(writer().getHistoryPromptMessages("m2", "acme")).isEmpty();
        assertThat(ids()).describedAs("kept").containsExactly("m1#user", "m1");
        turn(writer(), "m2", "m1", "q2", "r2");
        assertThat(document().path("messages")).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"version\": 1, \"messages\": [{\"mess",
                "{\"version\": 2, \"messages\": []}",
                "[]",
                "",
                "{\"version\": 1, \"messages\": [{\"message_id\": \"m1\", \"role\": \"user\", \"content\": 5}]}"
            })
    void a13_a_document_that_cannot_be_read_is_an_error_and_its_bytes_survive(String damaged) {
        put(damaged);
        NodeTokenBufferMemory memory = writer();
        assertThrown(UnreadableDataException.class, () -> memory.getHistoryPromptMessages("m2", "acme"), "writer");
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
        assertThatThrownBy(memory::flush).isInstanceOf(UnreadableDataException.class);
        assertThatThrownBy(memory::clear).isInstanceOf(UnreadableDataException.class);
        AtomicInteger calls = new AtomicInteger();
        ChatModel model = Script.playing(request -> {
            calls.incrementAndGet();
            return Script.response(ai("r"));
        });
        LlmNode node =
                LlmNode.of(WorkflowMemories.builder().nodeLog(log()).build(), model, MemoryConfig.of(MemoryMode.NODE));
        assertThrown(
                UnreadableDataException.class,
                () -> node.run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m2"), "q")));
        assertThat(calls).hasValue(0);
        assertThat(text()).isEqualTo(damaged);

        put("{\"version\": 1, \"messages\": []}");
        memory.flush();
        assertThat(ids())
                .describedAs("what waited is written once it is repaired")
                .hasSize(2);
    }

    @Test
    void a12_flush_writes_a_turn_that_no_answer_ends_where_the_log_holds_turns_back() {
        try (MessageLog holding = S3MessageLog.builder()
                .client(client)
                .bucket(bucket)
                .defaultTenant("acme")
                .turnMode()
                .build()) {
            NodeTokenBufferMemory memory =
                    WorkflowMemories.builder().nodeLog(holding).build().node(WRITER);
            memory.addMessages("m1", null, "q", List.of(), calls("x"), result("x"));
            memory.flush();
            assertThat(ids()).containsExactly("m1#user", "m1#step1", "m1");
        }
    }

    @Test
    void a14b_memories_leases_and_summaries_of_nodes_need_only_a_bucket() {
        Keepsake one = agents();
        Keepsake two = agents();
        KeepsakeChatMemory memory = (KeepsakeChatMemory)
                one.nodes("app").chatMemoryProvider("writer").get("c1");
        for (int i = 0; i < 12; i++) {
            memory.add(UserMessage.from(WordCounter.words("question" + i, 10)));
            memory.add(AiMessage.from(WordCounter.words("answer" + i, 10)));
        }
        assertThat(two.nodes("app").conversation("writer", "c1").summarizeNow()).isPositive();
        assertThat(one.nodes("app").conversation("writer", "c1").summaries()).isNotEmpty();
        assertThat(one.turn("c1", () -> refused(two))).isTrue();
        assertThat(refused(two)).isFalse();
        assertThat(objects()).allMatch(name -> name.equals(DOCUMENT) || name.equals("conversation_memory/c1.json"));
    }

    private static boolean refused(Keepsake keepsake) {
        try {
            return keepsake.turn("c1", () -> false);
        } catch (TurnConflictException e) {
            return true;
        }
    }

    private Keepsake agents() {
        WordCounter words = new WordCounter();
        return Keepsake.builder()
                .messageLog(log())
                .tenant("acme")
                .turnPolicy(TurnPolicy.REJECT)
                .strategy(Summarization.triggerTokens(100).keepTokens(20).countedBy(words))
                .summarizer((previous, messages) -> "they talked")
                .executor(task -> {})
                .build();
    }

    @Test
    void a21_a_large_document_is_compressed_and_read_back() throws Exception {
        String text = "All work and no play. ".repeat(10_000);
        turn(writer(), "m1", null, text, "r");
        byte[] stored = bytes();
        assertThat(stored.length).isLessThan(text.length() / 10);
        assertThat(client.headObject(request -> request.bucket(bucket).key(DOCUMENT))
                        .contentEncoding())
                .isEqualTo("gzip");
        byte[] plain = new GZIPInputStream(new ByteArrayInputStream(stored)).readAllBytes();
        assertThat(JSON.readTree(plain).path("messages").get(0).path("content").textValue())
                .isEqualTo(text);
        assertThat(((UserMessage) writer().getHistoryPromptMessages("m2", "acme", PLENTY, null)
                                .get(0))
                        .singleText())
                .isEqualTo(text);
        turn(writer(), "m2", "m1", "short", "r");
        assertThat(writer().getHistoryPromptMessages("m3", "acme", PLENTY, null))
                .hasSize(4);
    }

    /** Without attributes, where a null may be written or left out. */
    private static List<?> contents(ChatMessage message) {
        return message instanceof UserMessage user ? user.contents() : List.of(message);
    }

    private static void turn(
            NodeTokenBufferMemory memory, String id, String parent, String userText, String assistantText) {
        memory.addMessages(id, parent, userText, List.of(), assistantText, List.of());
        memory.flush();
    }

    private List<String> ids() {
        return log().history(WRITER, HistoryQuery.oldest(100)).messages().stream()
                .map(LoggedMessage::id)
                .toList();
    }

    private void put(String text) {
        client.putObject(request -> request.bucket(bucket).key(DOCUMENT), RequestBody.fromString(text));
    }

    private byte[] bytes() {
        return client.getObjectAsBytes(request -> request.bucket(bucket).key(DOCUMENT))
                .asByteArray();
    }

    private String text() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }

    private JsonNode document() throws Exception {
        return JSON.readTree(text());
    }

    private List<String> objects() {
        return client.listObjectsV2(request -> request.bucket(bucket)).contents().stream()
                .map(S3Object::key)
                .filter(name -> !name.equals("aside/probe"))
                .toList();
    }
}
