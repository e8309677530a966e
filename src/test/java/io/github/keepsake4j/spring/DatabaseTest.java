package io.github.keepsake4j.spring;

import static io.github.keepsake4j.spring.Contexts.chatted;
import static io.github.keepsake4j.spring.Contexts.failure;
import static io.github.keepsake4j.spring.Contexts.runner;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.util.ClassUtils;

/** A database whose address Testcontainers or Docker Compose tells, and one whose tables Flyway makes. */
class DatabaseTest {

    @TempDir
    Path directory;

    /** Returns a type of Spring Boot that moved in version 4. */
    private static Class<?> type(String boot3, String boot4) {
        ClassLoader loader = DatabaseTest.class.getClassLoader();
        return ClassUtils.resolveClassName(ClassUtils.isPresent(boot4, loader) ? boot4 : boot3, loader);
    }

    private static ApplicationContextRunner pooled() {
        return runner().withConfiguration(AutoConfigurations.of(type(
                "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
                "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")));
    }

    private static String url(String database) {
        return "jdbc:postgresql://127.0.0.1:" + Postgres.newest().port() + "/" + database;
    }

    /** Adds the bean that {@code @ServiceConnection} and Docker Compose add. */
    private static <T> ApplicationContextRunner withDetails(
            ApplicationContextRunner runner, Class<T> type, String database) {
        Map<String, String> values =
                Map.of("getJdbcUrl", url(database), "getUsername", "postgres", "getPassword", "postgres");
        return runner.withBean(
                type,
                () -> type.cast(Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (self, method, arguments) -> method.isDefault()
                                ? InvocationHandler.invokeDefault(self, method, arguments)
                                : values.get(method.getName()))));
    }

    @Test
    void memories_are_in_the_database_of_the_connection_details_whatever_the_properties_say() throws Exception {
        String named = Postgres.newest().newDatabase();
        String told = Postgres.newest().newDatabase();
        ApplicationContextRunner application = pooled().withPropertyValues(
                        "spring.datasource.url=" + url(named),
                        "spring.datasource.username=postgres",
                        "keepsake4j.jdbc.initialize-schema=always");
        Class<?> details = type(
                "org.springframework.boot.autoconfigure.jdbc.JdbcConnectionDetails",
                "org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails");

        withDetails(application, details, told)
                .run(context -> assertThat(chatted(context)).isEqualTo("postgresql"));

        try (JdbcMessageLog log = PostgresMessageLog.open(Postgres.newest().database(told))) {
            assertThat(Logs.details(log, ConversationKey.of("default", "alice"))
                            .info()
                            .messages())
                    .isEqualTo(1);
        }
        application.run(context -> assertThat(
                        context.getBean(Keepsake.class).conversation("alice").messages())
                .isEmpty());
    }

    @Test
    void flyway_makes_the_tables_before_anything_looks_for_them() throws Exception {
        ApplicationContextRunner application = pooled().withConfiguration(AutoConfigurations.of(type(
                        "org.springframework.boot.autoconfigure.flyway.FlywayAutoConfiguration",
                        "org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration")))
                .withBean(ChatModel.class, () -> ChatModelMock.thatAlwaysResponds("ok"))
                .withPropertyValues(
                        "spring.datasource.url=" + url(Postgres.newest().newDatabase()),
                        "spring.datasource.username=postgres",
                        "spring.flyway.locations=filesystem:" + directory,
                        "keepsake4j.jdbc.initialize-schema=never",
                        "keepsake4j.index.enabled=true",
                        "keepsake4j.memories.enabled=true");
        application.run(context -> assertThat(failure(context)).contains("V1__keepsake.sql"));

        copy("postgresql/V1__keepsake.sql", "V2__keepsake.sql");
        copy("index/postgresql/V1__keepsake_index.sql", "V3__keepsake_index.sql");
        copy("memories/postgresql/V1__keepsake_memories.sql", "V4__keepsake_memories.sql");
        application.run(context -> assertThat(chatted(context)).isEqualTo("postgresql"));

        application.run(context -> {
            Keepsake keepsake = context.getBean(Keepsake.class);
            assertThat(keepsake.conversation("alice").messages())
                    .containsExactly(UserMessage.from("My name is Alice."));
            assertThat(keepsake.search()
                            .find(Scope.memory(ConversationKey.of("default", "alice")), "Alice")
                            .hits())
                    .hasSize(1);
            assertThat(keepsake.longTermMemories().make("alice").made()).isEmpty();
        });
    }

    private void copy(String script, String migration) throws IOException {
        try (InputStream text = Keepsake.class.getResourceAsStream("/io/github/keepsake4j/schema/" + script)) {
            Files.copy(text, directory.resolve(migration));
        }
    }
}
