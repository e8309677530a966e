package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** Limits on the whole request, and a conversation's explanation of its limits. */
class RequestBudgetTest {

    private static final JtokkitTokenCountEstimator ESTIMATOR = JtokkitTokenCountEstimator.forModel("gpt-4o");

    interface Assistant {
        @dev.langchain4j.service.SystemMessage("Be brief")
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    static class Weather {
        @Tool("Tells the weather of a place, in as many words as it takes to describe this tool at some length")
        String weather(String place) {
            return "fine in " + place;
        }
    }

    private final ChatModelMock model = ChatModelMock.thatAlwaysResponds("some answer");
    private final List<ChatRequest> sent = new ArrayList<>();

    @Test
    void the_new_message_and_the_tools_count_and_older_turns_give_way() {
        Keepsake keepsake = keepsake(TokenLimit.withMaxTokens(200, ESTIMATOR));
        Assistant assistant = services(keepsake).tools(new Weather()).build();
        for (int turn = 0; turn < 30; turn++) {
            assistant.chat("id", "question number " + turn);
        }
        ChatRequest last = sent.get(sent.size() - 1);
        int tools = ESTIMATOR.estimateTokenCountInText(
                last.toolSpecifications().get(0).toString());

        assertThat(ESTIMATOR.estimateTokenCountInMessages(last.messages()) + tools)
                .isBetween(160, 200);
        assertThat(last.messages().get(0)).isEqualTo(SystemMessage.from("Be brief"));
        assertThat(last.messages().get(1)).isInstanceOf(UserMessage.class);
        assertThat(last.messages()).endsWith(ai("some answer"), user("question number 29"));
    }

    @Test
    void without_it_a_window_bounds_the_memory_and_with_it_the_request() {
        for (BiFunction<ChatRequest, Object, ChatRequest> budget :
                List.<BiFunction<ChatRequest, Object, ChatRequest>>of(
                        (request, id) -> request,
                        keepsake(SlidingWindow.withMaxMessages(5)).requestBudget())) {
            Assistant assistant =
                    services(keepsake(SlidingWindow.withMaxMessages(5)), budget).build();
            for (int turn = 0; turn < 5; turn++) {
                assistant.chat("id", "q" + turn);
            }
        }

        assertThat(sent).hasSize(10);
        assertThat(sent.get(4).messages()).hasSize(6);
        assertThat(sent.get(9).messages()).hasSize(4);
    }

    @Test
    void a_request_that_fits_is_left_alone() {
        Keepsake keepsake = keepsake(TokenLimit.withMaxTokens(2000, ESTIMATOR));
        ChatRequest request =
                ChatRequest.builder().messages(user("1"), user(" "), user("2")).build();

        assertThat(keepsake.requestBudget().apply(request, "id")).isSameAs(request);
    }

    @Test
    void a_message_that_is_too_long_by_itself_is_refused_and_the_model_not_asked() {
        Keepsake keepsake = keepsake(TokenLimit.withMaxTokens(100, ESTIMATOR));
        Assistant assistant = services(keepsake).build();

        assertThrown(ContextOverflowException.class, () -> assistant.chat("id", "word ".repeat(200)), "id")
                .hasMessageNotContaining("word word");
        assertThat(sent).isEmpty();
    }

    @Test
    void an_explanation_names_what_is_shown_and_what_is_not_and_why_without_text() {
        Keepsake keepsake = keepsake(SlidingWindow.withMaxMessages(3));
        Assistant assistant = services(keepsake).build();
        assistant.chat("id", "secret one");
        assistant.chat("id", "secret two");

        Explanation explanation = keepsake.conversation("id").explain();
        assertThat(explanation.shown()).extracting(line -> line.type().name()).containsExactly("SYSTEM", "USER", "AI");
        assertThat(explanation.omitted()).extracting(Explanation.Line::reason).containsOnly(Reason.MESSAGE_LIMIT);
        assertThat(explanation.olderUnread()).isFalse();
        assertThat(explanation.tokens()).isPositive();
        assertThat(explanation.toString())
                .contains("id", "3 messages shown", "MESSAGE_LIMIT")
                .doesNotContain("secret", "some answer", "brief");
    }

    private AiServices<Assistant> services(Keepsake keepsake) {
        return services(keepsake, keepsake.requestBudget());
    }

    private AiServices<Assistant> services(Keepsake keepsake, BiFunction<ChatRequest, Object, ChatRequest> budget) {
        return AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .chatRequestTransformer((request, id) -> {
                    ChatRequest fitting = budget.apply(request, id);
                    sent.add(fitting);
                    return fitting;
                });
    }

    private static Keepsake keepsake(ContextStrategy strategy) {
        return Keepsakes.on(new InMemoryMessageLog(), strategy);
    }
}
