package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.WordCounter.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.memory.chat.TokenWindowChatMemory;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.WordCounter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits that a function returns for each memory, as in LangChain4j's windows. */
class DynamicLimitsTest {

    /** A window for a number of messages of ten words, by messages or by tokens. */
    enum Window {
        MESSAGES {
            @Override
            ContextStrategy ours(Function<Object, Integer> messages) {
                return SlidingWindow.withDynamicMaxMessages(messages);
            }

            @Override
            ChatMemory stock(Function<Object, Integer> messages) {
                return MessageWindowChatMemory.builder()
                        .dynamicMaxMessages(messages)
                        .build();
            }
        },
        TOKENS {
            @Override
            ContextStrategy ours(Function<Object, Integer> messages) {
                return TokenLimit.withDynamicMaxTokens(messages.andThen(Window::tokens), new WordCounter());
            }

            @Override
            ChatMemory stock(Function<Object, Integer> messages) {
                return TokenWindowChatMemory.builder()
                        .dynamicMaxTokens(messages.andThen(Window::tokens), new WordCounter())
                        .build();
            }
        };

        abstract ContextStrategy ours(Function<Object, Integer> messages);

        abstract ChatMemory stock(Function<Object, Integer> messages);

        private static Integer tokens(Integer messages) {
            return messages == null || messages < 1
                    ? messages
                    : Integer.valueOf(WordCounter.PER_LIST + 10 * messages + 5);
        }
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void each_memory_has_its_own_limit(Window window) {
        Map<Object, Integer> limits = Map.of("short", 2, "long", 4);
        Keepsake keepsake = keepsake(window.ours(id -> limits.getOrDefault(id, 3)));

        assertThat(shown(keepsake.chatMemory("short"))).containsExactly(message(4), message(5));
        assertThat(shown(keepsake.chatMemory("other"))).containsExactly(message(3), message(4), message(5));
        assertThat(shown(keepsake.chatMemory("long"))).containsExactly(message(2), message(3), message(4), message(5));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void the_function_gets_the_id_as_it_was_given(Window window) {
        Keepsake keepsake = keepsake(window.ours(id -> id.equals(42L) ? 2 : 4));

        assertThat(shown(keepsake.chatMemory(42L))).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void a_cleared_memory_is_empty_whatever_its_limit(Window window) {
        ChatMemory memory = keepsake(window.ours(id -> 2)).chatMemory("alice");
        shown(memory);
        memory.clear();

        assertThat(memory.messages()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void a_lowered_limit_holds_at_the_next_read(Window window) {
        AtomicInteger limit = new AtomicInteger(4);
        ChatMemory memory = keepsake(window.ours(id -> limit.get())).chatMemory("alice");
        assertThat(shown(memory)).hasSize(4);

        limit.set(2);

        assertThat(memory.messages()).containsExactly(message(4), message(5));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_a_raised_limit_shows_what_the_lower_one_hid(Window window) {
        AtomicInteger limit = new AtomicInteger(3);
        ChatMemory stock = window.stock(id -> limit.get());
        shown(stock);
        ChatMemory memory = keepsake(window.ours(id -> limit.get())).chatMemory("alice");
        assertThat(shown(memory)).hasSize(3);

        limit.set(5);
        assertThat(stock.messages()).hasSize(3);
        assertThat(memory.messages()).hasSize(5).startsWith(message(1));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void the_limits_of_a_combination_both_hold(Window window) {
        AtomicInteger limit = new AtomicInteger(4);
        Keepsake keepsake = keepsake(window.ours(id -> limit.get()).and(SlidingWindow.withMaxMessages(3)));
        assertThat(shown(keepsake.chatMemory("alice"))).hasSize(3);

        limit.set(2);

        assertThat(keepsake.chatMemory("alice").messages()).hasSize(2);
        assertThat(keepsake.conversation("alice").messages()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void a_limit_below_one_is_refused_when_it_is_asked_for(int bad) {
        for (Window window : Window.values()) {
            AtomicInteger limit = new AtomicInteger(2);
            ChatMemory memory = keepsake(window.ours(id -> limit.get())).chatMemory("alice");
            shown(memory);
            limit.set(bad);

            assertThatThrownBy(memory::messages).isInstanceOf(InvalidInputException.class);
        }
    }

    private static Keepsake keepsake(ContextStrategy strategy) {
        return Keepsakes.on(new InMemoryMessageLog(), strategy);
    }

    /** Returns the messages that are shown of five. */
    private static List<ChatMessage> shown(ChatMemory memory) {
        Stream.of(1, 2, 3, 4, 5).forEach(number -> memory.add(message(number)));
        return memory.messages();
    }

    private static ChatMessage message(int number) {
        return user(words(String.valueOf(number), 10));
    }
}
