package io.github.keepsake4j.spring;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.guardrail.OutputGuardrailException;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.spring.app.Assistant;
import io.github.keepsake4j.spring.app.ChatApplication;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.turn.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** An application over PostgreSQL, as LangChain4j's starter and Spring Boot make it. */
class RunningAppTest {

    private String url;

    @BeforeEach
    void database() throws Exception {
        url = "jdbc:postgresql://127.0.0.1:" + Postgres.newest().port() + "/"
                + Postgres.newest().newDatabase();
    }

    private String[] arguments(String... more) {
        return Stream.concat(
                        Stream.of(
                                "--spring.datasource.url=" + url,
                                "--spring.datasource.username=postgres",
                                "--keepsake4j.jdbc.initialize-schema=always",
                                "--spring.main.banner-mode=off",
                                "--" + Contexts.WITHOUT_OTHERS),
                        Stream.of(more))
                .toArray(String[]::new);
    }

    private ConfigurableApplicationContext start(String... more) {
        return start(new Class<?>[] {ChatApplication.class}, more);
    }

    private ConfigurableApplicationContext start(Class<?>[] sources, String... more) {
        SpringApplication application = new SpringApplication(sources);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.setRegisterShutdownHook(false);
        return application.run(arguments(more));
    }

    @Test
    void a_service_chats_with_tools_retrieved_texts_and_guardrails() {
        try (ConfigurableApplicationContext context = start()) {
            Assistant assistant = context.getBean(Assistant.class);
            Keepsake keepsake = context.getBean(Keepsake.class);
            assertThat(assistant.chat("alice", "hello")).isEqualTo("heard 1: hello");
            assertThat(assistant.chat("alice", "what is the time?")).isEqualTo("it is noon");
            assertThat(assistant.chat("alice", "what is on the menu?")).contains("heard 3", "soup of the day");
            assertThrown(OutputGuardrailException.class, () -> assistant.chat("alice", "what is hidden?"));
            assertThatThrownBy(() -> assistant.chat("alice", "broken")).hasMessageContaining("the model is down");
            assertThat(assistant.chat("bob", "hello")).isEqualTo("heard 1: hello");

            assertThat(said(keepsake, "alice"))
                    .containsSubsequence("hello", "heard 1: hello", "what is the time?", "noon", "it is noon")
                    .contains("the secret REJECTED", "broken FAILED");
            assertThat(keepsake.conversation("alice").messages())
                    .contains(UserMessage.from("what is on the menu?"))
                    .filteredOn(UserMessage.class::isInstance)
                    .noneMatch(shown -> shown.toString().contains("soup of the day"));
            assertThat(keepsake.conversation("alice").branch(20).messages().stream()
                            .filter(logged -> logged.message() instanceof UserMessage)
                            .map(LoggedMessage::userText))
                    .contains("what is on the menu?");
            assertThat(assistant.chat("alice", "and now?"))
                    .startsWith("heard 4")
                    .endsWith("and now?");
        }
    }

    @Test
    void an_answer_was_made_anew_elsewhere_or_from_other_words_and_nobody_was_told() {
        try (ConfigurableApplicationContext context = start()) {
            Assistant assistant = context.getBean(Assistant.class);
            Keepsake keepsake = context.getBean(Keepsake.class);
            assistant.translate("dora", "{{ bees }}");
            Conversation chat = keepsake.conversation("dora");
            String answer = last(keepsake, "dora").id();
            List<String> before = said(keepsake, "dora");

            assertThrown(
                    InvalidInputException.class,
                    () -> chat.regenerate(answer, asked -> assistant.translate("erik", asked.singleText())));
            assertThrown(
                    InvalidInputException.class,
                    () -> chat.regenerate(answer, asked -> assistant.translate("dora", asked.singleText())),
                    "Keepsake.attach");
            assertThat(said(keepsake, "dora")).isEqualTo(before);
            assertThat(keepsake.conversation("erik").info()).isEmpty();

            assertThrown(
                    KeepsakeException.class,
                    () -> chat.regenerate(
                            answer, asked -> CompletableFuture.supplyAsync(() -> assistant.translate("dora", "ants"))
                                    .join()));
            chat.regenerate(answer, asked -> assistant.translate("dora", "{{ bees }}"));
            assertThat(chat.branch(2).messages().get(0).userText()).isEqualTo("Translate {{ bees }}");
        }
    }

    @Test
    void a_stream_that_breaks_off_or_is_stopped_is_kept_and_answers_can_be_made_anew() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            Assistant assistant = context.getBean(Assistant.class);
            Keepsake keepsake = context.getBean(Keepsake.class);
            assertThat(context.getBean(StreamingChatModel.class)).isNotNull();

            assertThat(streamed(assistant.stream("alice", "hello world"), Integer.MAX_VALUE))
                    .isEqualTo("heard 1: hello world");
            assertThat(streamed(assistant.stream("alice", "to be cut here"), Integer.MAX_VALUE))
                    .isEqualTo("heard 2: to be cut ");
            assertThat(streamed(assistant.stream("alice", "stopped by the user"), 2))
                    .isEqualTo("heard 3: ");
            // What was handed out is stored when the handler of the last token has returned.
            Awaitility.await().untilAsserted(() -> assertThat(said(keepsake, "alice"))
                    .containsSubsequence(
                            "heard 2: to be cut  INCOMPLETE", "stopped by the user", "heard 3:  INCOMPLETE"));

            assistant.chat("bob", "hello");
            LoggedMessage answer =
                    keepsake.conversation("bob").branch(1).messages().get(0);
            assertThat(assistant.again("bob", "hello", Turn.regenerate(answer.id())))
                    .isEqualTo("heard 1: hello");
            assertThat(keepsake.conversation("bob").branches()).hasSize(2);
            assertThatThrownBy(() -> assistant.chat("bob", "broken")).hasMessageContaining("down");
            String failed = last(keepsake, "bob").id();
            assertThatThrownBy(() -> assistant.again("bob", "broken", Turn.retry(failed)))
                    .hasMessageContaining("down");
            assertThat(said(keepsake, "bob"))
                    .filteredOn(text -> text.startsWith("broken"))
                    .hasSize(1);
        }
    }

    /** Streams until the end or until some tokens have come, and returns what came. */
    private static String streamed(TokenStream stream, int stopAfter) throws Exception {
        StringBuffer text = new StringBuffer();
        AtomicInteger tokens = new AtomicInteger();
        CountDownLatch end = new CountDownLatch(1);
        stream.onPartialResponseWithContext((part, context) -> {
                    text.append(part.text());
                    if (tokens.incrementAndGet() == stopAfter) {
                        context.streamingHandle().cancel();
                        end.countDown();
                    }
                })
                .onCompleteResponse(response -> end.countDown())
                .onError(error -> end.countDown())
                .start();
        assertThat(end.await(1, TimeUnit.MINUTES)).isTrue();
        return text.toString();
    }

    private static LoggedMessage last(Keepsake keepsake, String conversation) {
        return keepsake.conversation(conversation)
                .history(HistoryQuery.newest(1))
                .messages()
                .get(0);
    }

    private static List<String> said(Keepsake keepsake, String conversation) {
        return keepsake.conversation(conversation).history(HistoryQuery.oldest(100)).messages().stream()
                .map(RunningAppTest::text)
                .toList();
    }

    private static String text(LoggedMessage message) {
        Outcome outcome = message.outcome();
        String text =
                switch (message.message().type()) {
                    case USER -> ((UserMessage) message.message()).singleText();
                    case AI -> String.valueOf(((AiMessage) message.message()).text());
                    case TOOL_EXECUTION_RESULT -> ((ToolExecutionResultMessage) message.message()).text();
                    default -> message.message().type().name();
                };
        return outcome == null ? text : text + " " + outcome.kind();
    }

    @Test
    void an_application_that_is_killed_in_the_middle_of_a_turn_goes_on() throws Exception {
        try (Child child = Child.start(ChatApplication.class, (Object[]) arguments("--logging.level.root=off", "2"))) {
            assertThat(Stream.of(child.line(), child.line(), child.line()))
                    .containsExactly("heard 1: question 0", "heard 2: question 1", "hangs");
            child.kill();
        }
        try (ConfigurableApplicationContext context = start()) {
            Assistant assistant = context.getBean(Assistant.class);
            Keepsake keepsake = context.getBean(Keepsake.class);
            assertThat(said(keepsake, "alice")).endsWith("question 1", "heard 2: question 1", "this one hangs");
            String unanswered = last(keepsake, "alice").id();
            assertThat(assistant.again("alice", "question 2", Turn.edit(unanswered)))
                    .isEqualTo("heard 3: question 2");
            assertThat(assistant.chat("alice", "question 3")).isEqualTo("heard 4: question 3");
        }
    }

    @Test
    void three_providers_are_an_error_that_says_why_primary_does_not_decide() {
        assertThatThrownBy(() -> start("--spring.profiles.active=three-providers"))
                .satisfies(error -> {
                    FailureAnalysis analysis = new ProviderConflictFailureAnalyzer().analyze(error);
                    assertThat(analysis.getDescription()).contains("one, two, three");
                    assertThat(analysis.getAction()).contains("exactly one", "@Primary", "wiringMode = EXPLICIT");
                });
        assertThat(SpringFactoriesLoader.forDefaultResourceLocation()
                        .load(
                                FailureAnalyzer.class,
                                SpringFactoriesLoader.FailureHandler.handleMessage((message, error) -> {})))
                .hasAtLeastOneElementOfType(ProviderConflictFailureAnalyzer.class)
                .hasAtLeastOneElementOfType(KeepsakeFailureAnalyzer.class);
    }

    @Test
    void chats_in_transactions_finish_or_fail_in_time_with_what_to_do_and_finish_with_a_pool_of_their_own()
            throws Exception {
        String[] pool = {
            "--spring.datasource.hikari.maximum-pool-size=8", "--spring.datasource.hikari.connection-timeout=1000"
        };
        try (ConfigurableApplicationContext context = start(pool)) {
            context.getBean(Assistant.class).chat("warm", "up");
            long begin = System.nanoTime();
            List<String> ends = inTransactions(context);
            assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin))
                    .isLessThan(30);
            assertThat(ends).hasSize(8).allMatch(end -> end.startsWith("heard") || end.contains("@KeepsakeDataSource"));
            System.out.println("8 chats in transactions on a pool of 8: "
                    + ends.stream().filter(end -> end.startsWith("heard")).count() + " finished");
        }
        try (ConfigurableApplicationContext context =
                start(new Class<?>[] {ChatApplication.class, OwnPool.class}, pool)) {
            assertThat(inTransactions(context)).hasSize(8).allMatch(end -> end.startsWith("heard"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnPool {

        @Bean(defaultCandidate = false, destroyMethod = "close")
        @KeepsakeDataSource
        DataSource memories(@Value("${spring.datasource.url}") String url) {
            HikariDataSource own = new HikariDataSource();
            own.setJdbcUrl(url);
            own.setUsername("postgres");
            own.setMaximumPoolSize(2);
            return own;
        }
    }

    private static List<String> inTransactions(ConfigurableApplicationContext context) throws Exception {
        Assistant assistant = context.getBean(Assistant.class);
        TransactionTemplate transactions = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        CyclicBarrier all = new CyclicBarrier(8);
        List<CompletableFuture<String>> chats = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            String conversation = "user " + i;
            CompletableFuture<String> chat = new CompletableFuture<>();
            chats.add(chat);
            new Thread(() -> {
                        try {
                            chat.complete(transactions.execute(status -> {
                                await(all);
                                return assistant.chat(conversation, "hello");
                            }));
                        } catch (RuntimeException e) {
                            chat.complete(e.getMessage());
                        }
                    })
                    .start();
        }
        List<String> ends = new ArrayList<>();
        for (CompletableFuture<String> chat : chats) {
            ends.add(chat.get(1, TimeUnit.MINUTES));
        }
        return ends;
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(1, TimeUnit.MINUTES);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
