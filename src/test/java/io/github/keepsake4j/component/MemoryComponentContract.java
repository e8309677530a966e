package io.github.keepsake4j.component;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static io.github.keepsake4j.testing.WordCounter.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.component.MemoryInput.Strategy;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.summary.SummaryFailedException;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;

/** What the component promises, on one backend. The names begin with the line of the request. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class MemoryComponentContract {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final WordCounter WORDS = new WordCounter();

    /** The field that the error names, and the input. S is a session. */
    private static final String WRONG_INPUTS =
            """
            input                         | nonsense
            input                         | {'action': 'get', 'session_id': 'S'
            input                         | ['get']
            input                         | {'action': 'get', 'action': 'clear', 'session_id': 'S'}
            action                        | {'session_id': 'S'}
            action                        | {'action': 'ADD', 'session_id': 'S'}
            action                        | {'action': 'remove', 'session_id': 'S'}
            action                        | {'action': 1, 'session_id': 'S'}
            session_id                    | {'action': 'get'}
            session_id                    | {'action': 'get', 'session_id': null}
            session_id                    | {'action': 'get', 'session_id': ''}
            session_id                    | {'action': 'get', 'session_id': 7}
            session_id                    | {'action': 'get', 'session_id': 'nul \\u0000'}
            sessionId                     | {'action': 'get', 'session_id': 'S', 'sessionId': 'S'}
            max_messages                  | {'action': 'get', 'session_id': 'S', 'max_messages': 0}
            max_messages                  | {'action': 'add', 'session_id': 'S', 'max_messages': -1, 'message': {'role': 'user', 'content': 'x'}}
            max_messages                  | {'action': 'get', 'session_id': 'S', 'max_messages': '50'}
            max_messages                  | {'action': 'get', 'session_id': 'S', 'max_messages': 1.5}
            max_messages                  | {'action': 'clear', 'session_id': 'S', 'max_messages': 0}
            max_tokens                    | {'action': 'get', 'session_id': 'S', 'max_tokens': 0}
            max_tokens                    | {'action': 'clear', 'session_id': 'S', 'max_tokens': -5}
            max_tokens                    | {'action': 'get', 'session_id': 'S', 'max_tokens': 99999999999}
            backend                       | {'action': 'get', 'session_id': 'S', 'backend': 'floppy'}
            backend                       | {'action': 'get', 'session_id': 'S', 'backend': 3}
            strategy                      | {'action': 'get', 'session_id': 'S', 'strategy': 'forget'}
            erase                         | {'action': 'get', 'session_id': 'S', 'erase': true}
            erase                         | {'action': 'clear', 'session_id': 'S', 'erase': 'yes'}
            show_profile                  | {'action': 'get', 'session_id': 'S', 'show_profile': 1}
            profile                       | {'action': 'get', 'session_id': 'S', 'profile': {'name': 'Ada'}}
            profile                       | {'action': 'add', 'session_id': 'S', 'profile': 'Ada', 'message': {'role': 'user', 'content': 'x'}}
            message                       | {'action': 'add', 'session_id': 'S'}
            message                       | {'action': 'summarize', 'session_id': 'S', 'message': {'role': 'user', 'content': 'x'}}
            message.content[0].image_url.detail | {'action': 'add', 'session_id': 'S', 'message': {'role': 'user', 'content': [{'type': 'image_url', 'image_url': {'url': 'https://x.org/a.png', 'detail': 'fine'}}]}}
            message.tool_calls[0].type     | {'action': 'add', 'session_id': 'S', 'message': {'role': 'assistant', 'tool_calls': [{'id': '1', 'type': 'spell', 'function': {'name': 'f', 'arguments': '{}'}}]}}
            message                       | {'action': 'add', 'session_id': 'S', 'message': null}
            message                       | {'action': 'add', 'session_id': 'S', 'message': 'hello'}
            message                       | {'action': 'get', 'session_id': 'S', 'message': {'role': 'user', 'content': 'x'}}
            message                       | {'action': 'clear', 'session_id': 'S', 'message': {'role': 'user', 'content': 'x'}}
            message.role                  | {'action': 'add', 'session_id': 'S', 'message': {'content': 'x'}}
            message.role                  | {'action': 'add', 'session_id': 'S', 'message': {'role': 'robot', 'content': 'x'}}
            message.content               | {'action': 'add', 'session_id': 'S', 'message': {'role': 'user'}}
            message.content               | {'action': 'add', 'session_id': 'S', 'message': {'role': 'user', 'content': ' '}}
            message.content               | {'action': 'add', 'session_id': 'S', 'message': {'role': 'user', 'content': []}}
            message.content               | {'action': 'add', 'session_id': 'S', 'message': {'role': 'user', 'content': 5}}
            message.content               | {'action': 'add', 'session_id': 'S', 'message': {'role': 'assistant', 'content': ''}}
            message.content               | {'action': 'add', 'session_id': 'S', 'message': {'role': 'system', 'content': ''}}
            message.content[0].type       | {'action': 'add', 'session_id': 'S', 'message': {'role': 'user', 'content': [{'type': 'smell'}]}}
            message.content[1].text       | {'action': 'add', 'session_id': 'S', 'message': {'role': 'user', 'content': [{'type': 'text', 'text': 'a'}, {'type': 'text'}]}}
            message.content[0].image_url.url | {'action': 'add', 'session_id': 'S', 'message': {'role': 'user', 'content': [{'type': 'image_url', 'image_url': {'url': 'a b'}}]}}
            message.content[0].type       | {'action': 'add', 'session_id': 'S', 'message': {'role': 'system', 'content': [{'type': 'image_url', 'image_url': {'url': 'https://x.org/a.png'}}]}}
            message.refusal               | {'action': 'add', 'session_id': 'S', 'message': {'role': 'assistant', 'content': 'x', 'refusal': 'no'}}
            message.tool_calls            | {'action': 'add', 'session_id': 'S', 'message': {'role': 'user', 'content': 'x', 'tool_calls': [{'id': '1'}]}}
            message.tool_calls[0].function | {'action': 'add', 'session_id': 'S', 'message': {'role': 'assistant', 'tool_calls': [{'id': '1'}]}}
            message.tool_calls[0].id      | {'action': 'add', 'session_id': 'S', 'message': {'role': 'assistant', 'tool_calls': [{'function': {'name': 'f', 'arguments': '{}'}}]}}
            message.tool_calls[1].id      | {'action': 'add', 'session_id': 'S', 'message': {'role': 'assistant', 'tool_calls': [{'id': '1', 'function': {'name': 'f', 'arguments': '{}'}}, {'id': '1', 'function': {'name': 'f', 'arguments': '{}'}}]}}
            message.tool_calls[0].function.arguments | {'action': 'add', 'session_id': 'S', 'message': {'role': 'assistant', 'tool_calls': [{'id': '1', 'function': {'name': 'f', 'arguments': {}}}]}}
            message.tool_call_id          | {'action': 'add', 'session_id': 'S', 'message': {'role': 'tool', 'content': 'x'}}
            message.tool_call_id          | {'action': 'add', 'session_id': 'S', 'message': {'role': 'tool', 'content': 'x', 'tool_call_id': ' '}}
            message.tool_call_id          | {'action': 'add', 'session_id': 'S', 'message': {'role': 'tool', 'content': 'x', 'tool_call_id': 'nowhere'}}
            message.context               | {'action': 'add', 'session_id': 'S', 'message': {'role': 'user', 'content': 'x', 'context': [{'text': 'a'}]}}
            message.context               | {'action': 'add', 'session_id': 'S', 'message': {'role': 'assistant', 'content': 'x', 'context': [{'text': 'a'}]}}
            """;

    private final String backend;
    private final Home home;
    private final List<List<ChatMessage>> summarized = new CopyOnWriteArrayList<>();
    private Home.Storage storage;
    private MessageLog log;
    private MemoryComponent component;
    private int tests;
    private String session;
    private volatile String summary;

    MemoryComponentContract(String backend, Home home) {
        this.backend = backend;
        this.home = home;
    }

    @BeforeAll
    void open() throws Exception {
        storage = home.storage();
        log = storage.open();
        component = builder()
                .summarizer((previous, messages) -> {
                    summarized.add(messages);
                    return summary;
                })
                .executor(Runnable::run)
                .build();
    }

    private MemoryComponent.Builder builder() {
        return MemoryComponent.builder().backend(backend, () -> log).tokenCountEstimator(WORDS);
    }

    @AfterAll
    void close() {
        component.close();
        storage.close();
    }

    @BeforeEach
    void begin(TestInfo info) {
        session = "session " + tests++;
        summary = "summary of " + info.getDisplayName();
        summarized.clear();
    }

    // ---- actions

    @Test
    void c1_the_example_of_the_request() throws Exception {
        run("{'action': 'add', 'session_id': '%s', 'message': {'role': 'user', 'content': 'What is Python?'}}");
        run("{'action': 'add', 'session_id': '%s',"
                + " 'message': {'role': 'assistant', 'content': 'Python is a programming language...'}}");

        JsonNode output = run("{'action': 'get', 'session_id': '%s'}");
        assertThat(output.get("messages"))
                .isEqualTo(JSON.readTree(quoted("[{'role': 'user', 'content': 'What is Python?'},"
                        + " {'role': 'assistant', 'content': 'Python is a programming language...'}]")));
        assertThat(output.get("message_count").intValue()).isEqualTo(2);
        assertThat(output.get("token_count").intValue()).isEqualTo(WordCounter.PER_LIST + 8);
        assertThat(output.get("summary").isNull()).isTrue();
    }

    @Test
    void c1_add_returns_what_get_returns() {
        add(user("one"));
        MemoryOutput added = add(ai("two"));

        assertThat(added).isEqualTo(get());
        assertThat(added.messages()).containsExactly(user("one"), ai("two"));
        assertThat(added.messageCount()).isEqualTo(2);
        assertThat(added.tokenCount()).isEqualTo(WORDS.estimateTokenCountInMessages(added.messages()));
    }

    @Test
    void c1_an_unknown_session_is_empty_and_stays_unknown() {
        MemoryOutput empty = new MemoryOutput(List.of(), 0, 0, null);
        assertThat(get()).isEqualTo(empty);
        assertThat(component.run(on(MemoryInput.clear(session)))).isEqualTo(empty);
        assertThat(component.run(on(MemoryInput.summarize(session)))).isEqualTo(empty);
        assertThat(component.run(on(MemoryInput.clear(session)).erasing())).isEqualTo(empty);

        assertThat(history()).isEmpty();
    }

    @Test
    void c1_sessions_share_nothing_whatever_their_ids_are() {
        List<String> ids = List.of("a", "A", "a ", "../a", "a/b", "default", "Zürich 😀", "%", "x".repeat(512));
        for (String id : ids) {
            component.run(on(MemoryInput.add(id, user(session))));
        }
        for (String id : ids) {
            assertThat(component.run(on(MemoryInput.get(id))).messages()).containsExactly(user(session));
            component.run(on(MemoryInput.clear(id)).erasing());
        }
    }

    @Test
    void c1_clear_hides_messages_and_summary_and_keeps_the_history() {
        talk(3);
        assertThat(component.run(on(MemoryInput.summarize(session))).summary()).isEqualTo(summary);

        MemoryOutput cleared = component.run(on(MemoryInput.clear(session)));
        assertThat(cleared).isEqualTo(new MemoryOutput(List.of(), 0, 0, null));
        assertThat(get()).isEqualTo(cleared);
        assertThat(component.run(on(MemoryInput.get(session)).withStrategy(Strategy.SUMMARIZATION)))
                .isEqualTo(cleared);
        assertThat(history()).hasSize(6);

        add(user("after"));
        assertThat(get().messages()).containsExactly(user("after"));
        assertThat(history()).hasSize(7);
    }

    @Test
    void c1_clear_hides_the_system_message() {
        add(SystemMessage.from("be brief"));
        add(user("one"));
        component.run(on(MemoryInput.clear(session)));
        add(user("two"));

        assertThat(get().messages()).containsExactly(user("two"));
    }

    @Test
    void c1_clear_with_erase_deletes_everything() {
        talk(3);
        component.run(on(MemoryInput.summarize(session)));

        assertThat(component.run(on(MemoryInput.clear(session)).erasing()))
                .isEqualTo(new MemoryOutput(List.of(), 0, 0, null));
        assertThat(history()).isEmpty();
        assertThat(conversation().summaries()).isEmpty();
        assertThat(add(user("new")).messages()).containsExactly(user("new"));
    }

    @Test
    void c1_summarize_covers_what_is_complete_and_returns_the_summary() {
        add(user(words("one", 20)));
        add(ai(words("two", 20)));
        add(user("open question"));

        MemoryOutput output = component.run(on(MemoryInput.summarize(session)));
        assertThat(output.summary()).isEqualTo(summary);
        assertThat(summarized).containsExactly(List.of(user(words("one", 20)), ai(words("two", 20))));
        assertThat(output.messages()).as("a sliding window shows the messages").hasSize(3);
        assertThat(get().summary()).isEqualTo(summary);
        assertThat(component.run(on(MemoryInput.summarize(session))).summary())
                .as("nothing new to summarize")
                .isEqualTo(summary);
        assertThat(summarized).hasSize(1);
    }

    @Test
    void c1_summarize_is_not_given_what_was_cleared() {
        talk(2);
        component.run(on(MemoryInput.summarize(session)));
        component.run(on(MemoryInput.clear(session)));
        summarized.clear();
        add(user(words("new", 20)));
        add(ai(words("answer", 20)));

        summary = "another summary";
        assertThat(component.run(on(MemoryInput.summarize(session))).summary()).isEqualTo("another summary");
        assertThat(summarized).containsExactly(List.of(user(words("new", 20)), ai(words("answer", 20))));
    }

    @Test
    void c1_a_summary_that_fails_is_an_error_and_changes_nothing() {
        talk(2);
        MemoryOutput before = get();
        summary = "";

        assertThatThrownBy(() -> component.run(on(MemoryInput.summarize(session))))
                .isInstanceOfSatisfying(SummaryFailedException.class, e -> assertThat(e.isRetryable())
                        .isTrue());
        assertThat(get()).isEqualTo(before);
    }

    @Test
    void c1_summarize_and_summarization_without_a_summarizer_are_errors() {
        MemoryComponent without = builder().build();
        talk(1);
        MemoryOutput before = get();

        assertRefused("action", () -> without.run(on(MemoryInput.summarize(session))));
        assertRefused(
                "strategy",
                () -> without.run(on(MemoryInput.add(session, user("x"))).withStrategy(Strategy.SUMMARIZATION)));
        assertThat(get()).isEqualTo(before);
        assertThat(without.run(on(MemoryInput.get(session)))).isEqualTo(before);
    }

    @Test
    void c1_a_wrong_input_is_an_error_that_names_it_and_nothing_is_changed() {
        talk(1);
        MemoryOutput before = get();
        List<ChatMessage> history = history();

        List<String> inputs = WRONG_INPUTS.lines().toList();
        for (String line : inputs) {
            int bar = line.indexOf('|');
            String input = quoted(line.substring(bar + 1).strip()).replace("\"S\"", "\"" + session + "\"");
            if (!input.contains("\"backend\"")) {
                input = input.replaceFirst("}$", ", \"backend\": \"" + backend + "\"}");
            }
            String wrong = input;
            assertRefused(line.substring(0, bar).strip(), () -> component.run(wrong));
            if (home == Home.IN_MEMORY) {
                assertThat(get()).as(line).isEqualTo(before);
                assertThat(history()).as(line).isEqualTo(history);
            }
        }
        assertThat(inputs).hasSizeGreaterThan(60);
        assertThat(get()).isEqualTo(before);
        assertThat(history()).isEqualTo(history);
    }

    @Test
    @SuppressWarnings("NullAway")
    void c1_null_is_an_error_that_names_the_input() {
        MemoryInput input = MemoryInput.get(session);
        assertRefused("input", () -> MemoryInput.fromJson(null));
        assertRefused("input", () -> component.run((String) null));
        assertRefused("backend", () -> input.onBackend(null));
        assertRefused("strategy", () -> input.withStrategy(null));
        assertRefused("message", () -> MemoryInput.add(session, (ChatMessage) null));
    }

    @Test
    void c1_a_whole_number_may_be_written_with_a_fraction_of_zero() {
        String json = "{\"action\": \"get\", \"session_id\": \"s\", \"max_messages\": ";
        assertThat(MemoryInput.fromJson(json + "5.0}").maxMessages()).isEqualTo(5);
        assertThat(MemoryInput.fromJson(json + "2e1}").maxMessages()).isEqualTo(20);
        for (String wrong : List.of("5.5", "1e99", "2147483648", "\"5\"")) {
            assertRefused("max_messages", () -> MemoryInput.fromJson(json + wrong + "}"));
        }
    }

    @Test
    @SuppressWarnings("NullAway")
    void c2_a_factory_that_fails_is_an_error_of_this_library() {
        IllegalStateException reason = new IllegalStateException("no disk");
        try (MemoryComponent failing = MemoryComponent.builder()
                .backend("failing", () -> {
                    throw reason;
                })
                .backend("nothing", () -> null)
                .build()) {
            assertThrown(
                            KeepsakeException.class,
                            () -> failing.run(MemoryInput.get(session).onBackend("failing")),
                            "failing")
                    .hasCause(reason);
            assertThrown(
                    KeepsakeException.class,
                    () -> failing.run(MemoryInput.get(session).onBackend("nothing")));
        }
    }

    @Test
    void c1_an_error_quotes_no_text_of_a_message() {
        for (String message : List.of(
                "{'role': 'SECRET', 'content': 'SECRET'}",
                "{'role': 'user', 'content': ['SECRET']}",
                "{'role': 'user', 'content': 'SECRET', 'context': ['SECRET']}",
                "{'role': 'user', 'content': 'SECRET', 'files': 'SECRET'}",
                "{'role': 'tool', 'tool_call_id': 'nowhere', 'content': 'SECRET'}",
                "{'role': 'user', 'content': 'SECRET")) {
            assertThrown(
                            InvalidInputException.class,
                            () -> run("{'action': 'add', 'session_id': '%s', 'message': " + message + "}"))
                    .hasMessageNotContaining("SECRET");
        }
    }

    // ---- backends

    @Test
    void c2_the_backend_is_chosen_by_name_and_opened_once_at_its_first_use() {
        List<String> opened = new ArrayList<>();
        MemoryComponent two = MemoryComponent.builder()
                .backend(backend, () -> {
                    opened.add(backend);
                    return log;
                })
                .backend("other", () -> {
                    throw new IllegalStateException("not to be opened");
                })
                .tokenCountEstimator(WORDS)
                .build();
        assertThat(opened).isEmpty();
        two.run(on(MemoryInput.add(session, user("one"))));
        two.run(on(MemoryInput.get(session)));
        assertThat(opened).containsExactly(backend);

        assertThrown(
                InvalidInputException.class,
                () -> two.run(MemoryInput.get(session).onBackend("floppy")),
                "backend",
                "floppy",
                backend,
                "other");
    }

    @Test
    void c2_the_default_backend_is_in_memory() {
        assertThat(MemoryInput.get(session).backend()).isEqualTo("in_memory");
        assertThat(MemoryInput.fromJson(quoted("{'action': 'get', 'session_id': 's'}")))
                .isEqualTo(MemoryInput.get("s"));
        assertThat(MemoryInput.get("s").maxMessages()).isEqualTo(50);
        assertThat(MemoryInput.get("s").maxTokens()).isEqualTo(4000);
        assertThat(MemoryInput.get("s").strategy()).isEqualTo(Strategy.SLIDING_WINDOW);
    }

    @Test
    void c2_another_component_on_the_same_storage_goes_on() {
        talk(2);

        MessageLog second = storage.open();
        MemoryComponent other = MemoryComponent.builder()
                .backend(backend, () -> second)
                .tokenCountEstimator(WORDS)
                .build();
        assertThat(other.run(on(MemoryInput.get(session)))).isEqualTo(get());
        if (second != log) {
            other.close();
            assertThatThrownBy(() -> other.run(on(MemoryInput.get(session)))).hasMessageContaining("closed");
        }
    }

    // ---- strategies

    @Test
    void c3_a_sliding_window_drops_the_oldest_turns_and_the_history_keeps_them() {
        List<NewMessage> said = new ArrayList<>();
        for (int turn = 0; turn < 30; turn++) {
            said.add(NewMessage.of(user("question " + turn), 2, "words"));
            said.add(NewMessage.of(ai("answer " + turn), 2, "words"));
        }
        log.append(conversation().key(), Append.under(Parent.head(), said));

        MemoryOutput byDefault = get();
        assertThat(byDefault.messageCount()).isEqualTo(50);
        assertThat(byDefault.messages().get(0)).isEqualTo(user("question 5"));
        MemoryOutput five = component.run(on(MemoryInput.get(session)).withMaxMessages(5));
        assertThat(five.messages())
                .as("whole turns")
                .containsExactly(user("question 28"), ai("answer 28"), user("question 29"), ai("answer 29"));
        assertThat(history()).hasSize(60);
    }

    @Test
    void c3_a_token_limit_drops_the_oldest_turns() {
        for (int turn = 0; turn < 5; turn++) {
            add(user(words("q" + turn, 10)));
            add(ai(words("a" + turn, 10)));
        }
        for (Strategy strategy : List.of(Strategy.TOKEN_LIMIT, Strategy.SLIDING_WINDOW)) {
            MemoryOutput limited =
                    component.run(on(MemoryInput.get(session)).withMaxTokens(45).withStrategy(strategy));
            assertThat(limited.messages()).hasSize(4);
            assertThat(limited.tokenCount()).isEqualTo(43);
        }
        assertThat(history()).hasSize(10);
    }

    @Test
    void c3_summarization_shows_a_summary_in_place_of_old_turns() {
        summary = "what was said";
        for (int turn = 0; turn < 10; turn++) {
            component.run(limited(MemoryInput.add(session, user(words("q" + turn, 10)))));
            component.run(limited(MemoryInput.add(session, ai(words("a" + turn, 10)))));
        }

        MemoryOutput output = component.run(limited(MemoryInput.get(session)));
        assertThat(summarized).isNotEmpty();
        assertThat(output.summary()).isEqualTo("what was said");
        assertThat(output.messages().get(0)).matches(Summarization::isSummary);
        assertThat(output.messages()).filteredOn(Summarization::isSummary).hasSize(1);
        assertThat(output.messages()).endsWith(user(words("q9", 10)), ai(words("a9", 10)));
        assertThat(output.tokenCount()).isLessThanOrEqualTo(100);
        assertThat(output.tokenCount()).isEqualTo(WORDS.estimateTokenCountInMessages(output.messages()));
        assertThat(get().messages())
                .as("a sliding window shows no summary")
                .hasSize(20)
                .noneMatch(Summarization::isSummary);
        assertThat(history()).hasSize(20);
    }

    private MemoryInput limited(MemoryInput input) {
        return on(input).withStrategy(Strategy.SUMMARIZATION).withMaxTokens(100);
    }

    @Test
    void c3_both_limits_always_hold() {
        add(SystemMessage.from(words("be", 6)));
        add(user(words("one", 10)));
        add(calls("c1", "c2"));
        add(result("c1"));
        add(ToolExecutionResultMessage.from("c2", "tool", words("long", 500)));
        add(ai(words("done", 5)));
        component.run(on(MemoryInput.summarize(session)));
        add(user(words("two", 300)));
        // The limits do not depend on the backend, so fewer are tried where a read costs more.
        int every = home == Home.IN_MEMORY ? 1 : 17;
        int tried = 0;
        for (Strategy strategy : Strategy.values()) {
            for (int maxMessages : new int[] {1, 2, 3, 5, 6, 7, 50}) {
                for (int maxTokens : new int[] {1, 3, 8, 9, 20, 40, 100, 320, 400, 4000}) {
                    if (tried++ % every != 0) {
                        continue;
                    }
                    MemoryOutput output = component.run(on(MemoryInput.get(session))
                            .withStrategy(strategy)
                            .withMaxMessages(maxMessages)
                            .withMaxTokens(maxTokens));
                    assertThat(output.messageCount())
                            .isEqualTo(output.messages().size())
                            .isLessThanOrEqualTo(maxMessages);
                    assertThat(output.tokenCount())
                            .isEqualTo(
                                    output.messages().isEmpty()
                                            ? 0
                                            : WORDS.estimateTokenCountInMessages(output.messages()))
                            .isLessThanOrEqualTo(maxTokens);
                }
            }
        }
    }

    // ---- messages

    @Test
    void c4_what_an_assistant_says_first_is_shown_until_it_leaves_the_window() {
        add(ai("Hello, how can I help?"));
        assertThat(get().messages()).containsExactly(ai("Hello, how can I help?"));
        talk(2);
        assertThat(get().messages()).hasSize(5).startsWith(ai("Hello, how can I help?"));
        assertThat(component
                        .run(on(MemoryInput.get(session)).withMaxMessages(5))
                        .messages())
                .hasSize(5);
        assertThat(component
                        .run(on(MemoryInput.get(session)).withMaxMessages(4))
                        .messages())
                .hasSize(4)
                .startsWith(user(words("question 0", 19)));

        component.run(on(MemoryInput.clear(session)));
        add(ai("Welcome back"));
        add(user("Thanks"));
        assertThat(get().messages()).containsExactly(ai("Welcome back"), user("Thanks"));
    }

    @Test
    void c4_tool_calls_results_and_the_system_message_come_back() {
        add(SystemMessage.from("old"));
        add(user("weather?"));
        add(calls("c1", "c2"));
        add(result("c2"));
        add(result("c1"));
        add(ai("sunny"));
        add(SystemMessage.from("be brief"));

        assertThat(get().messages())
                .containsExactly(
                        SystemMessage.from("be brief"),
                        user("weather?"),
                        calls("c1", "c2"),
                        result("c2"),
                        result("c1"),
                        ai("sunny"));
    }

    @Test
    void c4_calls_that_wait_for_results_are_shown_at_the_end_only() {
        add(user("weather?"));
        assertThat(add(calls("c1", "c2")).messages()).containsExactly(user("weather?"), calls("c1", "c2"));
        assertThat(add(result("c2")).messages()).containsExactly(user("weather?"), calls("c1", "c2"), result("c2"));
        assertThat(component
                        .run(on(MemoryInput.get(session)).withMaxMessages(2))
                        .messageCount())
                .isLessThanOrEqualTo(2);
        assertThat(add(user("never mind")).messages()).containsExactly(user("weather?"), user("never mind"));
        assertThat(add(result("c1")).messages())
                .containsExactly(user("weather?"), calls("c1", "c2"), result("c2"), result("c1"), user("never mind"));
        assertThat(add(ai("sunny")).messages()).hasSize(6);

        component.run(on(MemoryInput.clear(session)));
        assertThat(add(calls("c3")).messages()).containsExactly(calls("c3"));
    }

    @Test
    void c4_a_result_answers_a_call_that_is_shown_and_has_no_result_yet() {
        add(user("weather?"));
        add(calls("c1"));
        ToolExecutionResultMessage unnamed =
                ToolExecutionResultMessage.builder().id("c1").text("sunny").build();
        assertThat(add(unnamed).messages())
                .as("the name of the tool is that of the call")
                .endsWith(ToolExecutionResultMessage.from("c1", "tool", "sunny"));
        assertRefused("message.tool_call_id", () -> add(result("c1")));
        add(calls("c1"));
        assertThat(add(result("c1")).messages()).as("ids may be used again").hasSize(5);

        add(calls("c2"));
        component.run(on(MemoryInput.clear(session)));
        assertRefused("message.tool_call_id", () -> add(result("c2")));
        assertThat(history()).hasSize(6);
    }

    // ---- JSON

    @Test
    void c5_the_output_has_exactly_the_names_of_the_request() throws Exception {
        JsonNode output = run("{'action': 'get', 'session_id': '%s'}");
        assertThat(names(output)).containsExactlyInAnyOrder("messages", "message_count", "token_count", "summary");
    }

    @Test
    void c5_messages_are_in_openais_json_and_come_back_as_they_were_added() throws Exception {
        String image =
                "data:image/png;base64," + Base64.getEncoder().encodeToString("png".getBytes(StandardCharsets.UTF_8));
        List<String> messages = List.of(
                "{'role': 'system', 'content': 'be \\\"brief\\\"'}",
                "{'role': 'user', 'content': 'weather? 😀 \\u0000 \\ud83d'}",
                "{'role': 'assistant', 'content': null, 'tool_calls': [{'id': 'c1', 'type': 'function',"
                        + " 'function': {'name': 'weather', 'arguments': '{\\\"city\\\": \\\"Zürich\\\"}'}}]}",
                "{'role': 'tool', 'tool_call_id': 'c1', 'name': 'weather', 'content': ''}",
                "{'role': 'assistant', 'content': 'it rains'}",
                "{'role': 'user', 'content': [{'type': 'text', 'text': 'and this?'}, {'type': 'image_url',"
                        + " 'image_url': {'url': 'https://example.org/a.png', 'detail': 'high'}}, {'type': 'image_url',"
                        + " 'image_url': {'url': '" + image + "', 'detail': 'auto'}}], 'name': 'ada'}",
                "{'role': 'assistant', 'content': 'a cat', 'tool_calls': [{'id': 'c2', 'type': 'function',"
                        + " 'function': {'name': 'draw', 'arguments': ''}}]}");
        for (String message : messages) {
            run("{'action': 'add', 'session_id': '%s', 'message': " + message + "}");
        }

        JsonNode output = run("{'action': 'get', 'session_id': '%s'}");
        assertThat(output.get("messages")).isEqualTo(JSON.readTree(quoted("[" + String.join(", ", messages) + "]")));

        String copy = session + " copy";
        for (JsonNode message : output.get("messages")) {
            component.run(JSON.createObjectNode()
                    .put("action", "add")
                    .put("session_id", copy)
                    .put("backend", backend)
                    .set("message", message)
                    .toString());
        }
        assertThat(component.run(on(MemoryInput.get(copy)))).isEqualTo(get());
    }

    @Test
    void c5_fields_that_openai_leaves_empty_are_accepted() throws Exception {
        run("{'action': 'add', 'session_id': '%s', 'erase': false, 'strategy': null, 'message':"
                + " {'role': 'assistant', 'content': 'x', 'refusal': null, 'annotations': [], 'tool_calls': null}}");

        assertThat(history()).containsExactly(ai("x"));
    }

    @Test
    void c5_an_input_comes_back_from_json() {
        List<MemoryInput> inputs = List.of(
                MemoryInput.add("s", UserMessage.from("text")),
                MemoryInput.add("s", result("c1"))
                        .onBackend("file")
                        .withMaxMessages(7)
                        .withMaxTokens(8),
                MemoryInput.get("s").withStrategy(Strategy.TOKEN_LIMIT),
                MemoryInput.clear("s").erasing(),
                MemoryInput.summarize("s").withStrategy(Strategy.SUMMARIZATION));
        for (MemoryInput input : inputs) {
            MemoryInput read = MemoryInput.fromJson(input.toJson());
            assertThat(read.toJson()).isEqualTo(input.toJson());
            assertThat(read).isEqualTo(input);
        }
    }

    // ---- the use cases of the request

    @Test
    void use_case_chat_context_is_that_of_the_application_on_the_same_log() {
        Keepsake keepsake =
                Keepsake.builder().messageLog(log).tokenCountEstimator(WORDS).build();
        keepsake.chatMemory(session).add(user("from an AI service"));
        add(ai("from the component"));

        assertThat(get().messages()).containsExactly(user("from an AI service"), ai("from the component"));
        assertThat(keepsake.chatMemory(session).messages()).isEqualTo(get().messages());
    }

    @Test
    void use_case_retrieval_history_is_there_for_follow_up_questions() {
        UserMessage question =
                UserMessage.from(TextContent.from("How do bees talk?"), TextContent.from("bees.pdf: Bees dance."));
        add(question);
        add(ai("By dancing."));
        add(user("Why?"));
        add(calls("c1"));
        add(result("c1"));

        MemoryOutput output = get();
        assertThat(output.messages())
                .containsExactly(question, ai("By dancing."), user("Why?"), calls("c1"), result("c1"));
        assertThat(output.toJson())
                .as("what the user wrote is apart from what was retrieved for it")
                .contains("[{\"type\":\"text\",\"text\":\"How do bees talk?\"},"
                        + "{\"type\":\"text\",\"text\":\"bees.pdf: Bees dance.\"}]");
    }

    @Test
    void use_case_an_agent_remembers_its_calls_and_results() throws Exception {
        run("{'action': 'add', 'session_id': '%s', 'message': {'role': 'user', 'content': 'weather in Bern?'}}");
        run("{'action': 'add', 'session_id': '%s', 'message': {'role': 'assistant', 'tool_calls': [{'id': 'c1', 'type':"
                + " 'function', 'function': {'name': 'weather', 'arguments': '{}'}}]}}");
        run(
                "{'action': 'add', 'session_id': '%s', 'message': {'role': 'tool', 'tool_call_id': 'c1', 'content': 'rain'}}");

        assertThat(get().messages())
                .containsExactly(
                        user("weather in Bern?"),
                        AiMessage.from(Dialogue.call("c1", "weather", "{}")),
                        ToolExecutionResultMessage.from("c1", "weather", "rain"));
    }

    @Test
    void use_case_personalization_by_a_system_message() {
        add(SystemMessage.from("The user is Ada, who speaks French."));
        add(user("Hi"));
        add(SystemMessage.from("The user is Ada, who speaks French and lives in Zürich."));

        assertThat(get().messages())
                .containsExactly(
                        SystemMessage.from("The user is Ada, who speaks French and lives in Zürich."), user("Hi"));
        assertThat(component.run(on(MemoryInput.get(session + " of another"))).messages())
                .isEmpty();
    }

    @Test
    void a_message_of_an_image_alone_is_accepted() {
        UserMessage image = UserMessage.from(ImageContent.from("https://example.org/a.png"));
        assertThat(add(image).messages()).containsExactly(image);
    }

    // ---- at the same time

    @Test
    void two_threads_lose_and_double_nothing() throws Exception {
        int each = 5 + home.counts(10, 200);
        inThreads(thread -> {
            for (int i = 0; i < each; i++) {
                add(user("thread " + thread + " message " + i));
            }
        });

        assertThat(history()).hasSize(2 * each).doesNotHaveDuplicates();
        for (int thread = 0; thread < 2; thread++) {
            String prefix = "thread " + thread;
            assertThat(history())
                    .filteredOn(message -> ((UserMessage) message).singleText().startsWith(prefix))
                    .isEqualTo(IntStream.range(0, each)
                            .mapToObj(i -> user(prefix + " message " + i))
                            .toList());
        }
        assertThat(component
                        .run(on(MemoryInput.get(session)).withMaxMessages(2 * each))
                        .messageCount())
                .isEqualTo(2 * each);
    }

    @Test
    void a_clear_hides_nothing_that_is_added_after_it_and_shows_nothing_that_was_there_before() throws Exception {
        Set<String> before = ConcurrentHashMap.newKeySet();
        int clears = home.counts(60, 1_000);
        inThreads(thread -> {
            for (int i = 0; i < clears; i++) {
                String text = thread + "-" + i;
                if (thread == 0) {
                    Set<String> known = Set.copyOf(before);
                    component.run(on(MemoryInput.clear(session)));
                    assertThat(texts(get())).noneMatch(known::contains);
                    MemoryOutput added = add(user(text));
                    assertThat(texts(added)).contains(text);
                    before.add(text);
                } else {
                    add(calls(text));
                    try {
                        MemoryOutput added = add(result(text));
                        before.add(text);
                        assertThat(added.messages()).isNotNull();
                    } catch (InvalidInputException e) {
                        assertThat(e).as("the call was cleared").hasMessageContaining("tool_call_id");
                    }
                }
            }
        });
    }

    private void inThreads(ForThread body) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                int number = thread;
                tasks.add(() -> {
                    body.run(number);
                    return null;
                });
            }
            for (Future<Void> each : threads.invokeAll(tasks)) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private interface ForThread {
        void run(int number);
    }

    // ---- helpers

    /** Complete turns that are longer than their summary. */
    private void talk(int turns) {
        for (int turn = 0; turn < turns; turn++) {
            add(user(words("question " + turn, 19)));
            add(ai(words("answer " + turn, 19)));
        }
    }

    private MemoryInput on(MemoryInput input) {
        return input.onBackend(backend);
    }

    private MemoryOutput add(ChatMessage message) {
        return component.run(on(MemoryInput.add(session, message)));
    }

    private MemoryOutput get() {
        return component.run(on(MemoryInput.get(session)));
    }

    /** Runs an input in JSON, with apostrophes in place of quotes. */
    private JsonNode run(String json) throws Exception {
        String input = quoted(json).replace("%s", session);
        return JSON.readTree(component.run(input.replaceFirst("^\\{", "{\"backend\": \"" + backend + "\", ")));
    }

    private static String quoted(String json) {
        return json.replace('\'', '"');
    }

    private Conversation conversation() {
        return Keepsake.builder()
                .messageLog(log)
                .tokenCountEstimator(WORDS)
                .build()
                .conversation(session);
    }

    private List<ChatMessage> history() {
        return Dialogue.history(conversation());
    }

    private static List<String> texts(MemoryOutput output) {
        return output.messages().stream()
                .map(message -> message instanceof UserMessage user
                        ? user.singleText()
                        : message instanceof ToolExecutionResultMessage result ? result.id() : "")
                .toList();
    }

    private static List<String> names(JsonNode object) {
        List<String> names = new ArrayList<>();
        for (Iterator<String> each = object.fieldNames(); each.hasNext(); ) {
            names.add(each.next());
        }
        return names;
    }

    private static void assertRefused(String field, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(InvalidInputException.class).hasMessageStartingWith(field + ":");
    }
}
