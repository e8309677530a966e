package com.example.conformance;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import java.util.List;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.memory.repository.jdbc.JdbcChatMemoryRepository;

/** Spring AI's JDBC repository as a store of LangChain4j: both read, replace and delete whole lists. */
public final class RepositoryStore implements ChatMemoryStore, AutoCloseable {

    private final HikariDataSource source = Database.connect();
    private final ChatMemoryRepository repository =
            JdbcChatMemoryRepository.builder().dataSource(source).build();

    @Override
    public List<ChatMessage> getMessages(Object id) {
        return Messages.fromSpring(repository.findByConversationId(id.toString()));
    }

    @Override
    public void updateMessages(Object id, List<ChatMessage> messages) {
        repository.saveAll(id.toString(), Messages.toSpring(messages));
    }

    @Override
    public void deleteMessages(Object id) {
        repository.deleteByConversationId(id.toString());
    }

    @Override
    public void close() {
        source.close();
    }
}
