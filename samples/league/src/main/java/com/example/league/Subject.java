package com.example.league;

import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import org.springframework.ai.chat.memory.InMemoryChatMemoryRepository;

/** What is compared. */
enum Subject {
    KEEPSAKE("Keepsake4j", Place.SERVER, (home, window) -> keepsake(home, window, KeepsakeChat.Service.PLAIN)),
    KEEPSAKE_ATTACHED(
            "Keepsake4j, keepsake.aiServices",
            Place.SERVER,
            (home, window) -> keepsake(home, window, KeepsakeChat.Service.ATTACHED)),
    LANGCHAIN4J(
            "LangChain4j's window, hand-written SQL store",
            Place.SERVER,
            (home, window) -> new LangChain4jChat(new SqlChatMemoryStore(home.pool()), window)),
    SPRING(
            "Spring AI's window, JDBC repository",
            Place.SERVER,
            (home, window) -> new SpringChat(SpringChat.jdbc(home.pool()), window)),
    SESSION("spring-ai-session 0.6.0, community", Place.SERVER, (home, window) -> new SessionChat(home.pool(), window)),
    KEEPSAKE_SQLITE(
            "Keepsake4j, SQLite",
            Place.FILE,
            (home, window) -> new KeepsakeChat(MessageLogs.sqlite(home.file()), window, KeepsakeChat.Service.PLAIN)),
    LANGCHAIN4J_HEAP(
            "LangChain4j, heap",
            Place.HEAP,
            (home, window) -> new LangChain4jChat(new InMemoryChatMemoryStore(), window)),
    SPRING_HEAP(
            "Spring AI, heap",
            Place.HEAP,
            (home, window) -> new SpringChat(new InMemoryChatMemoryRepository(), window));

    /** Where the messages are. */
    enum Place {
        SERVER,
        FILE,
        HEAP
    }

    /** Opens a chat. */
    @FunctionalInterface
    interface Opener {
        Chat open(Home home, int window);
    }

    private static Chat keepsake(Home home, int window, KeepsakeChat.Service service) {
        JdbcMessageLog log = JdbcMessageLog.builder()
                .dataSource(home.pool())
                .schema(SchemaMode.ALWAYS)
                .build();
        return new KeepsakeChat(log, window, service);
    }

    private final String title;
    private final Place place;
    private final Opener opener;

    Subject(String title, Place place, Opener opener) {
        this.title = title;
        this.place = place;
        this.opener = opener;
    }

    String title() {
        return title;
    }

    Place place() {
        return place;
    }

    Chat open(Home home, int window) {
        return opener.open(home, window);
    }
}
