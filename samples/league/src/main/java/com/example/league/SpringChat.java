package com.example.league;

import java.util.List;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.memory.repository.jdbc.JdbcChatMemoryRepository;

/** Spring AI's window behind its {@code ChatClient}. */
final class SpringChat implements Chat {

    private final ChatMemoryRepository repository;
    private final int window;
    private final ChatClient client;

    SpringChat(ChatMemoryRepository repository, int window) {
        this.repository = repository;
        this.window = window;
        this.client = SpringModel.client(MessageChatMemoryAdvisor.builder(MessageWindowChatMemory.builder()
                        .chatMemoryRepository(repository)
                        .maxMessages(window)
                        .build())
                .build());
    }

    static ChatMemoryRepository jdbc(DataSource pool) {
        Script.run(pool, "org/springframework/ai/chat/memory/repository/jdbc/schema-postgresql.sql");
        return JdbcChatMemoryRepository.builder().dataSource(pool).build();
    }

    @Override
    public void fill(String conversation, int messages) {
        repository.saveAll(
                conversation,
                IntStream.range(Math.max(0, messages - window), messages)
                        .mapToObj(SpringModel::filled)
                        .toList());
    }

    @Override
    public String ask(String conversation, String question) {
        return SpringModel.ask(client, conversation, question);
    }

    @Override
    public List<String> shown(String conversation) {
        return stored(conversation);
    }

    @Override
    public List<String> stored(String conversation) {
        return repository.findByConversationId(conversation).stream()
                .map(SpringModel::text)
                .toList();
    }

    @Override
    public void close() {}
}
