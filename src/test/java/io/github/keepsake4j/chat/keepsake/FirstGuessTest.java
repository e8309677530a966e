package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.Tenant;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.component.MemoryInput;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.recall.RecallOptions;
import io.github.keepsake4j.recall.SearchOptions;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.transfer.ImportSource;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.postgresql.ds.PGSimpleDataSource;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** The short forms that users type first do what the long ones do. */
class FirstGuessTest {

    @TempDir
    Path directory;

    @Test
    void the_limits_of_the_builder_hold_together_and_with_the_strategy() {
        TokenCounter counter = TokenCounter.forModel("gpt-4o-mini");
        int ofThree = counter.estimateTokenCountInMessages(
                List.of(user("question 20"), ai("answer 20"), user("question 20")));
        assertThat(shown(Keepsake.builder())).isBetween(33, 50);
        assertThat(shown(Keepsake.builder().maxMessages(20))).isEqualTo(20);
        assertThat(shown(Keepsake.builder().maxMessages(20).maxTokens(ofThree, counter)))
                .isEqualTo(2);
        assertThat(shown(Keepsake.builder().maxTokens(100_000, counter))).isEqualTo(120);
        assertThat(shown(Keepsake.builder().maxMessages(20).strategy(SlidingWindow.withMaxTurns(3))))
                .isEqualTo(6);
        assertThat(shown(Keepsake.builder()
                        .strategy(SlidingWindow.withMaxTurns(30))
                        .maxMessages(20)))
                .isEqualTo(20);
    }

    @Test
    void a_limit_of_tokens_needs_no_counter() {
        WordCounter words = new WordCounter();
        assertThat(shown(Keepsake.builder().maxTokens(10).tokenCountEstimator(words)))
                .isEqualTo(shown(Keepsake.builder().maxTokens(10, words)))
                .isEqualTo(2);
        assertThat(shown(Keepsake.builder()
                        .maxTokens(10)
                        .strategy(TokenLimit.withMaxTokens(1_000, words).and(SlidingWindow.withMaxMessages(100)))))
                .isEqualTo(2);
        assertThat(shown(Keepsake.builder().maxTokens(100)))
                .isEqualTo(shown(Keepsake.builder().maxTokens(100, TokenCounter.standard())))
                .isPositive();
        assertThrown(InvalidInputException.class, () -> Keepsake.builder().maxTokens(0), "maxTokens");
    }

    @Test
    void the_default_and_what_is_asked_to_move_in_steps_begin_with_the_same_message_for_many_turns() {
        TokenCounter counter = TokenCounter.forModel("gpt-4o-mini");
        int ofFifty = 50 * counter.estimateTokenCountInMessage(user("question 20"));

        assertThat(moves(Keepsake.builder().maxMessages(50)))
                .as("an exact limit")
                .isGreaterThan(30);
        assertThat(moves(Keepsake.builder())).as("the default").isLessThan(8);
        assertThat(moves(Keepsake.builder().maxMessages(50).steps()))
                .as("messages")
                .isLessThan(8);
        assertThat(moves(Keepsake.builder().maxTokens(ofFifty, counter).steps()))
                .as("tokens")
                .isLessThan(8);
        assertThat(moves(Keepsake.builder()
                        .strategy(SlidingWindow.withMaxTurns(25))
                        .maxTokens(ofFifty, counter)
                        .steps()))
                .as("turns of the strategy, and tokens")
                .isLessThan(12);
    }

    /** Returns how many messages are shown after 60 turns. */
    private static int shown(Keepsake.Builder builder) {
        return views(builder).get(59).size();
    }

    /** Returns how often the first message that is shown is another one than in the turn before, in 60 turns. */
    private static long moves(Keepsake.Builder builder) {
        return views(builder).stream().map(view -> view.get(0)).distinct().count() - 1;
    }

    private static List<List<ChatMessage>> views(Keepsake.Builder builder) {
        KeepsakeChatMemory memory =
                builder.messageLog(MessageLogs.inMemory()).build().chatMemory("c");
        List<List<ChatMessage>> views = new ArrayList<>();
        for (int turn = 1; turn <= 60; turn++) {
            memory.add(user("question " + turn));
            memory.add(ai("answer " + turn));
            views.add(memory.messages());
        }
        return views;
    }

    @Test
    void a_summarizer_alone_or_a_model_summarizes_what_leaves_the_view() {
        for (UnaryOperator<Keepsake.Builder> summarizer : List.<UnaryOperator<Keepsake.Builder>>of(
                builder -> builder.summarizer((previous, messages) -> "They asked."),
                builder -> builder.summarizer(new Script("They asked.")))) {
            Keepsake keepsake = asked(60, summarizer.apply(Keepsake.builder().maxMessages(20)));
            assertThat(keepsake.conversation("c").summarizeNow()).isPositive();
            assertThat(keepsake.conversation("c").summaries().get(0).text()).isEqualTo("They asked.");
            assertThat(keepsake.conversation("c").messages().get(0))
                    .isInstanceOfSatisfying(UserMessage.class, shown -> assertThat(shown.singleText())
                            .contains("They asked."));
        }
    }

    /** Returns a keepsake with a conversation of so many questions and answers. */
    private static Keepsake asked(int turns, Keepsake.Builder builder) {
        Keepsake keepsake = builder.messageLog(MessageLogs.inMemory()).build();
        for (int turn = 1; turn <= turns; turn++) {
            keepsake.chatMemory("c").add(user("question " + turn), ai("answer " + turn));
        }
        return keepsake;
    }

    @Test
    void the_newest_messages_of_the_history_need_no_query() {
        Conversation chat = asked(30, Keepsake.builder()).conversation("c");
        assertThat(chat.history(20)).isEqualTo(chat.history(HistoryQuery.newest(20)));
        assertThat(chat.history(20).messages()).hasSize(20);
        assertThatThrownBy(() -> chat.history(0)).isInstanceOf(InvalidInputException.class);
    }

    @Test
    void a_history_goes_on_at_a_sequence_that_was_kept() {
        Conversation chat = asked(30, Keepsake.builder()).conversation("c");
        HistoryPage newest = chat.history(10);
        long first = newest.messages().get(0).sequence();

        HistoryPage before = chat.history(HistoryQuery.before(first, 10));
        assertThat(newest.next()).contains(HistoryQuery.before(first, 10));
        assertThat(before).isEqualTo(chat.history(newest.next().orElseThrow()));
        HistoryPage after = chat.history(HistoryQuery.after(first - 1, 10));
        assertThat(after.messages()).isEqualTo(newest.messages());
        assertThat(HistoryQuery.oldest(10))
                .isEqualTo(HistoryQuery.after(0, 10))
                .hasSameHashCodeAs(HistoryQuery.after(0, 10));
        assertThrown(InvalidInputException.class, () -> HistoryQuery.before(-1, 10), "sequence");
    }

    @Test
    void a_conversation_of_another_tenant_is_found_at_the_tenant() {
        Keepsake keepsake = Keepsakes.on(MessageLogs.inMemory());
        ConversationKey key = ConversationKey.of("acme", "42");
        keepsake.chatMemory(key).add(user("Hello."));

        Tenant acme = keepsake.tenant("acme");
        assertThat(acme.conversation(42L).messages()).containsExactly(user("Hello."));
        assertThat(acme.conversation("42").key()).isEqualTo(key);
        assertThat(acme.conversation(key).key()).isEqualTo(key);
        assertThat(keepsake.tenant("globex").conversation("42").messages()).isEmpty();
        assertThrown(
                InvalidInputException.class,
                () -> keepsake.tenant("globex").conversation(key),
                "must be of tenant globex, is conversation/acme/42");
        assertThatThrownBy(() -> acme.conversation("default")).isInstanceOf(InvalidInputException.class);
    }

    @ParameterizedTest
    @Homes
    void an_erasure_says_how_many_messages_it_deleted(MessageLog log) throws Exception {
        Keepsake keepsake = Keepsake.builder().messageLog(log).build();
        KeepsakeChatMemory memory = keepsake.chatMemory("c");
        memory.add(user("question"));
        memory.add(ai("answer"));
        keepsake.conversation("c").append(Parent.root(), "another-branch", user("another question"));

        assertThat(keepsake.conversation("c").erase()).isEqualTo(3);
        assertThat(keepsake.conversation("c").erase()).isZero();
        assertThat(keepsake.conversation("c").info()).isEmpty();
    }

    @Test
    void an_erasure_imports_nothing_to_count_it() {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(MessageLogs.inMemory())
                .importFrom((ImportSource) conversation -> {
                    throw new IllegalStateException("the old store is down");
                })
                .build();

        assertThat(keepsake.conversation("c").erase()).isZero();
    }

    @Test
    void a_keepsake_and_its_handles_say_what_they_are() {
        MessageLog log = MessageLogs.inMemory();
        Keepsake keepsake =
                Keepsake.builder().messageLog(log).tenant("acme ltd").build();
        keepsake.chatMemory("c d").add(user("secret text"));
        assertThat(keepsake)
                .hasToString("Keepsake[tenant=acme%20ltd, messageLog=InMemoryMessageLog[memories=1],"
                        + " nodeLog=InMemoryMessageLog[memories=1]]");
        assertThat(keepsake.conversation("c d")).hasToString("Conversation[conversation/acme%20ltd/c%20d]");
        assertThat(keepsake.chatMemory("c d")).hasToString("KeepsakeChatMemory[conversation/acme%20ltd/c%20d]");
        assertThat(keepsake.tenant("acme ltd")).hasToString("Tenant[acme%20ltd]");
        assertThat(keepsake.nodes("app 1")).hasToString("NodeMemories[app%201]");
    }

    @Test
    void a_log_says_where_it_is_and_no_password() {
        Path file = directory.resolve("chat.db");
        Path files = directory.resolve("chats");
        S3Client client = S3Client.builder()
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(AnonymousCredentialsProvider.create())
                .build();
        Map<MessageLog, String> logs = Map.of(
                MessageLogs.sqlite(file),
                "JdbcMessageLog[SQLite file " + file + "]",
                MessageLogs.files(files),
                "FileMessageLog[" + files + "]",
                MessageLogs.inMemory(),
                "InMemoryMessageLog[memories=0]",
                MessageLogs.postgres("jdbc:postgresql://h/d?password=hush", "user", "hush", SchemaMode.EMBEDDED),
                "JdbcMessageLog[PostgreSQL]",
                RedisMessageLog.builder()
                        .server(URI.create("redis://user:hush@localhost:1"))
                        .prefix("chat:")
                        .checks(RedisMessageLog.Checks.NONE)
                        .build(),
                "RedisMessageLog[chat:]",
                MessageLogs.s3(client, "bucket", "chats"),
                "S3MessageLog[s3://bucket/chats/]",
                new ForwardingMessageLog(MessageLogs.inMemory()) {},
                "InMemoryMessageLog[memories=0]");
        logs.forEach((log, text) -> {
            assertThat(log).hasToString(text);
            log.close();
        });
    }

    @Test
    void a_path_may_be_a_text() {
        try (MessageLog log = MessageLogs.sqlite(directory.resolve("chat.db").toString());
                MessageLog files = MessageLogs.files(directory.resolve("chats").toString())) {
            Keepsake.builder()
                    .messageLog(log)
                    .nodeLog(files)
                    .build()
                    .chatMemory("c")
                    .add(user("Hello."));
        }
        assertThat(directory.resolve("chat.db")).isRegularFile();
        assertThat(directory.resolve("chats")).isDirectory();
        assertThrown(InvalidInputException.class, () -> MessageLogs.sqlite("a\0b"), "file");
    }

    @Test
    void a_log_in_postgresql_is_found_by_its_name() {
        try (MessageLog log = PostgresMessageLog.open(new PGSimpleDataSource());
                MessageLog ofUrl = PostgresMessageLog.open("jdbc:postgresql://h/d", "user", "", SchemaMode.ALWAYS);
                MessageLog built = PostgresMessageLog.builder()
                        .dataSource(new PGSimpleDataSource())
                        .build()) {
            assertThat(List.of(log, ofUrl, built))
                    .extracting(MessageLog::backend)
                    .containsOnly("postgresql");
        }
    }

    /** They will get further parts, which would break each caller of a constructor. */
    @Test
    void what_applications_construct_and_what_grows_has_no_public_constructor() {
        for (Class<?> type : List.of(SearchOptions.class, RecallOptions.class, MemoryInput.class, HistoryQuery.class)) {
            assertThat(type.getConstructors()).as(type.getSimpleName()).isEmpty();
            assertThat(Modifier.isFinal(type.getModifiers())).isTrue();
            assertThat(type.isRecord()).isFalse();
        }
        assertThat(SearchOptions.standard().withPageSize(5).onlyVisible())
                .isEqualTo(SearchOptions.standard().onlyVisible().withPageSize(5))
                .isNotEqualTo(SearchOptions.standard().withPageSize(5));
        assertThat(RecallOptions.standard().withMaxTokens(5).alsoHidden())
                .isEqualTo(RecallOptions.standard().alsoHidden().withMaxTokens(5))
                .isNotEqualTo(RecallOptions.standard());
        assertThat(MemoryInput.add("s", user("Hello.")).withMaxTokens(9))
                .isEqualTo(MemoryInput.fromJson(
                        MemoryInput.add("s", user("Hello.")).withMaxTokens(9).toJson()))
                .isNotEqualTo(MemoryInput.get("s"));
        assertThat(MemoryInput.add("s", user("secret")).toString()).doesNotContain("secret");
    }

    @Test
    void a_log_is_opened_in_each_home_that_needs_no_server() {
        Map<String, MessageLog> logs = Map.of(
                "sqlite", MessageLogs.sqlite(directory.resolve("chat.db")),
                "file", MessageLogs.files(directory.resolve("chats")),
                "memory", MessageLogs.inMemory());
        logs.forEach((name, log) -> {
            Keepsake.builder().messageLog(log).build().chatMemory("c").add(user("Hello."));
            assertThat(log.backend()).isEqualTo(name);
            log.close();
        });
    }
}
