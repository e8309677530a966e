package io.github.keepsake4j.transfer.jdbc;

import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.transfer.ImportSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tables of other libraries, in PostgreSQL. */
class JdbcImportSourceTest {

    private static final ConversationKey KEY = ConversationKey.of("acme", "c");

    private static DataSource database;

    @BeforeAll
    static void create() throws Exception {
        Postgres server = Postgres.newest();
        database = server.kept(server.newDatabase());
        execute("CREATE TABLE chat_memory (memory_id VARCHAR(255) PRIMARY KEY, content TEXT NOT NULL)");
        execute("CREATE TABLE SPRING_AI_CHAT_MEMORY (conversation_id VARCHAR(36) NOT NULL, content TEXT NOT NULL,"
                + " type VARCHAR(10) NOT NULL, \"timestamp\" TIMESTAMP NOT NULL)");
        execute("CREATE TABLE messages (id uuid PRIMARY KEY, conversation_id uuid, parent_message_id uuid,"
                + " query text, answer text, created_at timestamp)");
        execute("CREATE TABLE message_files (id uuid PRIMARY KEY, message_id uuid, type varchar(255),"
                + " transfer_method varchar(255), url text, belongs_to varchar(255), upload_file_id uuid,"
                + " created_at timestamp)");
    }

    private static void execute(String sql, Object... parameters) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            statement.execute();
        }
    }

    private static Conversation conversation(ImportSource source, Object id) {
        return Keepsake.builder()
                .messageLog(new InMemoryMessageLog())
                .tenant("acme")
                .importFrom(source)
                .build()
                .conversation(id);
    }

    @Test
    void e2_a_list_of_langchain4j_comes_whole() throws Exception {
        ToolExecutionRequest call = call("1", "add", "{}");
        List<ChatMessage> list = List.of(
                SystemMessage.from("rules"),
                UserMessage.from("sum?"),
                AiMessage.from(call),
                ToolExecutionResultMessage.from(call, "3"),
                AiMessage.from("three"));
        execute("INSERT INTO chat_memory VALUES (?, ?)", "c", ChatMessageSerializer.messagesToJson(list));
        execute("INSERT INTO chat_memory VALUES (?, ?)", "broken", "[{\"type\":\"secret");

        assertThat(conversation(JdbcImportSource.langChain4j(database), KEY).messages())
                .isEqualTo(list);
        assertThat(conversation(JdbcImportSource.langChain4j(database), "unknown")
                        .messages())
                .isEmpty();
        assertThrown(
                        UnreadableDataException.class,
                        () -> conversation(JdbcImportSource.langChain4j(database), "broken")
                                .messages(),
                        "broken")
                .hasMessageNotContaining("secret");
    }

    @Test
    void e2_rows_of_spring_ai_2_come_in_the_order_of_their_sequence_because_times_repeat() throws Exception {
        Postgres server = Postgres.newest();
        DataSource numbered = server.kept(server.newDatabase());
        Postgres.execute(
                numbered,
                """
                CREATE TABLE SPRING_AI_CHAT_MEMORY (conversation_id VARCHAR(36) NOT NULL, content TEXT NOT NULL,
                  type VARCHAR(10) NOT NULL, "timestamp" TIMESTAMP NOT NULL, sequence_id BIGINT NOT NULL);
                INSERT INTO SPRING_AI_CHAT_MEMORY
                SELECT 'c', n::text, 'USER', '2026-01-07 10:00:00', n FROM generate_series(20, 1, -1) n
                """);
        assertThat(conversation(JdbcImportSource.springAi(numbered), KEY).messages())
                .extracting(message -> ((UserMessage) message).singleText())
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, 20).mapToObj(String::valueOf).toList());
        Postgres.execute(
                numbered,
                """
                INSERT INTO SPRING_AI_CHAT_MEMORY
                SELECT 'd', n::text, 'USER', timestamp '2026-01-07 10:00:00' + n * interval '1 second', 0
                FROM generate_series(20, 1, -1) n
                """);
        assertThat(conversation(JdbcImportSource.springAi(numbered), ConversationKey.of(KEY.tenant(), "d"))
                        .messages())
                .as("rows from before there were numbers")
                .extracting(message -> ((UserMessage) message).singleText())
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, 20).mapToObj(String::valueOf).toList());
    }

    @Test
    void e2_rows_of_spring_ai_come_in_the_order_of_their_times() throws Exception {
        String[][] rows = {
            {"ASSISTANT", "a1", "2026-01-07 10:00:02"},
            {"USER", "q1", "2026-01-07 10:00:01"},
            {"SYSTEM", "rules", "2026-01-07 10:00:00"},
            {"TOOL", "", "2026-01-07 10:00:03"},
            {"USER", " ", "2026-01-07 10:00:04"},
            {"ASSISTANT", "", "2026-01-07 10:00:05"}
        };
        for (String[] row : rows) {
            execute(
                    "INSERT INTO SPRING_AI_CHAT_MEMORY VALUES ('c', ?, ?, CAST(? AS timestamp))",
                    row[1],
                    row[0],
                    row[2]);
        }
        execute("INSERT INTO SPRING_AI_CHAT_MEMORY VALUES ('d', 'x', 'OTHER', CURRENT_TIMESTAMP)");

        Conversation conversation = conversation(JdbcImportSource.springAi(database), KEY);
        assertThat(conversation.history(HistoryQuery.oldest(10)).messages())
                .extracting(LoggedMessage::message)
                .containsExactly(
                        SystemMessage.from("rules"), UserMessage.from("q1"), AiMessage.from("a1"), AiMessage.from(""));
        assertThat(conversation.history(HistoryQuery.oldest(10)).messages())
                .extracting(LoggedMessage::createdAt)
                .isSorted()
                .doesNotHaveDuplicates();
        assertThrown(
                UnreadableDataException.class,
                () -> conversation(JdbcImportSource.springAi(database), "d").messages(),
                "SPRING_AI_CHAT_MEMORY");
    }

    @Test
    void e2_a_row_of_dify_is_a_question_and_its_answer() throws Exception {
        UUID id = UUID.randomUUID();
        UUID zero = new UUID(0, 0);
        UUID first = UUID.randomUUID();
        UUID second = UUID.randomUUID();
        UUID again = UUID.randomUUID();
        UUID upload = UUID.randomUUID();
        String insert = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, CAST(? AS timestamp))";
        execute(insert, first, id, zero, "q1", "a1", "2026-01-07 10:00:01");
        execute(insert, second, id, first, "q2", "a2", "2026-01-07 10:00:02");
        execute(insert, again, id, first, "q2", "", "2026-01-07 10:00:03");
        String file = "INSERT INTO message_files VALUES (?, ?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP)";
        execute(file, UUID.randomUUID(), first, "image", "local_file", null, "user", upload);
        execute(
                file,
                UUID.randomUUID(),
                first,
                "document",
                "tool_file",
                "/files/tools/" + upload + ".pdf",
                "assistant",
                null);
        execute(file, UUID.randomUUID(), first, "image", "local_file", null, "user", null);

        Conversation conversation =
                conversation(JdbcImportSource.dify(database), ConversationKey.of("acme", id.toString()));
        List<LoggedMessage> all = conversation.history(HistoryQuery.oldest(10)).messages();
        assertThat(all)
                .extracting(LoggedMessage::id)
                .containsExactly(
                        first + ":query", first.toString(), second + ":query", second.toString(), again + ":query");
        assertThat(all)
                .extracting(LoggedMessage::parentId)
                .containsExactly(null, first + ":query", first.toString(), second + ":query", first.toString());
        assertThat(FileReference.entries(all.get(0).message()))
                .containsExactly(FileReference.localFile(FileReference.Type.IMAGE, upload.toString())
                        .toMap());
        assertThat(FileReference.entries(all.get(1).message()))
                .hasSize(1)
                .first()
                .satisfies(entry ->
                        assertThat(FileReference.fromMap(entry).toolFileId()).isEqualTo(upload.toString()));
        assertThat(conversation(JdbcImportSource.dify(database), "no uuid").messages())
                .isEmpty();
    }

    @Test
    void e2_a_table_that_is_not_there_is_named_by_its_state_and_not_retried() throws Exception {
        Postgres server = Postgres.newest();
        DataSource empty = server.kept(server.newDatabase());
        for (ImportSource source : List.of(
                JdbcImportSource.langChain4j(empty), JdbcImportSource.springAi(empty), JdbcImportSource.dify(empty))) {
            assertThatThrownBy(() -> source.messages(KEY))
                    .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                            .isFalse())
                    .hasMessageContaining("42P01");
        }
    }

    @Test
    void e2_a_database_that_is_down_is_a_retryable_error() {
        assertThrown(StorageUnavailableException.class, () -> JdbcImportSource.dify(Postgres.database("none", 1))
                .messages(KEY));
    }

    @ParameterizedTest
    @ValueSource(strings = {"uuid", "text"})
    void e2_the_type_of_ids_is_not_taken_from_the_table_of_another_schema(String type) throws Exception {
        Postgres server = Postgres.newest();
        DataSource two = server.kept(server.newDatabase());
        String id = UUID.randomUUID().toString();
        Postgres.execute(
                two,
                """
                CREATE SCHEMA another;
                CREATE TABLE another.messages (conversation_id %2$s);
                CREATE TABLE messages (id %1$s, conversation_id %1$s, parent_message_id %1$s, query text, answer text,
                  created_at timestamp);
                CREATE TABLE message_files (id %1$s, message_id %1$s, type text, transfer_method text, url text,
                  belongs_to text, upload_file_id %1$s, created_at timestamp);
                INSERT INTO messages VALUES ('%3$s', '%3$s', NULL, 'q', 'a', now())
                """
                        .formatted(type, type.equals("uuid") ? "text" : "uuid", id));

        assertThat(JdbcImportSource.dify(two).messages(ConversationKey.of("acme", id)))
                .hasSize(2);
    }
}
