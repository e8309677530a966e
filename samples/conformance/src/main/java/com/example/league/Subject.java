package com.example.league;

import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import org.springframework.ai.chat.memory.InMemoryChatMemoryRepository;

/** What is compared. */
enum Subject {
    KEEPSAKE(
            "Keepsake4j",
            Place.SERVER,
            (home, window) -> new KeepsakeChat(
                    JdbcMessageLog.builder()
                            .dataSource(home.pool())
                            .schema(SchemaMode.ALWAYS)
                            .build(),
                    window)),
    LANGCHAIN4J(
            "LangChain4j, SQL store",
            Place.SERVER,
            (home, window) -> new LangChain4jChat(new SqlChatMemoryStore(home.pool()), window)),
    SPRING("Spring AI, JDBC", Place.SERVER, (home, window) -> new SpringChat(SpringChat.jdbc(home.pool()), window)),
    SESSION("Spring AI Session", Place.SERVER, (home, window) -> new SessionChat(home.pool(), window)),
    KEEPSAKE_SQLITE(
            "Keepsake4j, SQLite",
            Place.FILE,
            (home, window) -> new KeepsakeChat(MessageLogs.sqlite(home.file()), window)),
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

    /** Returns what the subject is, for a reader who sees nothing else of the page. */
    String fullTitle() {
        return switch (this) {
            case LANGCHAIN4J -> "LangChain4j's window, hand-written SQL store";
            case SPRING -> "Spring AI's window, JDBC repository";
            case SESSION -> "spring-ai-session 0.6.0, community";
            default -> title;
        };
    }

    Place place() {
        return place;
    }

    Chat open(Home home, int window) {
        return opener.open(home, window);
    }
}
