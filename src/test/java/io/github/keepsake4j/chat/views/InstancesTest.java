package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.history;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.WatchedLog;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;

/** A list never stores a message twice while its caller holds the instances that it received. */
class InstancesTest {

    private Home.Storage storage;
    private MessageLog log;
    private Keepsake keepsake;
    private KeepsakeChatMemory memory;

    private void open(Home home) throws Exception {
        storage = home.storage();
        log = storage.open();
        keepsake = Keepsakes.on(log, SlidingWindow.withMaxMessages(100));
        memory = keepsake.chatMemory("x");
    }

    @AfterEach
    void close() {
        log.close();
        storage.close();
    }

    /** Sets a list from before something else was done with the memory, longer by a message. */
    private void setsHeldList(Home home, Runnable meanwhile, ChatMessage... shown) throws Exception {
        open(home);
        memory.add(user("1"), user("2"), user("3"), user("4"));
        List<ChatMessage> held = memory.messages();
        meanwhile.run();
        assertThat(memory.messages()).containsExactly(shown);

        memory.set(with(held, user("new")));

        assertThat(history(keepsake.conversation("x"))).isEqualTo(with(held, user("new")));
        assertThat(memory.messages()).isEqualTo(with(held, user("new")));
    }

    @ParameterizedTest
    @Homes
    void a_held_list_is_known_after_another_memory_cleared_and_this_one_read(Home home) throws Exception {
        setsHeldList(home, () -> keepsake.chatMemory("x").clear());
    }

    @ParameterizedTest
    @Homes
    void a_held_list_is_known_after_another_memory_shortened_it(Home home) throws Exception {
        setsHeldList(home, () -> keepsake.chatMemory("x").set(memory.messages().subList(1, 2)), user("2"));
    }

    @ParameterizedTest
    @Homes
    void a_held_list_is_known_after_a_switch_to_another_branch(Home home) throws Exception {
        setsHeldList(
                home,
                () -> keepsake.conversation("x")
                        .switchTo(keepsake.conversation("x")
                                .branch(9)
                                .messages()
                                .get(1)
                                .id()),
                user("1"),
                user("2"));
    }

    @ParameterizedTest
    @Homes
    void a_message_of_a_list_is_shown_once_on_a_branch_that_has_it_too(Home home) throws Exception {
        open(home);
        memory.add(user("1"), user("2"), user("3"), user("4"));
        List<ChatMessage> held = memory.messages();
        Conversation conversation = keepsake.conversation("x");
        List<LoggedMessage> branch = conversation.branch(9).messages();
        conversation.switchTo(branch.get(0).id());
        memory.set(List.of(held.get(1), held.get(2)));
        assertThat(memory.messages()).containsExactly(user("2"), user("3"));

        conversation.switchTo(branch.get(3).id());

        assertThat(memory.messages()).containsExactly(user("2"), user("3"), user("4"));
    }

    /** AiServices share one memory object between threads, and each thread holds its own list. */
    @ParameterizedTest
    @Homes
    void two_threads_on_one_memory_object_drop_nothing_of_each_other(Home home) throws Exception {
        open(home);
        memory.add(user("1"), user("2"));
        List<ChatMessage> first = memory.messages();
        List<ChatMessage> second = memory.messages();
        memory.set(with(second, user("of the second")));
        memory.messages();
        memory.set(with(first, user("of the first")));

        assertThat(memory.messages())
                .containsExactly(user("1"), user("2"), user("of the first"), user("of the second"));
        memory.set(with(second, user("again of the second")));
        assertThat(history(keepsake.conversation("x"))).hasSize(5).doesNotHaveDuplicates();
        assertThat(memory.messages()).contains(user("of the first"), user("again of the second"));
    }

    @ParameterizedTest
    @Homes
    void one_instance_may_be_in_two_memories(Home home) throws Exception {
        open(home);
        KeepsakeChatMemory other = keepsake.chatMemory("y");
        memory.add(user("1"), user("2"));
        List<ChatMessage> held = memory.messages();

        other.set(held);
        List<ChatMessage> ofOther = other.messages();
        other.set(with(held, user("3")));
        memory.set(with(held, user("4")));
        other.clear();
        held.forEach(other::add);

        assertThat(history(keepsake.conversation("x"))).containsExactly(user("1"), user("2"), user("4"));
        assertThat(memory.messages()).containsExactly(user("1"), user("2"), user("4"));
        memory.set(with(ofOther, user("5")));
        assertThat(memory.messages()).contains(user("5"));
        assertThat(other.messages()).containsExactly(user("1"), user("2"));
    }

    @ParameterizedTest
    @Homes
    void a_constant_that_is_added_in_two_turns_is_two_messages(Home home) throws Exception {
        open(home);
        UserMessage yes = user("yes");
        memory.add(yes);
        memory.add(ai("1"));
        memory.messages();
        memory.add(yes);
        memory.add(ai("2"));
        memory.set(with(memory.messages(), yes));
        memory.set(with(memory.messages(), ai("3"), yes));

        assertThat(history(keepsake.conversation("x"))).containsExactly(yes, ai("1"), yes, ai("2"), yes, ai("3"), yes);
    }

    @ParameterizedTest
    @Homes
    void a_constant_that_a_stock_window_sends_again_is_a_new_message(Home home) throws Exception {
        open(home);
        UserMessage yes = user("yes");
        KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
        for (int turn = 0; turn < 4; turn++) {
            // A window of two messages sends the messages that it read, then the constant, then the answer.
            store.updateMessages("x", newest(with(store.getMessages("x"), yes)));
            store.updateMessages("x", newest(with(store.getMessages("x"), ai("answer " + turn))));
        }
        assertThat(history(keepsake.conversation("x")))
                .hasSize(8)
                .filteredOn(yes::equals)
                .hasSize(4);
    }

    private static List<ChatMessage> newest(List<ChatMessage> list) {
        return list.subList(Math.max(0, list.size() - 2), list.size());
    }

    /** A caller that never reads again keeps its own list and sends all of it each time. */
    @ParameterizedTest
    @Homes
    void a_list_that_its_caller_keeps_is_stored_once(Home home) throws Exception {
        open(home);
        memory.add(user("1"), user("2"));
        List<ChatMessage> kept = memory.messages();
        for (int i = 0; i < 5; i++) {
            kept.add(user("new " + i));
            memory.set(kept);
            keepsake.chatMemoryStore().updateMessages("x", kept);
        }
        kept.remove(3);
        memory.set(kept);
        assertThat(memory.messages()).isEqualTo(kept);
        assertThat(history(keepsake.conversation("x"))).hasSize(7).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @Homes
    void a_constant_begins_an_erased_memory_anew_and_a_list_from_before_is_refused(Home home) throws Exception {
        open(home);
        KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
        UserMessage yes = user("yes");
        store.updateMessages("x", List.of(yes));
        store.updateMessages("x", with(store.getMessages("x"), user("secret"), yes));
        List<ChatMessage> held = store.getMessages("x");
        keepsake.conversation("x").erase();

        assertThatThrownBy(() -> store.updateMessages("x", held)).isInstanceOf(ErasedException.class);
        store.updateMessages("x", List.of(yes));
        assertThatThrownBy(() -> store.updateMessages("x", with(held, yes))).isInstanceOf(ErasedException.class);

        assertThat(history(keepsake.conversation("x"))).containsExactly(yes);
    }

    @ParameterizedTest
    @Homes
    void instances_that_are_sent_again_after_a_lost_answer_keep_their_ids(Home home) throws Exception {
        open(home);
        WatchedLog watched = new WatchedLog(log);
        KeepsakeChatMemory retried =
                Keepsakes.on(watched.log(), SlidingWindow.withMaxMessages(100)).chatMemory("x");
        retried.add(user("1"), user("2"));
        List<ChatMessage> list = retried.messages();
        list.remove(0);
        list.add(user("3"));
        watched.loseAnswer("append");
        assertThatThrownBy(() -> retried.set(list)).isInstanceOf(StorageUnavailableException.class);
        keepsake.chatMemory("x").add(user("another"));
        retried.set(list);

        assertThat(history(keepsake.conversation("x")))
                .containsExactly(user("1"), user("2"), user("3"), user("another"));
        assertThat(retried.messages()).containsExactly(user("2"), user("3"), user("another"));
    }

    @ParameterizedTest
    @Homes
    void reading_runs_the_strategy_once(Home home) throws Exception {
        open(home);
        AtomicInteger selections = new AtomicInteger();
        ContextStrategy counting = context -> {
            selections.incrementAndGet();
            return context;
        };
        KeepsakeChatMemory counted =
                Keepsake.builder().messageLog(log).strategy(counting).build().chatMemory("x");
        counted.add(user("1"));
        selections.set(0);
        for (int i = 1; i < 4; i++) {
            counted.messages();
            assertThat(selections).hasValue(i);
        }
        counted.set(with(counted.messages(), user("2")));
        assertThat(selections).as("a list whose instances are known").hasValue(4);
    }

    private static List<ChatMessage> with(List<ChatMessage> list, ChatMessage... more) {
        List<ChatMessage> all = new ArrayList<>(list);
        all.addAll(List.of(more));
        return all;
    }
}
