package io.github.keepsake4j.spring.moving.before;

import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.spring.AiService;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.spring.moving.Chat;
import io.github.keepsake4j.spring.moving.TableStore;
import javax.sql.DataSource;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class App {

    @Bean
    ChatMemoryStore tableStore(DataSource dataSource) {
        return new TableStore(dataSource);
    }

    @Bean
    ChatMemoryProvider memories(ChatMemoryStore store) {
        return id -> MessageWindowChatMemory.builder()
                .id(id)
                .maxMessages(20)
                .chatMemoryStore(store)
                .build();
    }

    @AiService
    public interface Assistant extends Chat {
        @Override
        String chat(@MemoryId String conversation, @UserMessage String text);
    }

    @Bean
    ChatModel chatModel() {
        return Chat.model();
    }
}
