package com.example.league;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** A store as an application writes it by hand: one row for each memory, with its messages as JSON. */
final class SqlChatMemoryStore implements ChatMemoryStore {

    private final DataSource pool;

    SqlChatMemoryStore(DataSource pool) {
        this.pool = pool;
        update("CREATE TABLE IF NOT EXISTS chat_memory (id TEXT PRIMARY KEY, messages TEXT NOT NULL)");
    }

    @Override
    public List<ChatMessage> getMessages(Object memoryId) {
        try (Connection connection = pool.getConnection();
                PreparedStatement select =
                        connection.prepareStatement("SELECT messages FROM chat_memory WHERE id = ?")) {
            select.setString(1, memoryId.toString());
            try (ResultSet row = select.executeQuery()) {
                return row.next() ? ChatMessageDeserializer.messagesFromJson(row.getString(1)) : List.of();
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void updateMessages(Object memoryId, List<ChatMessage> messages) {
        update(
                "INSERT INTO chat_memory (id, messages) VALUES (?, ?)"
                        + " ON CONFLICT (id) DO UPDATE SET messages = excluded.messages",
                memoryId.toString(),
                ChatMessageSerializer.messagesToJson(messages));
    }

    @Override
    public void deleteMessages(Object memoryId) {
        update("DELETE FROM chat_memory WHERE id = ?", memoryId.toString());
    }

    private void update(String sql, String... values) {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setString(i + 1, values[i]);
            }
            statement.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
