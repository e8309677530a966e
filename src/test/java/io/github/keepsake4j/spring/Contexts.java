package io.github.keepsake4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.testing.Postgres;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.sqlite.SQLiteDataSource;

/** Application contexts with the auto-configuration, and what they are made of. */
final class Contexts {

    /** OpenTelemetry and Flyway are on the class path of the tests for a library and for another test. */
    static final String WITHOUT_OTHERS = "spring.autoconfigure.exclude="
            + "org.springframework.boot.actuate.autoconfigure.logging.OpenTelemetryLoggingAutoConfiguration,"
            + "org.springframework.boot.autoconfigure.flyway.FlywayAutoConfiguration,"
            + "org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration";

    private Contexts() {}

    static ApplicationContextRunner runner() {
        return new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(KeepsakeAutoConfiguration.class));
    }

    static ApplicationContextRunner inMemory() {
        return runner().withPropertyValues("keepsake4j.store=in-memory");
    }

    /** Returns the text of the error with which a context failed. */
    static String failure(AssertableApplicationContext context) {
        assertThat(context).hasFailed();
        StringBuilder text = new StringBuilder();
        for (Throwable cause = context.getStartupFailure(); cause != null; cause = cause.getCause()) {
            text.append(cause.getMessage()).append('\n');
        }
        return text.toString();
    }

    /** Chats, and returns what the memories are kept in. */
    static String chatted(AssertableApplicationContext context) {
        assertThat(context).hasNotFailed();
        Keepsake keepsake = context.getBean(Keepsake.class);
        keepsake.chatMemory("alice").add(UserMessage.from("My name is Alice."));
        assertThat(keepsake.conversation("alice").messages()).hasSize(1);
        return context.getBean(MemoriesInUse.class).logs().entrySet().stream()
                .filter(log -> !log.getKey().equals(KeepsakeAutoConfiguration.NODE_LOG))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow()
                .backend();
    }

    static DataSource postgres(String database) {
        return Postgres.newest().database(database);
    }

    static DataSource sqlite(String url) {
        SQLiteDataSource source = new SQLiteDataSource();
        source.setUrl(url);
        return source;
    }

    /** Returns a data source of a database that is neither. */
    static DataSource h2() {
        DatabaseMetaData data =
                proxy(DatabaseMetaData.class, Map.of("getDatabaseProductName", "H2", "getURL", "jdbc:h2:mem:x"));
        Connection connection = proxy(Connection.class, Map.of("getMetaData", data));
        return proxy(DataSource.class, Map.of("getConnection", connection));
    }

    private static <T> T proxy(Class<T> type, Map<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> self == arguments[0];
                    case "toString" -> type.getSimpleName();
                    default -> answers.get(method.getName());
                }));
    }
}
