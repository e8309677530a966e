package io.github.keepsake4j.spring;

import static io.github.keepsake4j.spring.Contexts.chatted;
import static io.github.keepsake4j.spring.Contexts.failure;
import static io.github.keepsake4j.spring.Contexts.runner;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.S3Server;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import redis.clients.jedis.UnifiedJedis;
import software.amazon.awssdk.services.s3.S3Client;

/** Which store an application gets, or what it is told to add. */
class StoresTest {

    @TempDir
    Path directory;

    private ApplicationContextRunner with(DataSource source) {
        return runner().withBean("dataSource", DataSource.class, () -> source);
    }

    @Test
    void an_application_that_merely_has_the_jar_starts_and_opens_nothing() {
        runner().run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(MemoriesInUse.class).logs()).isEmpty();
            assertThatThrownBy(() -> context.getBean(ChatMemoryProvider.class))
                    .rootCause()
                    .hasMessageContaining("There is no store for memories")
                    .hasMessageContaining("keepsake4j.store")
                    .hasMessageContaining("keepsake4j.sqlite.file");
        });
        with(Contexts.h2()).run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void it_can_be_switched_off() {
        runner().withPropertyValues("keepsake4j.enabled=false", "keepsake4j.store=s3")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ChatMemoryProvider.class));
    }

    @Test
    void a_file_or_a_directory_that_is_named_is_enough() {
        runner().withPropertyValues("keepsake4j.sqlite.file=" + directory.resolve("chat.db"))
                .run(context -> assertThat(chatted(context)).isEqualTo("sqlite"));
        runner().withPropertyValues("keepsake4j.file.directory=" + directory.resolve("chats"))
                .run(context -> assertThat(chatted(context)).isEqualTo("file"));
    }

    @Test
    void a_chat_in_redis_or_in_a_bucket_goes_on_after_a_restart() throws Exception {
        S3Server s3 = S3Server.shared();
        try (Redis redis = Redis.durable(directory)) {
            goesOn(runner().withPropertyValues(
                            "keepsake4j.store=redis",
                            "keepsake4j.redis.url=" + redis.uri(),
                            "keepsake4j.redis.time-to-live=7d"));
            goesOn(runner().withBean(UnifiedJedis.class, redis::client)
                    .withPropertyValues("keepsake4j.redis.prefix=other:"));
        }
        goesOn(runner().withPropertyValues(
                        "keepsake4j.store=s3",
                        "keepsake4j.s3.bucket=" + s3.newBucket(),
                        "keepsake4j.s3.endpoint=" + s3.endpoint(),
                        "keepsake4j.s3.region=" + S3Server.REGION,
                        "keepsake4j.s3.access-key=" + S3Server.ACCESS_KEY,
                        "keepsake4j.s3.secret-key=" + S3Server.SECRET_KEY,
                        "keepsake4j.s3.turn-mode=true"));
        goesOn(runner().withBean(S3Client.class, () -> S3Server.client(s3.port()))
                .withPropertyValues("keepsake4j.s3.bucket=" + s3.newBucket()));
    }

    private interface Chat {
        String chat(@MemoryId String user, @dev.langchain4j.service.UserMessage String text);
    }

    private static void goesOn(ApplicationContextRunner application) {
        List<ChatMessage> seen = new ArrayList<>();
        ChatModelMock model = ChatModelMock.thatResponds(request -> {
            seen.clear();
            seen.addAll(request.messages());
            return AiMessage.from("answer");
        });
        for (String question : List.of("My name is Alice.", "Who am I?")) {
            application.run(context -> AiServices.builder(Chat.class)
                    .chatModel(model)
                    .chatMemoryProvider(context.getBean(ChatMemoryProvider.class))
                    .build()
                    .chat("alice", question));
        }
        assertThat(seen)
                .as("what the model saw after the restart")
                .containsExactly(
                        UserMessage.from("My name is Alice."), AiMessage.from("answer"), UserMessage.from("Who am I?"));
        application.run(context -> assertThat(
                        context.getBean(Keepsake.class).conversation("alice").messages())
                .hasSize(4));
    }

    @Test
    void memory_is_used_only_if_it_is_asked_for() {
        runner().withPropertyValues("keepsake4j.store=in-memory")
                .run(context -> assertThat(chatted(context)).isEqualTo("memory"));
        runner().withPropertyValues("keepsake4j.strategy.max-messages=5")
                .run(context -> assertThat(failure(context)).contains("There is no store for memories"));
    }

    @Test
    void several_stores_are_an_error_that_names_them_and_a_property_chooses() {
        ApplicationContextRunner both = runner().withPropertyValues(
                        "keepsake4j.sqlite.file=" + directory.resolve("chat.db"),
                        "keepsake4j.file.directory=" + directory.resolve("chats"));
        both.run(context -> assertThat(failure(context)).contains("several stores: sqlite, file.", "keepsake4j.store"));
        both.withPropertyValues("keepsake4j.store=file")
                .run(context -> assertThat(chatted(context)).isEqualTo("file"));
        both.withPropertyValues("keepsake4j.node-log.store=file").run(context -> {
            assertThat(chatted(context)).isEqualTo("sqlite");
            assertThat(context.getBean(KeepsakeAutoConfiguration.NODE_LOG, MessageLog.class)
                            .backend())
                    .isEqualTo("file");
            assertThat(context.getBean(MessageLog.class).backend()).isEqualTo("sqlite");
        });
    }

    @ParameterizedTest
    @CsvSource({
        "jdbc, DataSource bean",
        "sqlite, keepsake4j.sqlite.file",
        "file, keepsake4j.file.directory",
        "redis, keepsake4j.redis.url",
        "s3, keepsake4j.s3.bucket",
    })
    void a_store_that_lacks_something_says_what(String store, String needs) {
        runner().withPropertyValues("keepsake4j.store=" + store)
                .run(context -> assertThat(failure(context)).contains(needs));
    }

    @ParameterizedTest
    @CsvSource({
        "sqlite, sqlite.file=chat.db, org.sqlite, org.xerial:sqlite-jdbc",
        "redis, redis.url=redis://localhost, redis.clients, redis.clients:jedis",
        "s3, s3.bucket=chat, software.amazon.awssdk, software.amazon.awssdk:s3",
    })
    void a_library_that_is_absent_is_named(String store, String property, String missing, String artifact) {
        runner().withClassLoader(new FilteredClassLoader(missing))
                .withPropertyValues("keepsake4j.store=" + store, "keepsake4j." + property)
                .run(context -> assertThat(failure(context)).contains("Add " + artifact));
    }

    @Test
    void an_application_without_any_optional_library_keeps_memories_in_files() {
        runner().withClassLoader(new FilteredClassLoader(
                        "org.sqlite",
                        "org.postgresql",
                        "com.zaxxer",
                        "redis.clients",
                        "software.amazon.awssdk",
                        "io.micrometer",
                        "org.apache.lucene",
                        "picocli",
                        "org.springframework.jdbc",
                        "org.springframework.transaction",
                        "org.springframework.boot.actuate"))
                .withPropertyValues("keepsake4j.file.directory=" + directory.resolve("chats"))
                .run(context -> assertThat(chatted(context)).isEqualTo("file"));
    }

    @Test
    void a_data_source_of_sqlite_is_enough_and_its_tables_are_made() {
        String url = "jdbc:sqlite:" + directory.resolve("chat.db");
        with(Contexts.sqlite(url + "?foreign_keys=true"))
                .withPropertyValues("keepsake4j.tenant=acme")
                .run(context -> {
                    assertThat(chatted(context)).isEqualTo("sqlite");
                    assertThat(directory.resolve("chat.db")).exists();
                });
        with(Contexts.sqlite("jdbc:sqlite::memory:"))
                .withPropertyValues("keepsake4j.store=jdbc")
                .run(context -> assertThat(failure(context)).contains("without a file", "jdbc:sqlite:chat.db"));
        with(Contexts.sqlite("jdbc:sqlite:" + directory.resolve("other.db")))
                .withPropertyValues("keepsake4j.jdbc.initialize-schema=never")
                .run(context -> assertThat(failure(context)).contains("has no tables", "initialize-schema=never"));
        runner().withPropertyValues("keepsake4j.sqlite.file=" + directory.resolve("absent/chat.db"))
                .run(context -> assertThat(failure(context))
                        .contains("directory that does not exist", "keepsake4j.sqlite.file"));
    }

    @Test
    void a_place_that_cannot_be_used_is_named_with_its_property() throws Exception {
        Path file = Files.writeString(directory.resolve("taken"), "x".repeat(5_000));
        Map<String, String> problems = Map.of(
                "memories.directory=" + file + "/made", "taken is not a directory",
                "index.file=" + directory, "is a directory",
                "index.file=" + directory + "/absent/index.db", "directory that does not exist",
                "sqlite.file=" + file, "taken cannot keep memories: ");
        problems.forEach((property, problem) -> runner().withPropertyValues(
                        property.startsWith("sqlite") ? "keepsake4j.tenant=acme" : "keepsake4j.store=in-memory",
                        "keepsake4j.memories.enabled=true",
                        "keepsake4j.index.enabled=true",
                        "keepsake4j." + property)
                .withBean(ChatModel.class, () -> ChatModelMock.thatAlwaysResponds("ok"))
                .run(context -> assertThat(failure(context))
                        .contains(problem, "Set keepsake4j." + property.substring(0, property.indexOf('=')))));
    }

    @Test
    void what_a_store_refuses_is_named_as_a_property() {
        Map<String, String> problems = Map.of(
                "redis.url=http://:hidden@127.0.0.1:1", "keepsake4j.redis.url: must begin with redis://",
                "redis.prefix={a}", "keepsake4j.redis.prefix: must not contain { or }",
                "redis.time-to-live=0s", "keepsake4j.redis.time-to-live: must be at least a millisecond");
        problems.forEach((property, problem) -> runner().withPropertyValues(
                        "keepsake4j.store=redis", "keepsake4j.redis.url=redis://127.0.0.1:1", "keepsake4j." + property)
                .run(context -> assertThat(failure(context)).contains(problem).doesNotContain("hidden")));
    }

    @Test
    void the_file_of_the_log_is_refused_for_the_index_at_the_start() {
        Path file = directory.resolve("both.db");
        runner().withPropertyValues(
                        "keepsake4j.sqlite.file=" + file,
                        "keepsake4j.index.enabled=true",
                        "keepsake4j.index.file=" + file)
                .run(context -> assertThat(failure(context))
                        .contains(
                                "both.db cannot keep the index: ",
                                "is the file of a log",
                                "Set keepsake4j.index.file"));
    }

    @Test
    void tables_of_postgresql_are_made_only_if_that_is_asked_for() throws Exception {
        DataSource source = Contexts.postgres(Postgres.newest().newDatabase());

        with(source).withPropertyValues("keepsake4j.store=jdbc").run(context -> assertThat(failure(context))
                .contains("keepsake4j.jdbc.initialize-schema=always", "V1__keepsake.sql"));
        with(source)
                .withPropertyValues("keepsake4j.jdbc.initialize-schema=always")
                .run(context -> assertThat(chatted(context)).isEqualTo("postgresql"));
        with(source)
                .withPropertyValues("keepsake4j.jdbc.initialize-schema=never")
                .run(context -> assertThat(chatted(context)).isEqualTo("postgresql"));
        with(source).run(context -> assertThat(chatted(context)).isEqualTo("postgresql"));
    }

    @Test
    void memories_that_are_made_are_kept_beside_the_conversations() throws Exception {
        ApplicationContextRunner made = with(Contexts.postgres(Postgres.newest().newDatabase()))
                .withBean(ChatModel.class, () -> ChatModelMock.thatAlwaysResponds("Her name is Alice."))
                .withPropertyValues(
                        "keepsake4j.memories.enabled=true",
                        "keepsake4j.memories.freshness=1d",
                        "keepsake4j.memories.discussion={\"lookbackStartTurn\": 0, \"maxMessagesBetweenChunks\": 1}");
        made.withPropertyValues("keepsake4j.jdbc.initialize-schema=always").run(context -> {
            chatted(context);
            Keepsake keepsake = context.getBean(Keepsake.class);
            keepsake.chatMemory("alice").add(AiMessage.from("Hello Alice"), UserMessage.from("What now?"));
            assertThat(keepsake.longTermMemories().make("alice").made()).isNotEmpty();
        });
        made.run(context -> assertThat(context.getBean(Keepsake.class)
                        .longTermMemories()
                        .of("alice")
                        .list(MadeMemory.Kind.CHUNK))
                .extracting(MadeMemory::text)
                .containsExactly("Her name is Alice."));
        with(Contexts.postgres(Postgres.newest().newDatabase()))
                .withPropertyValues("keepsake4j.store=in-memory", "keepsake4j.memories.store=jdbc")
                .withPropertyValues("keepsake4j.memories.enabled=true")
                .run(context -> assertThat(failure(context))
                        .contains("keepsake4j.jdbc.initialize-schema=always", "V1__keepsake_memories.sql"));
    }

    @Test
    void a_script_of_the_users_makes_the_tables_once() throws Exception {
        DataSource source = Contexts.postgres(Postgres.newest().newDatabase());
        String ours = new String(MessageLog.class
                .getResourceAsStream("/io/github/keepsake4j/schema/postgresql/V1__keepsake.sql")
                .readAllBytes());
        Path script = directory.resolve("postgresql.sql");
        Files.writeString(script, ours + "CREATE TABLE of_the_user (id integer);");
        ApplicationContextRunner own = with(source)
                .withPropertyValues(
                        "keepsake4j.jdbc.initialize-schema=always",
                        "keepsake4j.jdbc.schema=file:" + directory + "/@@platform@@.sql");

        own.run(context -> assertThat(chatted(context)).isEqualTo("postgresql"));
        own.run(context -> assertThat(chatted(context)).isEqualTo("postgresql"));
        Postgres.execute(source, "DROP TABLE of_the_user");
        own.withPropertyValues("keepsake4j.jdbc.schema=classpath:absent.sql")
                .run(context -> assertThat(failure(context)).contains("keepsake4j.jdbc.schema", "absent.sql"));
    }

    @Test
    void a_data_source_of_another_kind_is_an_error_unless_there_is_another_store() {
        ApplicationContextRunner h2 = with(Contexts.h2());
        h2.withPropertyValues("keepsake4j.tenant=acme").run(context -> assertThat(failure(context))
                .contains("of H2", "keepsake4j.store", "@KeepsakeDataSource"));
        h2.withPropertyValues("keepsake4j.store=jdbc")
                .run(context -> assertThat(failure(context)).contains("of H2"));
        h2.withPropertyValues("keepsake4j.file.directory=" + directory.resolve("chats"))
                .run(context -> assertThat(chatted(context)).isEqualTo("file"));
        h2.run(context -> assertThatThrownBy(() -> context.getBean(Keepsake.class))
                .rootCause()
                .hasMessageContaining("of H2"));
    }

    @Test
    void of_several_data_sources_one_is_marked() {
        ApplicationContextRunner two = runner().withPropertyValues("keepsake4j.tenant=acme")
                .withBean("one", DataSource.class, Contexts::h2)
                .withBean("two", DataSource.class, Contexts::h2);
        two.run(context ->
                assertThat(failure(context)).contains("several DataSource beans", "@KeepsakeDataSource", "@Primary"));
        MarkedDataSource.file = directory.resolve("marked.db");
        two.withUserConfiguration(MarkedDataSource.class).run(context -> {
            assertThat(chatted(context)).isEqualTo("sqlite");
            assertThat(MarkedDataSource.file).exists();
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedDataSource {

        static Path file;

        @Bean(defaultCandidate = false)
        @KeepsakeDataSource
        DataSource memories() {
            return Contexts.sqlite("jdbc:sqlite:" + file);
        }
    }

    /** The beans that the guide shows. */
    @Configuration(proxyBeanMethods = false)
    static class OwnPool {

        @Bean(defaultCandidate = false)
        @KeepsakeDataSource
        DataSource memories(@Value("${memories.url}") String url) {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl(url);
            return pool;
        }

        @Bean
        KeepsakeCustomizer ids() {
            return builder -> builder.memoryIdMapper(id -> ConversationKey.of("acme", id.toString()));
        }
    }

    @Test
    void a_pool_of_its_own_and_a_customizer_apply() {
        runner().withUserConfiguration(OwnPool.class)
                .withPropertyValues(
                        "memories.url=jdbc:sqlite:" + directory.resolve("guide.db"), "keepsake4j.tenant=other")
                .run(context -> {
                    assertThat(chatted(context)).isEqualTo("sqlite");
                    assertThat(context.getBean(Keepsake.class)
                                    .conversation(new StringBuilder("42"))
                                    .key())
                            .hasToString("conversation/acme/42");
                });
    }

    @Test
    void with_the_platform_named_the_database_may_be_away_at_the_start() {
        DataSource away = Postgres.database("none", 1);
        with(away).withPropertyValues("keepsake4j.store=jdbc").run(context -> assertThat(failure(context))
                .contains("The database server cannot be reached (SQLSTATE 08001)", "keepsake4j.jdbc.platform"));
        with(away)
                .withPropertyValues("keepsake4j.store=jdbc", "keepsake4j.jdbc.platform=postgresql")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void the_log_that_was_opened_is_closed_with_the_context() {
        Map<String, MessageLog> logs = new HashMap<>();
        runner().withPropertyValues("keepsake4j.file.directory=" + directory.resolve("chats"))
                .run(context -> logs.putAll(context.getBean(MemoriesInUse.class).logs()));
        assertThat(logs).hasSize(1);
        assertThatThrownBy(() -> logs.values().iterator().next().list("default", ListQuery.first(1)))
                .hasMessageContaining("closed");
    }
}
