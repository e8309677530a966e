package com.example.conformance;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import java.util.List;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.memory.repository.jdbc.JdbcChatMemoryRepository;

/** Spring AI's window over its JDBC repository as memories of LangChain4j. */
public final class WindowMemories implements ChatMemoryProvider, AutoCloseable {

    private final HikariDataSource source = Database.connect();
    private final MessageWindowChatMemory window = MessageWindowChatMemory.builder()
            .chatMemoryRepository(
                    JdbcChatMemoryRepository.builder().dataSource(source).build())
            .maxMessages(60)
            .build();

    @Override
    public ChatMemory get(Object id) {
        return new ChatMemory() {
            @Override
            public Object id() {
                return id;
            }

            @Override
            public void add(ChatMessage message) {
                window.add(id.toString(), Messages.toSpring(message));
            }

            @Override
            public List<ChatMessage> messages() {
                return Messages.fromSpring(window.get(id.toString()));
            }

            @Override
            public void clear() {
                window.clear(id.toString());
            }
        };
    }

    @Override
    public void close() {
        source.close();
    }
}
