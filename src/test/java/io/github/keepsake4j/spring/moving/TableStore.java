package io.github.keepsake4j.spring.moving;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A store with a table of its own, as applications write it. */
public class TableStore implements ChatMemoryStore {

    private final JdbcTemplate jdbc;

    public TableStore(DataSource dataSource) {
        this.jdbc = new JdbcTemplate(dataSource);
        jdbc.execute("CREATE TABLE IF NOT EXISTS chats (id text PRIMARY KEY, messages text NOT NULL)");
    }

    @Override
    public List<ChatMessage> getMessages(Object memoryId) {
        return jdbc.queryForList("SELECT messages FROM chats WHERE id = ?", String.class, memoryId).stream()
                .flatMap(json -> ChatMessageDeserializer.messagesFromJson(json).stream())
                .toList();
    }

    @Override
    public void updateMessages(Object memoryId, List<ChatMessage> messages) {
        jdbc.update(
                "INSERT INTO chats VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET messages = excluded.messages",
                memoryId,
                ChatMessageSerializer.messagesToJson(messages));
    }

    @Override
    public void deleteMessages(Object memoryId) {
        jdbc.update("DELETE FROM chats WHERE id = ?", memoryId);
    }
}
