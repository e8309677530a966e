package com.example.conformance;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.conformance.ChatMemoryConformance;
import io.github.keepsake4j.conformance.ChatMemoryStoreConformance;
import io.github.keepsake4j.conformance.ConformanceReport;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Runs the conformance kit on Spring AI's JDBC repository, its window and its session project, over PostgreSQL, and prints
 * what each passes. Argument: {@code full} for the counts that the kit's page states.
 */
public final class Conformance {

    private static boolean full;

    private Conformance() {}

    /**
     * Runs it.
     *
     * @param arguments none, or {@code full}
     * @throws Exception if the server does not start
     */
    public static void main(String[] arguments) throws Exception {
        full = List.of(arguments).contains("full");
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            System.setProperty(Database.URL, server.getJdbcUrl("postgres", "postgres"));
            Database.createTables();
            ConformanceReport[] reports = Stream.<Supplier<ConformanceReport>>of(
                            new Repository()::report,
                            new Memories("Spring AI's MessageWindowChatMemory over its repository", Windows.class)
                                    ::report,
                            new Memories("spring-ai-session", Sessions.class)::report)
                    .map(Supplier::get)
                    .peek(report -> System.out.println(report.text()))
                    .toArray(ConformanceReport[]::new);
            ConformanceReport.write(Path.of("target", "conformance.md"), reports);
        }
    }

    private static Map<String, String> url() {
        return Map.of(Database.URL, System.getProperty(Database.URL));
    }

    private static int counted(int stated) {
        return full ? stated : Math.max(1, stated / 20);
    }

    private static final class Repository extends ChatMemoryStoreConformance {
        @Override
        protected ChatMemoryStore open() {
            return new RepositoryStore();
        }

        @Override
        protected Class<? extends Supplier<? extends ChatMemoryStore>> factory() {
            return Repositories.class;
        }

        @Override
        protected Map<String, String> properties() {
            return url();
        }

        @Override
        protected int count(int stated) {
            return counted(stated);
        }

        @Override
        protected String subject() {
            return "Spring AI's JdbcChatMemoryRepository";
        }
    }

    private static final class Memories extends ChatMemoryConformance {
        private final String subject;
        private final Class<? extends Supplier<? extends ChatMemoryProvider>> factory;
        private ChatMemoryProvider newest;

        Memories(String subject, Class<? extends Supplier<? extends ChatMemoryProvider>> factory) {
            this.subject = subject;
            this.factory = factory;
        }

        @Override
        protected ChatMemoryProvider open() throws ReflectiveOperationException {
            newest = factory.getConstructor().newInstance().get();
            return newest;
        }

        @Override
        protected List<ChatMessage> kept(ChatMemory memory) {
            return newest instanceof SessionMemories sessions ? sessions.kept(memory.id()) : null;
        }

        @Override
        protected Class<? extends Supplier<? extends ChatMemoryProvider>> factory() {
            return factory;
        }

        @Override
        protected Map<String, String> properties() {
            return url();
        }

        @Override
        protected int count(int stated) {
            return counted(stated);
        }

        @Override
        protected String subject() {
            return subject;
        }
    }

    /** Opens the repository in another process. */
    public static final class Repositories implements Supplier<ChatMemoryStore> {
        @Override
        public ChatMemoryStore get() {
            return new RepositoryStore();
        }
    }

    /** Opens the window in another process. */
    public static final class Windows implements Supplier<ChatMemoryProvider> {
        @Override
        public ChatMemoryProvider get() {
            return new WindowMemories();
        }
    }

    /** Opens the session project in another process. */
    public static final class Sessions implements Supplier<ChatMemoryProvider> {
        @Override
        public ChatMemoryProvider get() {
            return new SessionMemories();
        }
    }
}
