package io.github.keepsake4j.chat;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Logged;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a model would see with another strategy than the one in use. */
class OtherStrategyTest {

    private final WatchedLog log = new WatchedLog(new InMemoryMessageLog());
    private final AtomicInteger summarized = new AtomicInteger();
    private final Keepsake keepsake = Keepsake.builder()
            .messageLog(log.log())
            .strategy(SlidingWindow.withMaxMessages(4).and(Summarization.triggerMessages(1_000)))
            .summarizer((@Nullable String previous, List<ChatMessage> messages) -> "S" + summarized.incrementAndGet())
            .executor(Runnable::run)
            .build();
    private final Conversation conversation = keepsake.conversation("id");

    @BeforeEach
    void talk() {
        for (int i = 0; i < 10; i++) {
            keepsake.chatMemory("id").add(user("q" + i), ai("a" + i));
        }
        log.calls().clear();
        summarized.set(0);
    }

    @Test
    void a_strategy_that_returns_nothing_is_named() {
        ContextStrategy nothing = context -> null;
        for (ContextStrategy each : List.of(nothing, nothing.and(SlidingWindow.withMaxMessages(5)))) {
            assertThatThrownBy(
                            () -> Keepsakes.on(log.log(), each).chatMemory("id").messages())
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessage("result of the strategy: must not be null");
        }
        assertThatThrownBy(() -> conversation.describe("a", null)).hasMessage("metadata: must not be null");
        assertThatThrownBy(() -> keepsake.conversations(null)).hasMessage("query: must not be null");
        assertThatThrownBy(() -> conversation.append(Parent.head(), "x", null))
                .isInstanceOf(InvalidInputException.class)
                .hasMessage("message: must not be null");
        assertThatThrownBy(() -> conversation.edit("x", null, asked -> asked)).hasMessage("message: must not be null");
        assertThatThrownBy(() -> conversation.importMessage("x", null, null, null))
                .hasMessage("message: must not be null");
        assertThatThrownBy(() -> keepsake.chatMemory("id").set(Arrays.asList(user("q"), null)))
                .hasMessage("messages[1]: must not be null");
    }

    /** Otherwise a limit would hide nothing. */
    @Test
    void a_counter_that_returns_a_negative_number_is_not_used() {
        TokenCounter wrong = TokenCounter.named("wrong", new TokenCountEstimator() {
            @Override
            public int estimateTokenCountInText(String text) {
                return -7;
            }

            @Override
            public int estimateTokenCountInMessage(ChatMessage message) {
                return -7;
            }

            @Override
            public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
                return -7;
            }
        });
        assertThat(Logged.during(
                        () -> assertThat(wrong.count(user("two bees")).tokens()).isPositive()))
                .singleElement()
                .asString()
                .contains("WARN", "The counter wrong cannot count USER (tokens: must be 0 or more, are -7)");
        assertThat(conversation.explain(TokenLimit.withMaxTokens(10, wrong)).shown())
                .hasSizeLessThan(5);
    }

    @Test
    void another_window_shows_more_or_less_and_only_reads() {
        for (int size : new int[] {2, 6, 20, 2}) {
            SlidingWindow window = SlidingWindow.withMaxMessages(size);
            assertThat(conversation.explain(window).shown()).hasSize(size);
            assertThat(conversation.context(window).shown()).hasSize(size);
        }
        assertThat(conversation.explain(SlidingWindow.withMaxMessages(2)).omitted())
                .isNotEmpty()
                .allMatch(line -> line.reason() == Reason.MESSAGE_LIMIT);
        assertThat(conversation.explain().shown()).hasSize(4);

        assertThat(Set.copyOf(log.calls())).isSubsetOf("read", "capabilities");
        assertThat(summarized).hasValue(0);
    }

    @Test
    void the_limit_that_removes_a_message_is_its_reason_in_any_order() {
        SlidingWindow window = SlidingWindow.withMaxMessages(4);
        TokenLimit tokens = TokenLimit.withMaxTokens(8_000, TokenCounter.standard());
        for (ContextStrategy both : List.of(window.and(tokens), tokens.and(window))) {
            assertThat(conversation.explain(both).omitted())
                    .isNotEmpty()
                    .allMatch(line -> line.reason() == Reason.MESSAGE_LIMIT);
        }
    }

    @Test
    void a_summary_is_not_made_but_its_last_message_is_named() {
        Summarization often = Summarization.triggerMessages(6).keepMessages(2);
        Context context = conversation.context(often);

        // Until the summary is there, up to twice the trigger stays in view.
        assertThat(context.shown()).hasSize(12);
        String last = conversation.branch(3).messages().get(0).id();
        assertThat(often.foldUpTo(context)).contains(last);
        assertThat(summarized).hasValue(0);
        assertThat(conversation.explain(often).shown()).hasSize(12);
        assertThat(conversation.summaries()).isEmpty();
    }
}
