package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.history;
import static io.github.keepsake4j.chat.turns.EndingTurns.view;
import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.service.AiServices;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.BareMemories;
import io.github.keepsake4j.chat.ChatMemories;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.TestClock;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.turn.Turn;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Questions whose turns got no answer, because a process was killed or the model refused. */
class KilledQuestionsTest {

    private static final MemoryKey KEY = ConversationKey.of("default", "c");

    private final TestClock time = new TestClock();
    private final MessageLog log = new InMemoryMessageLog(time);
    private final Keepsake keepsake = Keepsake.builder().messageLog(log).build();

    @TempDir
    Path directory;

    @Test
    void the_question_of_a_process_that_was_killed_is_not_shown_until_it_is_asked_again() throws Exception {
        Path file = directory.resolve("chat.db");
        try (Child child = Child.start(KilledTurn.class, file)) {
            assertThat(child.line()).isNull();
        }
        try (MessageLog reopened = SqliteMessageLog.open(file)) {
            Keepsake later = Keepsake.builder().messageLog(reopened).build();
            for (String id : KilledTurn.PLACES) {
                Script model = new Script("two!", "one!");
                Assistant assistant = service(later, model);
                assistant.chat(id, "two");
                assertThat(model.lastRequest()).as(id).isEqualTo("U(two)");
                assertThat(view(later, id)).as(id).isEqualTo("U(two), A(two!)");
                assertThat(history(later, id)).as(id).startsWith("U(one)").endsWith("U(two), A(two!)");

                String one = EndingTurns.logged(later, id).get(0).id();
                later.conversation(id).turn(Turn.retry(one), () -> assistant.chat(id, "one"));
                assertThat(model.lastRequest()).as(id).isEqualTo("U(one)");
                later.conversation(id).switchTo(newest(later, id).id());
                assertThat(view(later, id)).as(id).isEqualTo("U(two), A(two!), U(one), A(one!)");
            }
        }
    }

    @Test
    void the_next_turn_marks_a_question_that_is_older_than_a_turn_may_run() {
        String one = asked("one");
        Script model = new Script("answer");
        time.advance(Duration.ofSeconds(1));
        service(keepsake, model).chat("c", "two");
        assertThat(model.lastRequest()).isEqualTo("U(two)");
        assertThat(outcome(one)).isNull();

        time.advance(Duration.ofMinutes(20));
        service(keepsake, model).chat("c", "three");
        assertThat(model.lastRequest()).isEqualTo("U(two), A(answer), U(three)");
        assertThat(outcome(one)).isEqualTo(Outcome.failed("killed"));

        // Its answer comes after all, from its own process.
        log.append(KEY, Append.underHead(message(ai("late")).ofTurn(one)));
        assertThat(view(keepsake, "c")).endsWith("U(one), A(late)");
    }

    @Test
    void a_question_that_is_asked_again_has_not_failed() {
        String one = asked("one");
        time.advance(Duration.ofMinutes(20));
        Script model = new Script("answer", "at last");
        Assistant assistant = service(keepsake, model);
        assistant.chat("c", "two");
        assertThat(outcome(one)).isEqualTo(Outcome.failed("killed"));

        keepsake.conversation("c").turn(Turn.retry(one), () -> assistant.chat("c", "one"));
        assertThat(outcome(one)).isNull();
        assertThat(model.lastRequest()).isEqualTo("U(one)");
    }

    @Test
    void a_turn_that_was_taken_for_dead_takes_the_mark_away_with_its_answer() {
        AtomicLong nanos = new AtomicLong();
        ChatMemories memories = BareMemories.of(
                key -> log,
                id -> KEY,
                SlidingWindow.withMaxMessages(50),
                TokenCounter.standard(),
                Runnable::run,
                null,
                Metrics.NONE,
                nanos::get);
        Assistant slow = memories.attach(
                        AiServices.builder(Assistant.class).chatMemoryProvider(id -> memories.memory(id, KEY)))
                .chatModel(Script.answering(request -> {
                    time.advance(Duration.ofMinutes(11));
                    nanos.addAndGet(Duration.ofMinutes(11).toNanos());
                    service(keepsake, new Script("two!")).chat("c", "two");
                    return ai("one!");
                }))
                .build();
        slow.chat("c", "one");

        assertThat(history(keepsake, "c")).isEqualTo("U(one), U(two), A(two!), A(one!)");
        assertThat(view(keepsake, "c")).isEqualTo("U(two), A(two!), U(one), A(one!)");
    }

    /** What is left out makes room for older messages, however many messages it has. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 8, 40})
    void a_request_behind_a_killed_round_has_what_it_would_have_without_it(int results) {
        for (int i = 0; i < 60; i++) {
            log.append(KEY, Append.underHead(message(UserMessage.from("q" + i)), message(ai("a" + i))));
        }
        Keepsake windowed = Keepsake.builder().messageLog(log).maxMessages(20).build();
        List<ChatMessage> expected = new ArrayList<>(windowed.chatMemory("c").messages());
        expected.add(UserMessage.from("one"));
        String killed = asked("killed");
        String[] calls =
                IntStream.rangeClosed(0, results).mapToObj(String::valueOf).toArray(String[]::new);
        log.append(KEY, Append.underHead(message(Dialogue.calls(calls)).ofTurn(killed)));
        for (int i = 0; i < results; i++) {
            ChatMessage result = ToolExecutionResultMessage.from(calls[i], "tool", "result");
            log.append(KEY, Append.underHead(message(result).ofTurn(killed)));
        }
        Script model = new Script("two");
        service(windowed, model).chat("c", "one");

        assertThat(model.requests.get(0).messages()).isEqualTo(expected).hasSize(21);
    }

    /** The tool of the first request runs while the second one is refused. */
    @Test
    void a_round_counts_for_its_own_question() {
        Script refusing = new Script(new IllegalStateException("refused"));
        class Tools {
            @Tool
            String tool() {
                assertThrown(IllegalStateException.class, () -> service(keepsake, refusing)
                        .chat("c", "second"));
                return "result";
            }
        }
        Script model = new Script(EndingTurns.toolCall("1"), "done", "third!");
        Assistant first = keepsake.aiServices(Assistant.class)
                .chatModel(model)
                .tools(new Tools())
                .build();
        first.chat("c", "first");
        first.chat("c", "third");

        assertThat(model.lastRequest()).isEqualTo("U(first), C(1), R(1), A(done), U(third)");
    }

    /** Each of two turns that begin at once sees its own question last. */
    @Test
    void a_turn_sees_its_own_question_and_not_one_that_came_behind_it() {
        Script other = new Script("second!");
        Script model = new Script("first!");
        Assistant assistant = keepsake.aiServices(Assistant.class)
                .chatModel(model)
                .systemMessageProvider(id -> null)
                .build();
        KeepsakeChatMemory memory = keepsake.chatMemory("c");
        memory.add(UserMessage.from("a document"));
        assistant.chat("c", "first");
        service(keepsake, other).chat("c", "second");

        assertThat(model.lastRequest()).isEqualTo("U(a document), U(first)");
        assertThat(other.lastRequest()).isEqualTo("U(a document), U(first), A(first!), U(second)");
    }

    private static Assistant service(Keepsake keepsake, Script model) {
        return keepsake.aiServices(Assistant.class).chatModel(model).build();
    }

    /** Asks as a process does that is killed before its model answers. */
    private String asked(String text) {
        NewMessage question = message(UserMessage.from(text));
        log.append(KEY, Append.underHead(question.ofTurn(question.id())));
        return question.id();
    }

    private static NewMessage message(ChatMessage message) {
        return NewMessage.of(message, 1, "test");
    }

    private @Nullable Outcome outcome(String id) {
        return Logs.find(log, KEY, List.of(id)).get(0).outcome();
    }

    private static LoggedMessage newest(Keepsake keepsake, String id) {
        var all = EndingTurns.logged(keepsake, id);
        return all.get(all.size() - 1);
    }
}
