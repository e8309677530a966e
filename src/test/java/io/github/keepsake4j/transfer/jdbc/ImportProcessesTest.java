package io.github.keepsake4j.transfer.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Tell;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Eight threads in each of two processes take in the same conversations on first use, while some are erased. */
@Tag("landing")
@Timeout(900)
class ImportProcessesTest {

    private static final int CONVERSATIONS = Counts.of(10, 1_000);

    @ParameterizedTest
    @ValueSource(strings = {"chat_memory", "SPRING_AI_CHAT_MEMORY"})
    void e2_each_conversation_is_taken_in_once_whole_and_in_order(String table) throws Exception {
        Postgres server = Postgres.newest();
        String name = server.newDatabase();
        DataSource database = server.kept(name);
        List<List<ChatMessage>> lists = fill(database, table);

        try (Child child = Child.start(ImportProcess.class, "there", server.port(), name, table, CONVERSATIONS)) {
            // The other process is this one, which begins when the child adds.
            assertThat(child.line()).isNotNull();
            ImportProcess.run("here", database, table, CONVERSATIONS, id -> {});
            child.awaitEnd();
        }

        int whole = 0;
        try (MessageLog log = PostgresMessageLog.open(database)) {
            for (int i = 0; i < CONVERSATIONS; i++) {
                List<ChatMessage> all = new ArrayList<>();
                log
                        .history(ConversationKey.of("default", ImportProcess.id(i)), HistoryQuery.oldest(1_000))
                        .messages()
                        .stream()
                        .map(LoggedMessage::message)
                        .forEach(all::add);
                if (ImportProcess.isErased(i)) {
                    assertThat(all).as("erased conversation %d", i).isEmpty();
                } else {
                    List<ChatMessage> old = lists.get(i);
                    assertThat(all).as("conversation %d", i).startsWith(old.toArray(new ChatMessage[0]));
                    assertThat(all.subList(old.size(), all.size())).hasSize(16).doesNotHaveDuplicates();
                    whole++;
                }
            }
        }
        Tell.line("%d conversations of %s, %d of them whole and the others erased", CONVERSATIONS, table, whole);
    }

    private static List<List<ChatMessage>> fill(DataSource database, String table) throws Exception {
        boolean lists = table.equals("chat_memory");
        Random random = new Random(1);
        List<List<ChatMessage>> all = new ArrayList<>();
        try (Connection connection = database.getConnection()) {
            connection
                    .createStatement()
                    .execute(
                            lists
                                    ? "CREATE TABLE chat_memory (memory_id VARCHAR(255) PRIMARY KEY, content TEXT NOT"
                                            + " NULL)"
                                    : "CREATE TABLE SPRING_AI_CHAT_MEMORY (conversation_id VARCHAR(36) NOT NULL,"
                                            + " content TEXT NOT NULL, type VARCHAR(10) NOT NULL,"
                                            + " \"timestamp\" TIMESTAMP NOT NULL)");
            String insert = lists
                    ? "INSERT INTO chat_memory VALUES (?, ?)"
                    : "INSERT INTO SPRING_AI_CHAT_MEMORY VALUES (?, ?, ?, TIMESTAMP '2026-01-07 10:00:00' + ? *"
                            + " INTERVAL '1 second')";
            try (PreparedStatement statement = connection.prepareStatement(insert)) {
                for (int i = 0; i < CONVERSATIONS; i++) {
                    List<ChatMessage> list = new ArrayList<>();
                    for (int pair = random.nextInt(30); pair >= 0; pair--) {
                        // Questions are often equal.
                        list.add(UserMessage.from("question " + random.nextInt(3)));
                        list.add(AiMessage.from("answer " + list.size()));
                    }
                    all.add(list);
                    statement.setString(1, ImportProcess.id(i));
                    if (lists) {
                        statement.setString(2, ChatMessageSerializer.messagesToJson(list));
                        statement.addBatch();
                    } else {
                        for (int at = 0; at < list.size(); at++) {
                            boolean user = list.get(at) instanceof UserMessage;
                            statement.setString(
                                    2,
                                    user
                                            ? ((UserMessage) list.get(at)).singleText()
                                            : ((AiMessage) list.get(at)).text());
                            statement.setString(3, user ? "USER" : "ASSISTANT");
                            statement.setInt(4, at);
                            statement.addBatch();
                        }
                    }
                }
                statement.executeBatch();
            }
        }
        return all;
    }
}
