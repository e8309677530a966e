package io.github.keepsake4j.spring;

import static io.github.keepsake4j.spring.Contexts.failure;
import static io.github.keepsake4j.spring.Contexts.inMemory;
import static io.github.keepsake4j.spring.Contexts.runner;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.memories.Discussion;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.LongTermMemoryRetriever;
import io.github.keepsake4j.memories.LongTermMemoryRetrieverFactory;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.LongTermMemoryWorkflow;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.NodeConfig;
import io.github.keepsake4j.memories.SourceMessage;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.RecallOptions;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.testing.ConceptModel;
import io.github.keepsake4j.testing.Logs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The beans of an application, its own beans, and its properties. */
class ContextTest {

    @TempDir
    Path directory;

    @Test
    void there_is_one_provider_of_the_declared_type_and_one_store() {
        inMemory().run(context -> {
            assertThat(context).hasSingleBean(Keepsake.class);
            assertThat(context).hasSingleBean(ChatMemoryStore.class);
            assertThat(context.getBeanNamesForType(ChatMemoryProvider.class))
                    .containsExactly("keepsakeChatMemoryProvider");
            assertThat(context.getBean(ChatMemoryProvider.class).get("alice").id())
                    .isEqualTo("alice");
        });
    }

    @Test
    void beans_of_the_user_win() {
        ChatMemoryProvider provider =
                id -> MessageWindowChatMemory.builder().id(id).maxMessages(5).build();
        inMemory().withBean(ChatMemoryProvider.class, () -> provider).run(context -> assertThat(
                        context.getBean(ChatMemoryProvider.class))
                .isSameAs(provider));
        inMemory()
                .withBean(ChatMemory.class, () -> MessageWindowChatMemory.withMaxMessages(5))
                .run(context -> assertThat(context).doesNotHaveBean(ChatMemoryProvider.class));
        inMemory().withBean(ChatMemoryStore.class, InMemoryChatMemoryStore::new).run(context -> assertThat(
                        context.getBean(ChatMemoryStore.class))
                .isInstanceOf(InMemoryChatMemoryStore.class));
        MessageLog log = new InMemoryMessageLog();
        runner().withPropertyValues("keepsake4j.store=s3")
                .withBean(MessageLog.class, () -> log)
                .run(context -> {
                    context.getBean(Keepsake.class).chatMemory("alice").add(UserMessage.from("hello"));
                    assertThat(Logs.details(log, ConversationKey.of("default", "alice"))
                                    .info()
                                    .messages())
                            .isEqualTo(1);
                });
        Keepsake keepsake = Keepsake.builder().messageLog(log).build();
        runner().withPropertyValues("keepsake4j.store=s3")
                .withBean(Keepsake.class, () -> keepsake)
                .run(context -> assertThat(context.getBean(Keepsake.class)).isSameAs(keepsake));
        inMemory()
                .withBean(ContextStrategy.class, () -> SlidingWindow.withMaxMessages(1))
                .run(context -> {
                    ChatMemory memory =
                            context.getBean(ChatMemoryProvider.class).get("alice");
                    memory.add(List.of(UserMessage.from("1"), AiMessage.from("2"), UserMessage.from("3")));
                    assertThat(memory.messages()).hasSize(1);
                });
    }

    @Test
    void a_customizer_sets_what_no_property_sets() {
        inMemory()
                .withBean(KeepsakeCustomizer.class, () -> builder -> builder.tenant("acme"))
                .run(context -> assertThat(context.getBean(Keepsake.class)
                                .conversation("42")
                                .key())
                        .isEqualTo(ConversationKey.of("acme", "42")));
    }

    @Test
    void the_limits_that_are_set_hold_together() {
        inMemory()
                .withPropertyValues("keepsake4j.strategy.max-messages=4", "keepsake4j.strategy.max-turns=1")
                .run(context -> {
                    ChatMemory memory =
                            context.getBean(ChatMemoryProvider.class).get("alice");
                    for (int turn = 0; turn < 3; turn++) {
                        memory.add(List.of(UserMessage.from("question " + turn), AiMessage.from("answer " + turn)));
                    }
                    assertThat(memory.messages())
                            .containsExactly(UserMessage.from("question 2"), AiMessage.from("answer 2"));
                });
        inMemory().run(context -> {
            ChatMemory memory = context.getBean(ChatMemoryProvider.class).get("alice");
            for (int turn = 0; turn < 30; turn++) {
                memory.add(List.of(UserMessage.from("question " + turn), AiMessage.from("answer " + turn)));
            }
            assertThat(memory.messages()).hasSizeBetween(33, 49);
        });
    }

    @Test
    void a_share_lets_messages_turns_and_tokens_move_in_steps() {
        for (String limit : List.of("max-messages=60", "max-turns=30", "max-tokens=300")) {
            assertThat(starts("keepsake4j.strategy." + limit)).as(limit).isGreaterThan(30);
            assertThat(starts("keepsake4j.strategy." + limit, "keepsake4j.strategy.step=0.33"))
                    .as(limit)
                    .isLessThan(20);
        }
        assertThat(starts("keepsake4j.tenant=acme")).as("the default").isLessThan(12);
        assertThat(starts("keepsake4j.strategy.step=0.01"))
                .as("50 messages, by less than 1")
                .isGreaterThan(30);
    }

    /** Returns with how many messages the views of 80 turns begin. */
    private long starts(String... properties) {
        Set<ChatMessage> starts = new HashSet<>();
        inMemory().withPropertyValues(properties).run(context -> {
            ChatMemory memory = context.getBean(ChatMemoryProvider.class).get("alice");
            for (int turn = 0; turn < 80; turn++) {
                memory.add(List.of(UserMessage.from("question " + turn), AiMessage.from("answer " + turn)));
                starts.add(memory.messages().get(0));
            }
        });
        return starts.size();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "keepsake4j.stroe=jdbc                      | keepsake4j.stroe",
                "keepsake4j.store=mysql                     | keepsake4j.store",
                "keepsake4j.strategy.max-messages=0         | keepsake4j.strategy.max-messages: must be 1 or more, is"
                        + " 0",
                "keepsake4j.strategy.max-tokens=many        | keepsake4j.strategy.max-tokens",
                "keepsake4j.strategy.model=no-such-model    | keepsake4j.strategy.model",
                "keepsake4j.strategy.step=16                | keepsake4j.strategy.step: must be more than 0 and at"
                        + " most 0.5, is 16",
                "keepsake4j.strategy.step=0                 | keepsake4j.strategy.step: must be more than 0 and at"
                        + " most 0.5, is 0",
                "keepsake4j.summary.keep-tokens=9000        | keepsake4j.summary.keep-tokens: must be less than",
                "keepsake4j.summary.timeout=0s              | keepsake4j.summary.timeout",
                "keepsake4j.turns.policy=queue              | keepsake4j.turns.policy",
                "keepsake4j.turns.lease=2d                  | keepsake4j.turns.lease: must be from",
                "keepsake4j.retention.cron=daily            | keepsake4j.retention.cron: must be a cron expression",
                "keepsake4j.retention.cron=0 0 3 * * *      | keepsake4j.retention.idle-for: is required",
                "keepsake4j.retention.idle-for=0s           | keepsake4j.retention.idle-for: must be more than zero",
                "keepsake4j.retention.batch-size=5000       | keepsake4j.retention.batch-size",
                "keepsake4j.jdbc.platform=mysql             | keepsake4j.jdbc.platform: must be postgresql or sqlite",
                "keepsake4j.jdbc.initialize-schema=maybe    | keepsake4j.jdbc.initialize-schema",
                "keepsake4j.jdbc.schema=classpath:a.sql     | keepsake4j.jdbc.schema: is run only with",
                "keepsake4j.jdbc.statement-timeout=1ms      | keepsake4j.jdbc.statement-timeout",
                "keepsake4j.s3.access-key=a                 | keepsake4j.s3.secret-key: is missing",
                "keepsake4j.index.file=index.db             | keepsake4j.index.file: needs"
                        + " keepsake4j.index.enabled=true",
                "keepsake4j.memories.freshness=2d           | keepsake4j.memories.freshness: must be from",
                "keepsake4j.memories.store=redis            | keepsake4j.memories.store: must be jdbc or file",
                "keepsake4j.memories.store=file             | keepsake4j.memories.directory: is required",
                "keepsake4j.memories.least-trust=model      | keepsake4j.memories.least-trust",
                "keepsake4j.memories.block-tokens=500       | keepsake4j.memories.block-tokens: needs"
                        + " keepsake4j.memories.enabled",
                "keepsake4j.memories.discusion={}           | keepsake4j.memories.discusion",
                "keepsake4j.shutdown-max-wait=-1s           | keepsake4j.shutdown-max-wait",
                "keepsake4j.tenant=                         | keepsake4j.tenant",
                "keepsake4j.import-from=old                 | keepsake4j.import-from names the bean old",
                "keepsake4j.summary.chat-model=gpt          | keepsake4j.summary.chat-model",
            })
    void a_wrong_property_is_named(String property, String error) {
        inMemory()
                .withPropertyValues("keepsake4j.summary.enabled=true", property)
                .withBean(ChatModel.class, () -> ChatModelMock.thatAlwaysResponds("ok"))
                .run(context -> assertThat(failure(context)).contains(error));
    }

    @Test
    void a_misspelt_property_is_told_in_one_sentence() {
        inMemory().withPropertyValues("keepsake4j.strategy.max-mesages=20").run(context -> {
            FailureAnalysis analysis = new UnknownPropertyFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription())
                    .isEqualTo("keepsake4j.strategy.max-mesages is not a property of Keepsake4j.");
            assertThat(analysis.getAction()).startsWith("Correct its name, or remove it.");
        });
    }

    @Test
    void summaries_are_written_by_the_model_of_the_application() {
        String[] settings = {
            "keepsake4j.summary.enabled=true",
            "keepsake4j.summary.trigger-tokens=40",
            "keepsake4j.summary.keep-tokens=10"
        };
        inMemory().withPropertyValues(settings).run(context -> assertThat(failure(context))
                .contains("ChatModel bean, and there is none"));
        inMemory()
                .withPropertyValues(settings)
                .withBean("one", ChatModel.class, () -> ChatModelMock.thatAlwaysResponds("one"))
                .withBean("two", ChatModel.class, () -> ChatModelMock.thatAlwaysResponds("two"))
                .run(context ->
                        assertThat(failure(context)).contains("there are several", "keepsake4j.summary.chat-model"));
        inMemory()
                .withPropertyValues(settings)
                .withPropertyValues("keepsake4j.summary.chat-model=two")
                .withBean("one", ChatModel.class, () -> ChatModelMock.thatAlwaysResponds("one"))
                .withBean("two", ChatModel.class, () -> ChatModelMock.thatAlwaysResponds("two"))
                .run(context ->
                        assertThat(summarized(context.getBean(Keepsake.class))).isEqualTo("two"));
        inMemory()
                .withPropertyValues(settings)
                .withBean(Summarizer.class, () -> (previous, messages) -> "own")
                .run(context ->
                        assertThat(summarized(context.getBean(Keepsake.class))).isEqualTo("own"));
    }

    private static String summarized(Keepsake keepsake) {
        ChatMemory memory = keepsake.chatMemory("alice");
        for (int turn = 0; turn < 10; turn++) {
            memory.add(List.of(
                    UserMessage.from("a question with some words in it"),
                    AiMessage.from("an answer with some words in it")));
        }
        memory.messages();
        return await().until(() -> keepsake.conversation("alice").summaries(), summaries -> !summaries.isEmpty())
                .get(0)
                .text();
    }

    @Test
    void an_index_finds_what_was_said() {
        inMemory()
                .withPropertyValues("keepsake4j.index.enabled=true")
                .run(context -> found(context.getBean(Keepsake.class)));
        inMemory()
                .withPropertyValues(
                        "keepsake4j.index.enabled=true", "keepsake4j.index.file=" + directory.resolve("index.db"))
                .run(context -> {
                    found(context.getBean(Keepsake.class));
                    assertThat(directory.resolve("index.db")).exists();
                });
    }

    @Test
    void an_embedding_model_is_used_only_under_a_name() {
        ConceptModel unused = new ConceptModel();
        inMemory()
                .withPropertyValues("keepsake4j.index.enabled=true")
                .withBean(EmbeddingModel.class, () -> unused)
                .run(context -> {
                    found(context.getBean(Keepsake.class));
                    context.getBean(Keepsake.class).recall().find("alice", "table");
                    assertThat(unused.calls).isEmpty();
                });
        String name = "keepsake4j.index.embedding-model-name=concepts";
        inMemory()
                .withPropertyValues("keepsake4j.index.enabled=true", name)
                .withBean(EmbeddingModel.class, ConceptModel::new)
                .run(context -> {
                    Keepsake keepsake = context.getBean(Keepsake.class);
                    keepsake.chatMemory("alice").add(UserMessage.from("The puppy sleeps."));
                    await().atMost(Duration.ofMinutes(1)).until(() -> !keepsake.recall()
                            .find(
                                    "alice",
                                    "Which hound?",
                                    RecallOptions.standard().shownTo(ConversationKey.of("default", "bob")))
                            .passages()
                            .isEmpty());
                });
        inMemory().withPropertyValues("keepsake4j.index.enabled=true", name).run(context -> assertThat(failure(context))
                .contains("EmbeddingModel bean, and there is none"));
        inMemory()
                .withPropertyValues(name)
                .withBean(EmbeddingModel.class, ConceptModel::new)
                .run(context -> assertThat(failure(context)).contains("embedding-model-name needs an index"));
    }

    private static void found(Keepsake keepsake) {
        keepsake.chatMemory("alice").add(UserMessage.from("Book a table at the Italian restaurant"));
        assertThat(keepsake.search()
                        .find(Scope.memory(ConversationKey.of("default", "alice")), "restaurants")
                        .hits())
                .hasSize(1);
    }

    @Test
    void memories_are_made_and_read_by_beans_that_are_known_by_their_names() {
        made().withPropertyValues("keepsake4j.memories.discussion=" + NAMED)
                .withBean(
                        "lastLine",
                        LongTermMemoryWorkflow.class,
                        () -> inputs -> "They said: "
                                + inputs.get(0)
                                        .lines()
                                        .reduce((first, second) -> second)
                                        .orElse(""))
                .withBean("count", LongTermMemoryWorkflow.class, () -> inputs -> "a summary")
                .withBean(
                        "Loud",
                        LongTermMemoryRetriever.class,
                        () -> (memories, config) ->
                                memories.chunks().get(0).text().toUpperCase(Locale.ROOT))
                .withBean(
                        LongTermMemoryRetrieverFactory.class,
                        () -> () -> Map.of("Two", (memories, config) -> config.text("input", "none")))
                .run(context -> {
                    Keepsake keepsake = context.getBean(Keepsake.class);
                    keepsake.chatMemory("alice")
                            .add(UserMessage.from("I am Alice."), AiMessage.from("Hello"), UserMessage.from("Bye"));
                    await().until(() -> !chunks(keepsake).isEmpty());
                    assertThat(chunks(keepsake)).first().asString().startsWith("They said: ");
                    Discussion discussion =
                            context.getBean(Discussions.class).discussion(ConversationKey.of("default", "alice"));
                    List<SourceMessage> messages = keepsake.conversation("alice").branch(10).messages().stream()
                            .map(SourceMessage::of)
                            .toList();
                    assertThat(discussion.retrieve("Loud", NodeConfig.EMPTY, messages))
                            .startsWith("THEY SAID: ");
                    assertThat(discussion.retrieve("Two", NodeConfig.EMPTY, messages))
                            .isEqualTo("none");
                });
    }

    private static final String NAMED =
            "{\"fileMemoryWorkflowName\": \"lastLine\", \"chatSummaryWorkflowName\": \"count\","
                    + " \"lookbackStartTurn\": 0, \"maxMessagesBetweenChunks\": 1}";

    private ApplicationContextRunner made() {
        return inMemory()
                .withPropertyValues(
                        "keepsake4j.memories.enabled=true",
                        "keepsake4j.memories.freshness=0s",
                        "keepsake4j.memories.directory=" + directory.resolve("made"));
    }

    private static List<String> chunks(Keepsake keepsake) {
        return keepsake.longTermMemories().of("alice").list(MadeMemory.Kind.CHUNK).stream()
                .map(MadeMemory::text)
                .toList();
    }

    @Test
    void memories_are_made_by_the_model_of_the_application_and_in_the_way_that_a_file_tells() throws Exception {
        Path file = Files.writeString(directory.resolve("discussion.json"), "{\"lookbackStartTurn\": 0}");
        made().withPropertyValues("keepsake4j.memories.discussion-file=file:" + file)
                .withBean("one", ChatModel.class, () -> ChatModelMock.thatAlwaysResponds("one"))
                .withBean("two", ChatModel.class, () -> ChatModelMock.thatAlwaysResponds("two"))
                .withPropertyValues("keepsake4j.memories.chat-model=two", "keepsake4j.memories.block-tokens=500")
                .run(context -> {
                    Keepsake keepsake = context.getBean(Keepsake.class);
                    for (int i = 0; i < 6; i++) {
                        keepsake.chatMemory("alice").add(UserMessage.from("question"), AiMessage.from("answer"));
                    }
                    await().until(() -> chunks(keepsake).contains("two"));
                    // A read goes on without memories that are not loaded in time, as on a busy machine.
                    await().untilAsserted(() -> assertThat(
                                    keepsake.conversation("alice").explain().memories())
                            .isNotEmpty());
                });
    }

    @Test
    void what_is_missing_for_memories_is_named() {
        made().run(context -> assertThat(failure(context))
                .contains("Memories need a ChatModel bean, and there is none", "keepsake4j.memories.chat-model"));
        made().withPropertyValues("keepsake4j.memories.discussion=" + NAMED).run(context -> assertThat(failure(context))
                .contains("fileMemoryWorkflowName", "lastLine", "bean of LongTermMemoryWorkflow"));
        made().withPropertyValues("keepsake4j.memories.discussion={\"lookbackStartTurn\": \"x\"}")
                .run(context -> assertThat(failure(context))
                        .contains("keepsake4j.memories.discussion is refused: lookbackStartTurn"));
        made().withPropertyValues("keepsake4j.memories.discussion-file=classpath:absent.json")
                .run(context -> assertThat(failure(context))
                        .contains("keepsake4j.memories.discussion-file names classpath:absent.json"));
        inMemory().withPropertyValues("keepsake4j.memories.enabled=true").run(context -> assertThat(failure(context))
                .contains("keepsake4j.memories.directory", "keepsake4j.memories.store=jdbc"));
    }

    @Test
    void discussions_of_the_user_are_used_only_if_memories_are_enabled() {
        ApplicationContextRunner own = inMemory()
                .withBean(LongTermMemoryStore.class, () -> FileLongTermMemoryStore.of(directory.resolve("own")))
                .withBean("own", Discussions.class, () -> Discussions.builder(FileLongTermMemoryStore.of(directory))
                        .chatModel(ChatModelMock.thatAlwaysResponds("ok"))
                        .build());
        own.run(context -> assertThatThrownBy(
                        () -> context.getBean(Keepsake.class).longTermMemories().of("alice"))
                .hasMessageContaining("memories"));
        own.withPropertyValues("keepsake4j.memories.enabled=true").run(context -> {
            assertThat(context).hasSingleBean(Discussions.class).hasSingleBean(LongTermMemoryStore.class);
            assertThat(chunks(context.getBean(Keepsake.class))).isEmpty();
        });
    }

    @Test
    void conversations_are_imported_from_the_store_that_is_named_and_ours_is_there_beside_it() {
        inMemory()
                .withPropertyValues("keepsake4j.import-from=old")
                .withUserConfiguration(OldStore.class)
                .run(context -> {
                    assertThat(context.getBean(ChatMemoryProvider.class)
                                    .get("alice")
                                    .messages())
                            .containsExactly(UserMessage.from("said before"));
                    assertThat(context.getBeanNamesForType(ChatMemoryStore.class))
                            .containsExactlyInAnyOrder("old", "keepsakeChatMemoryStore");
                    assertThat(context.getBean(ChatMemoryStore.class)).isNotInstanceOf(InMemoryChatMemoryStore.class);
                });
    }

    @Test
    void our_own_store_is_neither_proposed_nor_taken_to_import_from() {
        for (String name : List.of("absent", "keepsakeChatMemoryStore")) {
            inMemory().withPropertyValues("keepsake4j.import-from=" + name).run(context -> assertThat(failure(context))
                    .contains("import-from names the bean " + name, "Add a bean of the old ChatMemoryStore")
                    .doesNotContain("one of:"));
            inMemory()
                    .withPropertyValues("keepsake4j.import-from=" + name)
                    .withUserConfiguration(OldStore.class)
                    .run(context -> assertThat(failure(context)).contains("Set it to one of: old."));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OldStore {

        @Bean
        ChatMemoryStore old() {
            InMemoryChatMemoryStore store = new InMemoryChatMemoryStore();
            store.updateMessages("alice", List.of(UserMessage.from("said before")));
            return store;
        }
    }

    @Test
    void the_default_memory_id_is_refused_unless_it_is_accepted() {
        inMemory()
                .withPropertyValues("keepsake4j.accept-default-memory-id=true")
                .run(context -> assertThat(context.getBean(ChatMemoryProvider.class)
                                .get("default")
                                .messages())
                        .isEmpty());
    }

    @Test
    void retention_is_off_until_there_is_a_time_and_removes_what_is_idle() {
        inMemory().withPropertyValues("keepsake4j.retention.idle-for=1d").run(context -> assertThat(context)
                .doesNotHaveBean(RetentionJob.class));
        inMemory().withPropertyValues("keepsake4j.retention.cron=-").run(context -> assertThat(context)
                .doesNotHaveBean(RetentionJob.class));
        inMemory()
                .withPropertyValues(
                        "keepsake4j.retention.cron=* * * * * *",
                        "keepsake4j.retention.idle-for=1ms",
                        "keepsake4j.retention.tenants=default,other")
                .run(context -> {
                    Keepsake keepsake = context.getBean(Keepsake.class);
                    keepsake.chatMemory("alice").add(UserMessage.from("hello"));
                    await().until(() ->
                            keepsake.conversation("alice").messages().isEmpty());
                });
    }

    @Test
    void retention_may_be_limited_to_memories_with_metadata() {
        inMemory()
                .withPropertyValues(
                        "keepsake4j.listed-metadata=project",
                        "keepsake4j.retention.cron=* * * * * *",
                        "keepsake4j.retention.idle-for=1ms",
                        "keepsake4j.retention.metadata.project=apollo")
                .run(context -> {
                    Keepsake keepsake = context.getBean(Keepsake.class);
                    for (String id : List.of("alice", "bob")) {
                        keepsake.chatMemory(id).add(UserMessage.from("hello"));
                    }
                    keepsake.conversation("alice").describe(null, Map.of("project", "apollo"));
                    await().until(() ->
                            keepsake.conversation("alice").messages().isEmpty());
                    assertThat(keepsake.conversation("bob").messages()).hasSize(1);
                });
    }

    @Test
    void work_in_the_background_ends_with_the_context_within_the_time_that_is_set() {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean interrupted = new AtomicBoolean();
        AtomicReference<Thread> thread = new AtomicReference<>();
        inMemory().withPropertyValues("keepsake4j.shutdown-max-wait=100ms").run(context -> {
            context.getBean(BackgroundWork.class).execute(() -> {
                thread.set(Thread.currentThread());
                begun.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    interrupted.set(true);
                }
            });
            begun.await();
        });
        await().until(() -> !thread.get().isAlive() || interrupted.get());

        AtomicBoolean ended = new AtomicBoolean();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch closing = new CountDownLatch(1);
        inMemory()
                .withBean("closing", AutoCloseableLifecycle.class, () -> new AutoCloseableLifecycle(closing))
                .run(context -> {
                    context.getBean(BackgroundWork.class).execute(() -> {
                        started.countDown();
                        try {
                            closing.await();
                            ended.set(true);
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    });
                    started.await();
                });
        assertThat(ended).isTrue();
    }

    /** Says that the context closes, before the background work is stopped. */
    private record AutoCloseableLifecycle(CountDownLatch closing) implements SmartLifecycle {

        @Override
        public void start() {}

        @Override
        public void stop() {
            closing.countDown();
        }

        @Override
        public boolean isRunning() {
            return true;
        }
    }

    @Test
    void every_property_has_a_description_for_the_ide_and_no_secret_is_printed() throws Exception {
        JsonNode metadata = new ObjectMapper()
                .readTree(getClass().getResourceAsStream("/META-INF/spring-configuration-metadata.json"));
        List<JsonNode> properties = new ArrayList<>();
        metadata.at("/properties").forEach(properties::add);
        assertThat(properties).hasSizeGreaterThan(40).allSatisfy(property -> {
            assertThat(property.path("name").asText()).matches("(keepsake4j|management\\.endpoint\\.keepsake)\\..*");
            assertThat(property.path("description").asText())
                    .as(property.toString())
                    .isNotBlank();
        });
        inMemory()
                .withPropertyValues(
                        "keepsake4j.redis.url=redis://user:hunter2@localhost",
                        "keepsake4j.s3.access-key=hunter2",
                        "keepsake4j.s3.secret-key=hunter2")
                .run(context -> assertThat(
                                context.getBean(KeepsakeProperties.class).toString())
                        .doesNotContain("hunter2"));
    }

    @Test
    void it_costs_little_at_the_start() {
        long without = start(false);
        long with = start(true);
        System.out.println("Start-up with Keepsake4j: " + (with - without) + " ms more than without");
    }

    private static long start(boolean enabled) {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            long begin = System.nanoTime();
            inMemory().withPropertyValues("keepsake4j.enabled=" + enabled).run(context -> assertThat(context)
                    .hasNotFailed());
            best = Math.min(best, Duration.ofNanos(System.nanoTime() - begin).toMillis());
        }
        return best;
    }
}
