package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.openai.OpenAiTokenUsage;
import dev.langchain4j.model.output.TokenUsage;
import dev.langchain4j.rag.content.Content;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.SeenMessages;
import io.github.keepsake4j.chat.turns.EndingTurns;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.chat.turns.EndingTurns.TurnAssistant;
import io.github.keepsake4j.context.ClearToolResults;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Pinned;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.KeptRequest;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.turn.Turn;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the memory says that a model was shown is what the model received. */
class SeenByTest {

    @TempDir
    Path directory;

    static class Tools {
        @Tool
        String tool() {
            return "result" + " word".repeat(40);
        }
    }

    private static ContextStrategy strategy(Random random) {
        WordCounter words = new WordCounter();
        return switch (random.nextInt(7)) {
            case 0 -> SlidingWindow.withMaxMessages(6 + random.nextInt(20));
            case 1 -> SlidingWindow.withMaxTurns(1 + random.nextInt(5));
            case 2 -> TokenLimit.withMaxTokens(200 + random.nextInt(300), words);
            case 3 -> ClearToolResults.keepNewest(random.nextInt(3)).and(SlidingWindow.withMaxMessages(30));
            case 4 -> Pinned.firstMessages(2).and(SlidingWindow.withMaxMessages(10 + random.nextInt(10)));
            case 5 -> Summarization.triggerMessages(8).keepMessages(4);
            default -> SlidingWindow.withMaxMessages(200);
        };
    }

    @Test
    void it_is_what_the_model_received_with_every_strategy() throws SQLException {
        long seed = new Random().nextLong();
        Tell.line("SeenByTest seed " + seed);
        Random random = new Random(seed);
        int turns = 0;
        int answers = 0;
        Path file = directory.resolve("chat.db");
        MessageLog log = SqliteMessageLog.open(file);
        while (turns < Counts.of(200, 1_000)) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .tenant("t" + turns)
                    .strategy(strategy(random))
                    .executor(Runnable::run)
                    .summarizer((previous, messages) -> "what was said")
                    .build();
            Map<String, ChatRequest> received = new HashMap<>();
            Script model = model(random, received);
            TurnAssistant assistant = keepsake.aiServices(TurnAssistant.class)
                    .chatModel(model)
                    .systemMessageProvider(id -> "rule " + random.nextInt(2))
                    .tools(new Tools())
                    .build();
            for (int i = 1 + random.nextInt(20); i > 0; i--) {
                assistant.chat("c", "question", turn(keepsake, random));
                turns++;
            }
            for (LoggedMessage answer : EndingTurns.logged(keepsake, "c")) {
                if (answer.message() instanceof AiMessage ai) {
                    check(keepsake, answer, received.get(EndingTurns.text(List.of(ai))), seed);
                    answers++;
                }
            }
        }
        log.close();
        int median = median(file);
        Tell.line("%d turns, %d answers, %d bytes beside an answer in the median", turns, answers, median);
        assertThat(median).isLessThanOrEqualTo(200);
    }

    /** Returns the bytes that are kept beside the answer in the median. */
    private static int median(Path file) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT length(CAST(made AS BLOB)) FROM keepsake_message"
                        + " WHERE made IS NOT NULL ORDER BY 1")) {
            List<Integer> lengths = new ArrayList<>();
            while (rows.next()) {
                lengths.add(rows.getInt(1));
            }
            return lengths.get(lengths.size() / 2);
        }
    }

    private static Turn turn(Keepsake keepsake, Random random) {
        List<LoggedMessage> logged = EndingTurns.logged(keepsake, "c");
        List<LoggedMessage> answers = logged.stream()
                .filter(message -> message.message() instanceof AiMessage ai && !ai.hasToolExecutionRequests())
                .toList();
        return answers.isEmpty() || random.nextInt(4) > 0
                ? Turn.next()
                : Turn.regenerate(answers.get(random.nextInt(answers.size())).id());
    }

    private static Script model(Random random, Map<String, ChatRequest> received) {
        int[] calls = {0};
        Script.Step step = request -> {
            AiMessage message =
                    random.nextInt(3) == 0 ? EndingTurns.toolCall("t" + calls[0]++) : ai("answer " + random.nextInt());
            received.put(EndingTurns.text(List.of(message)), request);
            return Script.response(message);
        };
        return new Script(step);
    }

    private static void check(Keepsake keepsake, LoggedMessage answer, ChatRequest request, long seed) {
        SeenMessages seen = keepsake.conversation("c").seenBy(answer.id()).orElseThrow();
        List<ChatMessage> expected = new ArrayList<>(request.messages());
        boolean summarized = expected.removeIf(Summarization::isSummary);
        Set<String> shortened = seen.shortened();
        String as = "seed " + seed + ", " + EndingTurns.text(request.messages());
        assertThat(EndingTurns.text(
                        seen.messages().stream().map(LoggedMessage::message).toList()))
                .as(as)
                .isEqualTo(EndingTurns.text(expected));
        for (int i = 0; i < expected.size(); i++) {
            LoggedMessage stored = seen.messages().get(i);
            if (shortened.contains(stored.id())) {
                assertThat(stored.message()).isInstanceOf(ToolExecutionResultMessage.class);
                assertThat(expected.get(i)).as(as).isNotEqualTo(stored.message());
            } else {
                assertThat(expected.get(i)).as(as).isEqualTo(stored.message());
            }
        }
        assertThat(seen.summary() != null).as(as).isEqualTo(summarized);
        assertThat(seen.altered()).as(as).isFalse();
    }

    @Test
    void what_others_add_to_a_request_is_told() {
        Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());
        Assistant assistant = EndingTurns.Column.LISTENERS_ONLY
                .builder(keepsake, Assistant.class)
                .chatModel(new Script("fine"))
                .contentRetriever(query -> List.of(Content.from("a fact")))
                .storeRetrievedContentInChatMemory(false)
                .build();

        assistant.chat("c", "one");

        LoggedMessage answer = EndingTurns.logged(keepsake, "c").get(1);
        SeenMessages seen = keepsake.conversation("c").seenBy(answer.id()).orElseThrow();
        assertThat(seen.altered()).isTrue();
        assertThat(seen.messages()).extracting(LoggedMessage::message).containsExactly(user("one"));
    }

    @Test
    void a_request_that_others_changed_is_kept_where_asked() {
        for (boolean keeps : List.of(true, false)) {
            Keepsake.Builder builder = Keepsake.builder().messageLog(new InMemoryMessageLog());
            Keepsake keepsake = (keeps ? builder.keepRequests() : builder).build();
            List<ChatRequest> received = new ArrayList<>();
            boolean[] alters = {true};
            Script.Step step = request -> {
                received.add(request);
                return Script.response(ai("fine"));
            };
            Assistant assistant = EndingTurns.Column.LISTENERS_ONLY
                    .builder(keepsake, Assistant.class)
                    .chatModel(new Script(step))
                    .tools(new Tools())
                    .contentRetriever(query -> alters[0] ? List.of(Content.from("a fact")) : List.of())
                    .storeRetrievedContentInChatMemory(false)
                    .chatRequestTransformer(
                            request -> request.toBuilder().modelName("large").build())
                    .build();

            assistant.chat("c", "one");
            alters[0] = false;
            assistant.chat("c", "two");

            List<LoggedMessage> logged = EndingTurns.logged(keepsake, "c");
            SeenMessages first =
                    keepsake.conversation("c").seenBy(logged.get(1).id()).orElseThrow();
            SeenMessages second =
                    keepsake.conversation("c").seenBy(logged.get(3).id()).orElseThrow();
            assertThat(first.altered()).isTrue();
            assertThat(first.request())
                    .isEqualTo(keeps ? new KeptRequest(received.get(0).messages(), "large", List.of("tool")) : null);
            assertThat(second.altered()).isFalse();
            assertThat(second.request()).isNull();
        }
    }

    @Test
    void a_request_with_shortened_results_is_kept_where_asked() {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(SqliteMessageLog.open(directory.resolve("kept.db")))
                .strategy(ClearToolResults.keepNewest(0).and(SlidingWindow.withMaxMessages(30)))
                .keepRequests()
                .build();
        Map<String, ChatRequest> received = new HashMap<>();
        Assistant assistant = keepsake.aiServices(Assistant.class)
                .chatModel(model(new Random(1), received))
                .tools(new Tools())
                .build();
        for (int i = 0; i < 10; i++) {
            assistant.chat("c", "question");
        }
        int kept = 0;
        for (LoggedMessage answer : EndingTurns.logged(keepsake, "c")) {
            if (answer.message() instanceof AiMessage ai) {
                SeenMessages seen =
                        keepsake.conversation("c").seenBy(answer.id()).orElseThrow();
                assertThat(seen.request() != null).isEqualTo(!seen.shortened().isEmpty());
                if (seen.request() != null) {
                    ChatRequest request = received.get(EndingTurns.text(List.of(ai)));
                    assertThat(seen.request().messages()).isEqualTo(request.messages());
                    kept++;
                }
            }
        }
        assertThat(kept).isPositive();
        keepsake.conversation("c").erase();
        assertThat(keepsake.conversation("c").history(HistoryQuery.oldest(1)).messages())
                .isEmpty();
    }

    @Test
    void the_tokens_that_answers_used_are_kept_and_summed() {
        Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());
        TokenUsage openAi = OpenAiTokenUsage.builder()
                .inputTokenCount(100)
                .outputTokenCount(7)
                .inputTokensDetails(OpenAiTokenUsage.InputTokensDetails.builder()
                        .cachedTokens(64)
                        .build())
                .build();
        Script.Step first = request -> ChatResponse.builder()
                .aiMessage(EndingTurns.toolCall("t"))
                .tokenUsage(new TokenUsage(10, 5))
                .build();
        Script.Step second = request ->
                ChatResponse.builder().aiMessage(ai("fine")).tokenUsage(openAi).build();
        keepsake.aiServices(Assistant.class)
                .chatModel(new Script(first, second))
                .tools(new Tools())
                .build()
                .chat("c", "one");

        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        Usage sum = keepsake.tenant("default").usage(today.minusDays(1), today.plusDays(1)).stream()
                .map(DailyUsage::usage)
                .reduce(Usage.NONE, Usage::plus);
        assertThat(sum).isEqualTo(new Usage(110, 12, 64));
    }

    @Test
    void an_answer_that_was_replaced_by_a_list_stays_in_view() {
        Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());
        Script model = new Script("a0", "a1");
        Assistant assistant =
                keepsake.aiServices(Assistant.class).chatModel(model).build();
        assistant.chat("c", "q0");
        keepsake.chatMemory("c").set(List.of(user("q0"), ai("changed")));

        assistant.chat("c", "q1");

        assertThat(model.lastRequest()).isEqualTo("U(q0), A(changed), U(q1)");
    }

    @Test
    void nothing_is_known_of_what_the_application_adds_itself() {
        Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());
        keepsake.chatMemory("c").add(List.of(user("one"), ai("fine")));
        String answer = EndingTurns.logged(keepsake, "c").get(1).id();

        assertThat(keepsake.conversation("c").seenBy(answer)).isEmpty();
    }
}
