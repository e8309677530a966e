package io.github.keepsake4j.chat.store;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static io.github.keepsake4j.testing.WordCounter.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.memory.chat.TokenWindowChatMemory;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.TenEach;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.testing.WordCounter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The documented behaviours of {@code MessageWindowChatMemory} and {@code TokenWindowChatMemory}, tested on a memory of
 * this library with the same limit. Intended differences have names that begin with {@code unlike_stock}. These tests
 * check the stock memory too, and decision 009 gives the reasons.
 */
class StockWindowBehavioursTest {

    private static final SystemMessage SYSTEM = SystemMessage.from("Be brief");
    private static final SystemMessage OTHER_SYSTEM = SystemMessage.from("Be long");

    private final AtomicInteger appends = new AtomicInteger();
    private final AtomicInteger reads = new AtomicInteger();
    private final MessageLog log = counting(new InMemoryMessageLog());
    private Keepsake keepsake;

    /** A window for a number of messages, by messages or by tokens. */
    enum Window {
        MESSAGES {
            @Override
            ContextStrategy ours(int messages) {
                return SlidingWindow.withMaxMessages(messages);
            }

            @Override
            ChatMemory stock(int messages) {
                return MessageWindowChatMemory.withMaxMessages(messages);
            }
        },
        TOKENS {
            @Override
            ContextStrategy ours(int messages) {
                return TokenLimit.withMaxTokens(TenEach.tokens(messages), new TenEach());
            }

            @Override
            ChatMemory stock(int messages) {
                return TokenWindowChatMemory.withMaxTokens(TenEach.tokens(messages), new TenEach());
            }
        };

        abstract ContextStrategy ours(int messages);

        /** Returns what is shown of a turn that is over and too large: of tokens, a quarter of the limit at most. */
        List<ChatMessage> passedBy(ChatMessage question, ChatMessage answer) {
            return this == MESSAGES ? List.of(question, answer) : List.of();
        }

        abstract ChatMemory stock(int messages);
    }

    @AfterEach
    void close() {
        log.close();
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void the_id_is_the_one_that_was_given(Window window) {
        assertThat(ours(window.ours(1)).id()).isEqualTo("alice");
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_there_is_no_default_id_that_users_would_share(Window window) {
        assertThat(window.stock(1).id()).isEqualTo("default");
        ours(window.ours(1));
        assertThrown(InvalidInputException.class, () -> keepsake.chatMemory("default"), "@MemoryId");
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void the_oldest_leaves_when_there_is_one_too_many(Window window) {
        ChatMemory memory = ours(window.ours(2));
        memory.add(user("hello"));
        memory.add(user("world"));
        assertThat(memory.messages()).containsExactly(user("hello"), user("world"));

        memory.add(user("banana"));

        assertThat(memory.messages()).containsExactly(user("world"), user("banana"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void a_second_clear_changes_nothing(Window window) {
        ChatMemory memory = ours(window.ours(2));
        memory.add(user("hello"), ai("hi"));
        memory.clear();
        memory.clear();

        assertThat(memory.messages()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void as_many_messages_are_shown_as_fit(Window window) {
        ChatMemory memory = ours(window.ours(3));
        memory.add(user("1"));
        assertThat(memory.messages()).containsExactly(user("1"));
        memory.add(ai("2"));
        assertThat(memory.messages()).containsExactly(user("1"), ai("2"));
        memory.add(user("3"));
        assertThat(memory.messages()).containsExactly(user("1"), ai("2"), user("3"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_an_answer_leaves_with_its_question_and_the_log_keeps_both(Window window) {
        ChatMessage[] turns = {user("1"), ai("2"), user("3"), ai("4")};

        assertThat(stock(window, 3, turns)).containsExactly(ai("2"), user("3"), ai("4"));
        assertThat(shown(window, 3, turns)).containsExactly(user("3"), ai("4"));
        assertThat(history()).containsExactly(turns);
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void the_system_message_never_leaves(Window window) {
        assertThat(shown(window, 3, SYSTEM, user("1"), ai("2"))).containsExactly(SYSTEM, user("1"), ai("2"));
        assertThat(shown(window, 3, SYSTEM, user("1"), ai("2"), user("3"), ai("4")))
                .containsExactly(SYSTEM, user("3"), ai("4"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_the_user_is_first_behind_the_system_message(Window window) {
        ChatMessage[] open = {SYSTEM, user("1"), ai("2"), user("3")};

        assertThat(stock(window, 3, open)).containsExactly(SYSTEM, ai("2"), user("3"));
        assertThat(shown(window, 3, open)).containsExactly(SYSTEM, user("3"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_a_changed_system_message_is_first(Window window) {
        ChatMessage[] changed = {SYSTEM, user("1"), ai("2"), OTHER_SYSTEM};

        assertThat(stock(window, 3, changed)).containsExactly(user("1"), ai("2"), OTHER_SYSTEM);
        assertThat(shown(window, 3, changed)).containsExactly(OTHER_SYSTEM, user("1"), ai("2"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void an_equal_system_message_is_ignored(Window window) {
        assertThat(shown(window, 3, SYSTEM, user("1"), ai("2"), SYSTEM)).containsExactly(SYSTEM, user("1"), ai("2"));
        assertThat(history()).containsExactly(SYSTEM, user("1"), ai("2"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void a_system_message_that_is_added_later_is_first_as_with_the_stock_switch(Window window) {
        assertThat(shown(window, 5, SYSTEM, user("1"), ai("2"))).containsExactly(SYSTEM, user("1"), ai("2"));
        assertThat(shown(window, 5, user("1"), SYSTEM, ai("2"))).containsExactly(SYSTEM, user("1"), ai("2"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_a_system_message_is_first_without_a_switch(Window window) {
        assertThat(stock(window, 5, user("1"), SYSTEM, ai("2"))).containsExactly(user("1"), SYSTEM, ai("2"));
        assertThat(shown(window, 5, user("1"), SYSTEM, ai("2"))).containsExactly(SYSTEM, user("1"), ai("2"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void the_system_message_stays_first_when_others_leave(Window window) {
        assertThat(shown(window, 3, SYSTEM, user("1"), user("2"))).containsExactly(SYSTEM, user("1"), user("2"));
        assertThat(shown(window, 3, SYSTEM, user("1"), user("2"), user("3")))
                .containsExactly(SYSTEM, user("2"), user("3"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void results_leave_with_their_calls(Window window) {
        ChatMessage[] turn = {user("1"), calls("a"), result("a"), ai("2")};

        assertThat(shown(window, 4, turn)).containsExactly(turn);
        assertThat(shown(window, 3, turn)).doesNotContain(calls("a"), result("a"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_the_question_stays_when_its_tool_round_leaves(Window window) {
        ChatMessage[] turn = {user("1"), calls("a"), result("a"), ai("2")};

        assertThat(stock(window, 2, turn)).containsExactly(ai("2"));
        assertThat(shown(window, 2, turn)).isEqualTo(window.passedBy(user("1"), ai("2")));
        assertThat(shown(window, 8, turn)).containsExactly(turn);
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_a_running_turn_without_room_for_its_question_is_an_error(Window window) {
        ChatMessage[] running = {user("1"), calls("a"), result("a")};

        assertThat(stock(window, 2, running)).containsExactly(calls("a"), result("a"));
        assertThatThrownBy(() -> shown(window, 2, running)).isInstanceOf(ContextOverflowException.class);
        assertThat(history()).containsExactly(running);
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_the_question_stays_beside_a_system_message_too(Window window) {
        ChatMessage[] turn = {SYSTEM, user("1"), calls("a"), result("a"), ai("2")};

        assertThat(stock(window, 3, turn)).containsExactly(SYSTEM, ai("2"));
        assertThat(shown(window, 3, turn))
                .startsWith(SYSTEM)
                .endsWith(window.passedBy(user("1"), ai("2")).toArray(ChatMessage[]::new));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_a_running_turn_beside_a_system_message_that_fills_the_window_is_an_error(Window window) {
        ChatMessage[] running = {SYSTEM, user("1"), calls("a"), result("a")};

        assertThat(stock(window, 2, running)).containsExactly(SYSTEM);
        assertThatThrownBy(() -> shown(window, 2, running)).isInstanceOf(ContextOverflowException.class);
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_a_turn_that_ended_and_has_no_room_leaves_as_a_whole(Window window) {
        ChatMessage[] ended = {SYSTEM, user("1"), calls("a"), result("a"), ai("2")};

        assertThat(stock(window, 2, ended)).containsExactly(SYSTEM, ai("2"));
        assertThat(shown(window, 2, ended)).containsExactly(SYSTEM);
        assertThat(history()).containsExactly(ended);
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void all_results_of_parallel_calls_leave_with_them(Window window) {
        ChatMessage[] turn = {user("1"), calls("a", "b"), result("a"), result("b"), ai("2")};

        assertThat(stock(window, 3, turn)).containsExactly(ai("2"));
        assertThat(shown(window, 3, turn)).isEqualTo(window.passedBy(user("1"), ai("2")));
        ChatMessage[] withSystem = {SYSTEM, user("1"), calls("a", "b"), result("a"), result("b"), ai("2")};
        assertThat(stock(window, 4, withSystem)).containsExactly(SYSTEM, ai("2"));
        assertThat(shown(window, 4, withSystem))
                .startsWith(SYSTEM)
                .endsWith(window.passedBy(user("1"), ai("2")).toArray(ChatMessage[]::new));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_calls_are_not_shown_before_their_last_result(Window window) {
        ChatMessage[] running = {user("1"), calls("a", "b"), result("a")};

        assertThat(stock(window, 10, running)).containsExactly(running);
        ChatMemory memory = ours(window.ours(10));
        memory.add(running);
        assertThat(memory.messages()).containsExactly(user("1"));
        memory.add(result("b"));
        assertThat(memory.messages()).containsExactly(user("1"), calls("a", "b"), result("a"), result("b"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_calls_that_died_are_hidden_and_kept(Window window) {
        ChatMessage[] died = {user("1"), calls("a", "b"), result("a"), user("2")};

        assertThat(stock(window, 10, died)).containsExactly(died);
        assertThat(shown(window, 10, died)).containsExactly(user("1"), user("2"));
        assertThat(history()).containsExactly(died);
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_a_result_without_its_call_is_hidden_and_kept(Window window) {
        ChatMessage[] orphan = {user("1"), result("lost"), ai("2")};

        assertThat(stock(window, 10, orphan)).containsExactly(orphan);
        assertThat(shown(window, 10, orphan)).containsExactly(user("1"), ai("2"));
        assertThat(history()).containsExactly(orphan);
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_messages_before_the_first_question_are_hidden_and_kept(Window window) {
        ChatMessage[] greeted = {ai("hello"), user("1"), ai("2")};

        assertThat(stock(window, 10, greeted)).containsExactly(greeted);
        assertThat(shown(window, 10, greeted)).containsExactly(user("1"), ai("2"));
        assertThat(history()).containsExactly(greeted);
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void a_running_tool_round_survives_adds_of_every_kind(Window window) {
        ChatMemory memory = ours(window.ours(10));
        memory.add(SYSTEM);
        memory.add(user("1"), calls("a", "b", "c"));
        memory.add(result("a"));
        ((KeepsakeChatMemory) memory).addAsync(List.of(SYSTEM, result("b"))).join();
        memory.add(List.of(result("c")));

        assertThat(memory.messages())
                .containsExactly(SYSTEM, user("1"), calls("a", "b", "c"), result("a"), result("b"), result("c"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void a_list_of_messages_costs_one_write_and_setting_them_another(Window window) {
        ChatMemory memory = ours(window.ours(3));
        memory.add(user("1"), ai("2"), ai("3"));
        assertThat(appends).hasValue(1);
        assertThat(reads).hasValue(0);

        memory.messages();
        assertThat(appends).hasValue(1);
        assertThat(reads).hasValue(1);

        memory.set(user("4"), ai("5"));
        assertThat(appends).hasValue(2);
        assertThat(memory.messages()).containsExactly(user("4"), ai("5"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_adding_a_list_is_all_or_nothing(Window window) {
        Iterable<ChatMessage> broken = () -> Stream.of(1, 0)
                .<ChatMessage>map(number -> user("one of " + 1 / number))
                .iterator();

        ChatMemory stock = window.stock(3);
        assertThatThrownBy(() -> stock.add(broken)).isInstanceOf(ArithmeticException.class);
        assertThat(stock.messages()).hasSize(1);
        ChatMemory memory = ours(window.ours(3));
        assertThatThrownBy(() -> memory.add(broken)).isInstanceOf(ArithmeticException.class);
        assertThat(memory.messages()).isEmpty();
        assertThat(history()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void a_list_of_fixed_size_can_be_set_though_it_is_over_the_limit(Window window) {
        ChatMemory memory = ours(window.ours(2));
        memory.set(user("1"), user("2"), user("3"));

        assertThat(memory.messages()).containsExactly(user("2"), user("3"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void a_list_that_is_set_stays_its_makers(Window window) {
        ChatMemory memory = ours(window.ours(2));
        List<ChatMessage> list = new ArrayList<>(List.of(user("1"), user("2"), user("3")));
        memory.set(list);
        assertThat(list).containsExactly(user("1"), user("2"), user("3"));
        assertThat(memory.messages()).containsExactly(user("2"), user("3"));

        list.add(user("injected"));

        assertThat(memory.messages()).containsExactly(user("2"), user("3"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_set_and_clear_forget_nothing(Window window) {
        ChatMemory memory = ours(window.ours(4));
        memory.add(user("1"), ai("2"));
        memory.set(user("3"), ai("4"));
        assertThat(memory.messages()).containsExactly(user("3"), ai("4"));
        memory.clear();
        assertThat(memory.messages()).isEmpty();

        assertThat(history()).containsExactly(user("1"), ai("2"), user("3"), ai("4"));
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_a_question_that_is_repeated_without_an_answer_is_shown_once(Window window) {
        ChatMessage[] asked = {user("1"), user("1"), user("2"), user("1")};

        assertThat(stock(window, 8, asked)).containsExactly(asked);
        assertThat(shown(window, 8, asked)).containsExactly(user("1"), user("2"), user("1"));
        assertThat(history()).containsExactly(asked);
    }

    @ParameterizedTest
    @EnumSource(Window.class)
    void unlike_stock_calls_without_room_for_their_results_are_an_error_before_the_tools_run(Window window) {
        ChatMemory stock = window.stock(2);
        ChatMemory memory = ours(window.ours(2));
        for (ChatMemory each : List.of(stock, memory)) {
            each.add(user("1"));
            assertThat(each.messages()).containsExactly(user("1"));
        }

        assertThatCode(() -> stock.add(calls("a"))).doesNotThrowAnyException();
        assertThatThrownBy(() -> memory.add(calls("a"))).isInstanceOf(ContextOverflowException.class);
        assertThat(history()).containsExactly(user("1"), calls("a"));
    }

    @Test
    void unlike_stock_of_two_updates_at_once_neither_replaces_the_other() {
        ours(SlidingWindow.withMaxMessages(2));
        for (ChatMemoryStore store : List.of(new InMemoryChatMemoryStore(), keepsake.chatMemoryStore())) {
            store.updateMessages("bob", List.of(user("1"), ai("2")));
            List<ChatMessage> one = new ArrayList<>(store.getMessages("bob"));
            List<ChatMessage> other = new ArrayList<>(store.getMessages("bob"));
            one.add(user("3"));
            other.add(user("4"));
            store.updateMessages("bob", one);
            store.updateMessages("bob", other);

            boolean stock = store instanceof InMemoryChatMemoryStore;
            assertThat(store.getMessages("bob"))
                    .containsExactlyInAnyOrderElementsOf(
                            stock ? other : List.of(user("1"), ai("2"), user("3"), user("4")));
        }
    }

    @Test
    void unlike_stock_a_question_over_the_limit_is_an_error_while_it_runs_and_leaves_when_it_ended() {
        ChatMemory stock = TokenWindowChatMemory.withMaxTokens(5, new WordCounter());
        stock.add(user(words("long", 25)));
        assertThat(stock.messages()).isEmpty();

        ChatMemory memory = ours(TokenLimit.withMaxTokens(5, new WordCounter()));
        for (int turn = 0; turn < 2; turn++) {
            assertThatCode(() -> memory.add(user(words("long", 25)))).doesNotThrowAnyException();
            assertThatThrownBy(memory::messages).isInstanceOf(ContextOverflowException.class);
            memory.add(ai(words("answer", 10)));
            assertThat(memory.messages()).isEmpty();
        }
        assertThat(history()).hasSize(4);
    }

    @Test
    void unlike_stock_a_system_message_over_the_limit_is_an_error_when_it_is_read() {
        SystemMessage large = SystemMessage.from(words("rule", 10));
        ChatMemory stock = TokenWindowChatMemory.withMaxTokens(5, new WordCounter());
        stock.add(large);
        assertThat(stock.messages()).containsExactly(large);

        ChatMemory memory = ours(TokenLimit.withMaxTokens(5, new WordCounter()));
        assertThatCode(() -> memory.add(large)).doesNotThrowAnyException();
        assertThatThrownBy(memory::messages).isInstanceOf(ContextOverflowException.class);
    }

    private ChatMemory ours(ContextStrategy strategy) {
        // Each memory of a test is a new one.
        keepsake = Keepsake.builder().messageLog(log).strategy(strategy).build();
        keepsake.conversation("alice").erase();
        appends.set(0);
        reads.set(0);
        return keepsake.chatMemory("alice");
    }

    private List<ChatMessage> shown(Window window, int limit, ChatMessage... messages) {
        ChatMemory memory = ours(window.ours(limit));
        for (ChatMessage message : messages) {
            memory.add(message);
        }
        return memory.messages();
    }

    private static List<ChatMessage> stock(Window window, int limit, ChatMessage... messages) {
        ChatMemory memory = window.stock(limit);
        for (ChatMessage message : messages) {
            memory.add(message);
        }
        return memory.messages();
    }

    private List<ChatMessage> history() {
        return Dialogue.history(keepsake.conversation("alice"));
    }

    private MessageLog counting(MessageLog counted) {
        return Watched.log(counted, call -> {
            if (call.name().equals("append")) {
                appends.incrementAndGet();
            } else if (call.name().equals("read")) {
                reads.incrementAndGet();
            }
            return call.proceed();
        });
    }
}
