package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.history;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static io.github.keepsake4j.testing.WordCounter.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.openai.OpenAiTokenCountEstimator;
import dev.langchain4j.service.AiServices;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.context.ClearToolResults;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;

/** Limits that once did not hold, were not used, or stopped a conversation, on every backend. */
class LimitsTest {

    private static final String HINDI = "नमस्ते, मैं जानना चाहता हूँ कि आज मौसम कैसा रहेगा और क्या बारिश होगी? ";

    private Home.Storage storage;
    private MessageLog log;
    private Keepsake keepsake;
    private KeepsakeChatMemory memory;

    @AfterEach
    void close() throws Exception {
        log.close();
        storage.close();
    }

    private void open(Home home, ContextStrategy strategy) throws Exception {
        storage = home.storage();
        log = storage.open();
        use(strategy);
    }

    private void use(ContextStrategy strategy) {
        keepsake = Keepsake.builder().messageLog(log).strategy(strategy).build();
        memory = keepsake.chatMemory("x");
    }

    /** Opens a memory of at most a hundred words, and returns a service whose model takes no huge request. */
    private AiServices<Assistant> service(Home home) throws Exception {
        open(home, TokenLimit.withMaxTokens(100, new WordCounter()));
        return AiServices.builder(Assistant.class)
                .chatModel(Script.answering(request -> {
                    if (request.messages().toString().contains("huge")) {
                        throw new IllegalStateException("too long");
                    }
                    return ai("fine");
                }))
                .chatMemoryProvider(keepsake.chatMemoryProvider());
    }

    @ParameterizedTest
    @Homes
    void two_models_whose_estimators_are_of_one_class_count_differently(Home home) throws Exception {
        open(home, TokenLimit.withMaxTokens(2000, new OpenAiTokenCountEstimator("gpt-4o")));
        addTurns(40, HINDI.repeat(2));
        CountingEstimator gpt4 = new CountingEstimator(new OpenAiTokenCountEstimator("gpt-4"));
        use(TokenLimit.withMaxTokens(2000, gpt4));

        List<ChatMessage> shown = memory.messages();

        assertThat(gpt4.estimateTokenCountInMessages(shown)).isBetween(1500, 2000);
        int counted = gpt4.calls();
        assertThat(memory.messages()).isEqualTo(shown);
        assertThat(keepsake.conversation("x").messages()).isEqualTo(shown);
        assertThat(gpt4.calls()).as("a settled conversation tokenizes nothing").isEqualTo(counted);
    }

    @ParameterizedTest
    @Homes
    void system_messages_that_were_replaced_take_no_place(Home home) throws Exception {
        open(home, SlidingWindow.withMaxMessages(11));
        for (int turn = 0; turn < 12; turn++) {
            memory.add(SystemMessage.from("s" + turn), user("q" + turn), ai("a" + turn));
        }
        List<ChatMessage> expected = new ArrayList<>(List.of(SystemMessage.from("s11")));
        for (int turn = 7; turn < 12; turn++) {
            expected.addAll(List.of(user("q" + turn), ai("a" + turn)));
        }

        assertThat(memory.messages()).isEqualTo(expected);
        assertThat(memory.messages()).isEqualTo(expected);
    }

    @ParameterizedTest
    @Homes
    void counts_that_are_three_times_too_high_leave_room_that_is_used(Home home) throws Exception {
        open(home, TokenLimit.withMaxTokens(2000, new Times(3)));
        addTurns(20, words("q", 20));
        use(TokenLimit.withMaxTokens(2000, new WordCounter()));

        assertThat(memory.messages()).hasSize(40);
    }

    /** Opens a memory of at most a hundred words, in which a longer question was asked. */
    private void openWithHugeQuestion(Home home) throws Exception {
        open(home, TokenLimit.withMaxTokens(100, new WordCounter()));
        memory.add(user("1"), ai("2"));
        memory.add(user(words("huge", 200)));
    }

    @ParameterizedTest
    @Homes
    void a_question_over_the_limit_is_told_of_once_and_stops_no_other_turn(Home home) throws Exception {
        openWithHugeQuestion(home);

        assertThrown(
                        ContextOverflowException.class,
                        memory::messages,
                        "conversation/default/x",
                        "203",
                        "100",
                        "user message")
                .hasMessageNotContaining("huge");
        memory.add(user("3"));
        assertThat(memory.messages()).containsExactly(user("1"), ai("2"), user("3"));
        memory.add(ai("4"));
        assertThat(memory.messages()).containsExactly(user("1"), ai("2"), user("3"), ai("4"));
        assertThat(history(keepsake.conversation("x"))).hasSize(5).contains(user(words("huge", 200)));
        assertThat(keepsake.conversation("x").explain().omitted())
                .extracting(Explanation.Line::reason)
                .containsExactly(Reason.TOKEN_LIMIT);
    }

    @ParameterizedTest
    @Homes
    void an_unanswered_question_over_the_limit_is_left_out_by_every_other_object(Home home) throws Exception {
        openWithHugeQuestion(home);
        memory.flush();

        use(TokenLimit.withMaxTokens(100, new WordCounter()));
        assertThat(keepsake.conversation("x").messages()).containsExactly(user("1"), ai("2"));
        assertThat(memory.messages()).containsExactly(user("1"), ai("2"));
        memory.add(user("3"));
        assertThat(memory.messages()).containsExactly(user("1"), ai("2"), user("3"));
    }

    @ParameterizedTest
    @Homes
    void a_service_whose_model_refused_a_question_goes_on_with_shorter_ones(Home home) throws Exception {
        Assistant assistant =
                service(home).systemMessageProvider(id -> "Be brief").build();
        assertThat(assistant.chat("x", "hello")).isEqualTo("fine");
        assertThatThrownBy(() -> assistant.chat("x", words("huge", 200))).hasMessage("too long");

        for (int i = 0; i < 3; i++) {
            assertThat(assistant.chat("x", "short " + i)).isEqualTo("fine");
        }
        assertThat(keepsake.conversation("x").messages()).contains(user("hello"), user("short 2"));
    }

    @ParameterizedTest
    @Homes
    void a_service_without_a_system_message_loses_no_question_to_one_that_is_too_long(Home home) throws Exception {
        Assistant assistant = service(home).build();
        assertThatThrownBy(() -> assistant.chat("x", words("huge", 200))).hasMessage("too long");

        assertThat(assistant.chat("x", "short")).isEqualTo("fine");
        assertThat(assistant.chat("x", "again")).isEqualTo("fine");
    }

    @ParameterizedTest
    @Homes
    void a_system_message_over_the_limit_is_told_as_such_every_time(Home home) throws Exception {
        open(home, TokenLimit.withMaxTokens(20, new WordCounter()));
        memory.add(SystemMessage.from(words("rule", 30)));
        for (int i = 0; i < 2; i++) {
            assertThrown(ContextOverflowException.class, memory::messages, "system message", "33 tokens", "20 tokens");
        }
    }

    @ParameterizedTest
    @Homes
    void a_tool_round_that_cannot_fit_is_told_when_its_results_are_stored_and_stops_no_other_turn(Home home)
            throws Exception {
        open(home, SlidingWindow.withMaxMessages(3));
        memory.add(user("1"));
        memory.add(calls("a", "b"));
        memory.add(result("a"));
        memory.add(result("b"));

        assertThrown(ContextOverflowException.class, memory::messages, "tool round", "4 messages", "3 messages");
        assertThat(history(keepsake.conversation("x"))).hasSize(4);
        assertThat(memory.messages()).isEmpty();
        memory.add(user("2"));
        assertThat(memory.messages()).containsExactly(user("2"));
    }

    @ParameterizedTest
    @Homes
    void calls_whose_round_cannot_fit_are_told_before_the_tools_run(Home home) throws Exception {
        for (ContextStrategy strategy :
                List.of(SlidingWindow.withMaxMessages(3), TokenLimit.withMaxTokens(30, new WordCounter()))) {
            if (storage != null) {
                close();
            }
            open(home, strategy);
            memory.messages();
            memory.add(user(words("q", 24)));
            assertThrown(ContextOverflowException.class, () -> memory.add(calls("a", "b")), "tool round");
            memory.flush();
            assertThat(history(keepsake.conversation("x"))).containsExactly(user(words("q", 24)), calls("a", "b"));
            assertThat(memory.messages()).containsExactly(user(words("q", 24)));
        }
    }

    @ParameterizedTest
    @Homes
    void a_huge_tool_result_is_shown_shortened_from_the_first_time_on(Home home) throws Exception {
        open(home, TokenLimit.withMaxTokens(1000, new WordCounter()));
        String text = words("begin", 20_000) + " end";
        memory.add(user("1"), calls("a"), ToolExecutionResultMessage.from("a", "tool", text));

        ChatMessage first = memory.messages().get(2);
        memory.add(ai("2"));

        assertThat(((ToolExecutionResultMessage) first).text())
                .startsWith("begin x x")
                .endsWith("x end")
                .contains(" characters cut …]");
        assertThat(new WordCounter().estimateTokenCountInMessage(first)).isBetween(200, 250);
        assertThat(memory.messages()).hasSize(4).contains(first);
        use(TokenLimit.withMaxTokens(1000, new WordCounter()));
        assertThat(memory.messages()).hasSize(4).contains(first);
        assertThat(history(keepsake.conversation("x"))).contains(ToolExecutionResultMessage.from("a", "tool", text));
    }

    @ParameterizedTest
    @Homes
    void one_huge_result_that_was_cleared_left_the_window_nearly_empty(Home home) throws Exception {
        open(home, ClearToolResults.keepNewest(0).and(TokenLimit.withMaxTokens(800, new WordCounter())));
        addTurns(200, words("q", 4));
        memory.add(
                user("look"), calls("a"), ToolExecutionResultMessage.from("a", "tool", words("r", 20_000)), ai("ok"));
        addTurns(10, words("q", 4));

        List<ChatMessage> shown = memory.messages();

        assertThat(shown).contains(user("look"), calls("a"));
        // The result counts its share, a quarter, although only a marker is shown.
        assertThat(new WordCounter().estimateTokenCountInMessages(shown)).isGreaterThan(590);
    }

    @ParameterizedTest
    @Homes
    void a_shortened_result_that_comes_back_in_a_list_is_the_stored_one(Home home) throws Exception {
        open(home, TokenLimit.withMaxTokens(1000, new WordCounter()));
        memory.add(
                user("1"),
                calls("a"),
                ToolExecutionResultMessage.from("a", "tool", words("r", 20_000)),
                ai("2"),
                user("3"));
        List<ChatMessage> copies =
                ChatMessageDeserializer.messagesFromJson(ChatMessageSerializer.messagesToJson(memory.messages()));
        copies.set(4, user("3b"));

        keepsake.chatMemory("x").set(copies);

        assertThat(history(keepsake.conversation("x"))).hasSize(6);
        assertThat(keepsake.chatMemory("x").messages()).isEqualTo(copies);
        List<ChatMessage> same = memory.messages();
        same.set(4, user("3c"));
        memory.set(same);
        assertThat(history(keepsake.conversation("x"))).hasSize(7);
    }

    @ParameterizedTest
    @Homes
    void a_tool_result_with_long_text_lost_its_image(Home home) throws Exception {
        open(home, TokenLimit.withMaxTokens(8_000, TokenCounter.standard()));
        ImageContent image = ImageContent.from("aGVsbG8=", "image/png", ImageContent.DetailLevel.HIGH);
        ImageContent tooMuch = ImageContent.from("d29ybGQ=", "image/png", ImageContent.DetailLevel.ULTRA_HIGH);
        ImageContent small = ImageContent.from("ISE=", "image/png", ImageContent.DetailLevel.LOW);
        ToolExecutionResultMessage whole = ToolExecutionResultMessage.builder()
                .id("a")
                .toolName("tool")
                .contents(image, TextContent.from(words("r", 20_000)), image, tooMuch, small)
                .build();
        memory.add(user("1"), calls("a"), whole);

        List<ChatMessage> shown = memory.messages();

        List<Content> contents = ((ToolExecutionResultMessage) shown.get(2)).contents();
        assertThat(contents).hasSize(4).containsSubsequence(image, image, small).doesNotContain(tooMuch);
        assertThat(((TextContent) contents.get(1)).text())
                .startsWith("r x x")
                .contains(" characters cut …]")
                .endsWith("[image left out]");
        assertThat(TokenCounter.standard().estimateTokenCountInMessage(shown.get(2)))
                .isBetween(1_900, 2_000);
        List<ChatMessage> copies =
                ChatMessageDeserializer.messagesFromJson(ChatMessageSerializer.messagesToJson(shown));
        copies.set(0, user("1b"));
        keepsake.chatMemory("x").set(copies);
        assertThat(history(keepsake.conversation("x"))).hasSize(4).contains(whole);
        use(TokenLimit.withMaxTokens(8_000, TokenCounter.standard())
                .and(TokenLimit.withMaxTokens(4_000, TokenCounter.standard())));
        ChatMessage shorter = memory.messages().get(2);
        assertThat(((ToolExecutionResultMessage) shorter).contents()).contains(image);
        assertThat(TokenCounter.standard().estimateTokenCountInMessage(shorter)).isBetween(900, 1_000);
    }

    @ParameterizedTest
    @Homes
    void a_summarized_memory_shortens_a_huge_result_too(Home home) throws Exception {
        storage = home.storage();
        log = storage.open();
        keepsake = Keepsake.builder()
                .messageLog(log)
                .strategy(Summarization.triggerTokens(500).countedBy(new WordCounter()))
                .summarizer((previous, messages) -> "summary")
                .build();
        memory = keepsake.chatMemory("x");
        memory.add(user("1"), calls("a"), ToolExecutionResultMessage.from("a", "tool", words("r", 20_000)));

        assertThat(memory.messages()).hasSize(3);
    }

    @ParameterizedTest
    @Homes
    void a_tool_may_have_a_share_of_its_own(Home home) throws Exception {
        open(
                home,
                TokenLimit.withMaxTokens(1000, new WordCounter())
                        .maxToolResultTokens(50)
                        .maxToolResultTokens("search", 600));
        memory.add(user("1"));
        memory.add(AiMessage.from(call("a", "search", "{}")));
        memory.add(ToolExecutionResultMessage.from("a", "search", words("r", 2000)));
        memory.add(AiMessage.from(call("b", "other", "{}")));
        memory.add(ToolExecutionResultMessage.from("b", "other", words("r", 2000)));

        List<ChatMessage> shown = memory.messages();

        assertThat(new WordCounter().estimateTokenCountInMessage(shown.get(2))).isBetween(550, 600);
        assertThat(new WordCounter().estimateTokenCountInMessage(shown.get(4))).isBetween(40, 50);
    }

    private void addTurns(int turns, String question) {
        List<ChatMessage> messages = new ArrayList<>();
        for (int turn = 0; turn < turns; turn++) {
            messages.add(UserMessage.from(question));
            messages.add(ai("answer " + turn));
        }
        memory.add(messages);
    }

    /** Counts a multiple of the words. */
    private record Times(int factor) implements TokenCountEstimator {
        @Override
        public int estimateTokenCountInText(String text) {
            return factor * new WordCounter().estimateTokenCountInText(text);
        }

        @Override
        public int estimateTokenCountInMessage(ChatMessage message) {
            return factor * new WordCounter().estimateTokenCountInMessage(message);
        }

        @Override
        public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
            return factor * new WordCounter().estimateTokenCountInMessages(messages);
        }
    }
}
