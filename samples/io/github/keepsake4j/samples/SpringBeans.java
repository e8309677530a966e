package io.github.keepsake4j.samples;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.spring.KeepsakeCustomizer;
import io.github.keepsake4j.spring.KeepsakeDataSource;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The beans that the guide shows. A test starts an application with them. */
@Configuration(proxyBeanMethods = false)
public class SpringBeans {

    // example begins
    @Bean
    ChatModel chatModel(@Value("${openai.key}") String key) { // with dev.langchain4j:langchain4j-open-ai:1.19.0
        return OpenAiChatModel.builder().apiKey(key).modelName("gpt-4o-mini").build();
    }
    // example ends

    // example begins
    @Bean(defaultCandidate = false)
    @KeepsakeDataSource
    DataSource memories(@Value("${chats.url}") String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        return pool;
    }

    @Bean
    KeepsakeCustomizer ids() {
        return builder -> builder.memoryIdMapper(id -> ConversationKey.of("acme", id.toString()));
    }
    // example ends
}
