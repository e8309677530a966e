package io.github.keepsake4j.chat.store;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.context.ClearToolResults;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Pinned;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.testing.Dialogue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Sequences of calls that once lost, doubled or misplaced a message, in combinations of strategies, views and earlier
 * lists. Each is named after the condition that must hold.
 */
abstract class SequencesContract {

    private MessageLog log;
    private Keepsake keepsake;
    private KeepsakeChatMemory memory;

    abstract MessageLog newLog() throws Exception;

    /**
     * Returns the step between the tested budgets. Budgets do not depend on the log, so fewer are tried where each call
     * is a request.
     */
    int budgetStride() {
        return 1;
    }

    @BeforeEach
    void open() throws Exception {
        log = newLog();
        use(SlidingWindow.withMaxMessages(100));
    }

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void a_window_of_turns_shows_the_whole_of_a_long_turn() {
        use(SlidingWindow.withMaxTurns(1));
        memory.add(user("0"), ai("0"));
        addLoop("task", 5);
        assertThat(keepsake.conversation("x").messages()).hasSize(11);
    }

    @Test
    void turns_that_are_only_pinned_do_not_count_as_read() {
        use(Pinned.firstMessages(8).and(SlidingWindow.withMaxTurns(2)));
        addTurns(0, 4);
        for (int turn = 0; turn < 3; turn++) {
            addLoop("task " + turn, 5);
            memory.add(ai("done " + turn));
        }
        assertThat(keepsake.conversation("x").messages())
                .contains(user("task 2"))
                .filteredOn(calls("c0")::equals)
                .hasSize(1);
    }

    @Test
    void a_long_turn_whose_user_message_is_pinned_shows_its_newest_rounds() {
        use(Pinned.firstMessages(2).and(SlidingWindow.withMaxMessages(8)));
        memory.add(user("task"));
        for (int round = 0; round < 10; round++) {
            memory.add(calls("c" + round));
            memory.add(result("c" + round));
            List<ChatMessage> read = keepsake.conversation("x").messages();
            assertThat(read).contains(user("task"), calls("c" + round), result("c" + round));
            assertThat(memory.messages()).as("without a read").isEqualTo(read);
        }
    }

    @Test
    void a_long_turn_behind_a_pinned_one_shows_its_newest_rounds() {
        use(Pinned.firstMessages(4).and(SlidingWindow.withMaxMessages(8)));
        addTurns(0, 1);
        addLoop("task", 10);
        assertThat(keepsake.conversation("x").messages())
                .startsWith(user("0"), ai("0"), user("task"))
                .endsWith(calls("c9"), result("c9"));
    }

    @Test
    void a_list_that_ends_in_a_result_behind_another_turn_does_not_bring_that_turn_back() {
        memory.add(user("1"));
        memory.add(calls("a"));
        KeepsakeChatMemory other = keepsake.chatMemory("x");
        other.add(user("2"));
        memory.add(result("a"));
        List<ChatMessage> list = other.messages();
        assertThat(list).containsExactly(user("1"), calls("a"), result("a"), user("2"));

        other.set(with(list.subList(0, 3), ai("new")));

        assertThat(other.messages()).containsExactly(user("1"), calls("a"), result("a"), ai("new"));
        assertThat(history()).hasSize(5);
    }

    /** Returns the list from before a second large result cleared the first. */
    private List<ChatMessage> heldBeforeCleared() {
        use(ClearToolResults.keepNewest(1));
        memory.add(user("1"), calls("a"), large("a"));
        List<ChatMessage> held = memory.messages();
        memory.add(calls("b"));
        memory.add(large("b"));
        return held;
    }

    @Test
    void a_result_held_from_before_it_was_cleared_is_the_same_message() {
        List<ChatMessage> held = heldBeforeCleared();
        List<ChatMessage> now = memory.messages();
        assertThat(now).containsExactly(user("1"), calls("a"), cleared("a"), calls("b"), large("b"));

        memory.set(with(held, now.get(3), now.get(4), ai("2")));

        assertThat(history()).containsExactly(user("1"), calls("a"), large("a"), calls("b"), large("b"), ai("2"));
        assertThat(memory.messages()).isEqualTo(with(now, ai("2")));
    }

    @Test
    void a_list_from_before_a_result_was_cleared_comes_back_in_a_later_turn() {
        use(ClearToolResults.keepNewest(1));
        memory.add(user("1"), calls("a"), large("a"));
        List<ChatMessage> held = memory.messages();
        memory.add(ai("2"));
        memory.add(user("3"), calls("b"), large("b"), ai("4"));
        List<ChatMessage> now = memory.messages();

        memory.set(held);

        assertThat(history()).hasSize(8);
        assertThat(memory.messages()).as("what was added since stays").isEqualTo(now);
    }

    @Test
    void a_marker_that_is_set_where_the_whole_result_is_shown_is_not_a_message() {
        use(ClearToolResults.keepNewest(1));
        memory.add(user("1"), calls("a"), large("a"), calls("b"), large("b"), ai("2"));
        List<ChatMessage> held = memory.messages();
        memory.set(List.of(held.get(0), held.get(1), held.get(2), held.get(5)));
        assertThat(memory.messages()).containsExactly(user("1"), calls("a"), large("a"), ai("2"));

        memory.set(held.subList(0, 3));

        assertThat(history()).hasSize(6).doesNotContain(cleared("a"));
        assertThat(memory.messages()).containsExactly(user("1"), calls("a"), large("a"));
    }

    @Test
    void after_clearing_a_result_is_linked_in_whichever_form_it_is_added() {
        List<ChatMessage> held = heldBeforeCleared();
        memory.add(ai("2"));
        List<ChatMessage> now = memory.messages();
        memory.clear();
        with(held, now.get(3), now.get(4)).forEach(memory::add);
        assertThat(memory.messages()).isEqualTo(now.subList(0, 5));

        memory.set(now.subList(0, 3));
        assertThat(memory.messages()).isEqualTo(held);
        memory.clear();
        now.subList(0, 3).forEach(memory::add);
        assertThat(memory.messages()).isEqualTo(held);
        assertThat(history()).hasSize(6);
    }

    @Test
    void both_forms_of_a_result_in_one_list_are_two_messages() {
        use(ClearToolResults.keepNewest(1));
        memory.add(user("1"), calls("a"), large("a"), calls("b"), large("b"));
        List<ChatMessage> now = memory.messages();
        memory.set(List.of(now.get(0), now.get(1), now.get(2), calls("a"), large("a")));
        assertThat(history()).hasSize(7);
    }

    @Test
    void what_was_shown_before_the_window_slid_is_linked_after_clearing() {
        use(SlidingWindow.withMaxMessages(4));
        addTurns(1, 3);
        List<ChatMessage> held = memory.messages();
        keepsake.chatMemory("x").add(user("3"), ai("3"));
        memory.clear();
        held.forEach(memory::add);
        assertThat(memory.messages()).isEqualTo(held);
        assertThat(history()).hasSize(6);
    }

    @Test
    void what_was_shown_before_a_limit_was_lowered_is_linked_after_clearing() {
        AtomicInteger limit = new AtomicInteger(10);
        use(SlidingWindow.withDynamicMaxMessages(id -> limit.get()));
        addTurns(1, 3);
        List<ChatMessage> held = memory.messages();
        limit.set(2);
        memory.clear();
        held.forEach(memory::add);
        limit.set(10);
        assertThat(memory.messages()).isEqualTo(held);
        assertThat(history()).hasSize(4);
    }

    @Test
    void an_older_list_from_before_an_erasure_is_refused_too() {
        KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
        store.updateMessages("x", List.of(user("secret")));
        List<ChatMessage> held = store.getMessages("x");
        store.getMessages("x");
        keepsake.conversation("x").erase();
        store.getMessages("x");
        assertThatThrownBy(() -> store.updateMessages("x", with(held, ai("2")))).isInstanceOf(ErasedException.class);
        assertThat(history()).isEmpty();
    }

    @Test
    void a_list_from_before_an_erasure_is_refused_as_often_as_it_is_set() {
        KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
        store.updateMessages("x", List.of(user("secret")));
        List<ChatMessage> held = store.getMessages("x");
        keepsake.conversation("x").erase();
        for (int i = 0; i < 3; i++) {
            assertThrown(ErasedException.class, () -> store.updateMessages("x", with(held, ai("2"))));
        }
        assertThat(history()).isEmpty();
        store.updateMessages("x", List.of(user("fresh")));
        assertThat(history()).containsExactly(user("fresh"));
    }

    @Test
    void a_list_that_begins_behind_a_missing_parent_can_be_deleted_and_set_again() {
        KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
        keepsake.conversation("x").importMessage("first", "gone", user("first"), null);
        addTurns(0, 30);
        List<ChatMessage> list = store.getMessages("x");
        store.deleteMessages("x");
        store.updateMessages("x", list.subList(0, 3));
        assertThat(store.getMessages("x")).isEqualTo(list.subList(0, 3));
        assertThat(history()).hasSize(61);
    }

    @Test
    void a_list_that_begins_behind_a_missing_parent_can_be_set_on_another_branch() {
        KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
        keepsake.conversation("x").importMessage("first", "gone", user("first"), null);
        memory.add(ai("2"));
        List<ChatMessage> held = store.getMessages("x");
        keepsake.conversation("x").append(Parent.root(), "root", user("root"));
        store.getMessages("x");
        store.updateMessages("x", with(held, ai("new")));
        assertThat(store.getMessages("x")).isEqualTo(with(held, ai("new"), user("root")));
    }

    @Test
    void a_pinned_message_behind_a_missing_parent_can_be_set_and_cleared() {
        use(Pinned.firstMessages(2).and(SlidingWindow.withMaxMessages(6)));
        keepsake.conversation("x").importMessage("first", "gone", user("first"), null);
        memory.add(ai("first"));
        addTurns(0, 8);
        List<ChatMessage> list = memory.messages();
        list.subList(2, 4).clear();
        memory.set(list);
        assertThat(memory.messages()).isEqualTo(list);
        memory.clear();
        memory.add(list.get(0), list.get(1));
        assertThat(memory.messages()).isEqualTo(list.subList(0, 2));
        assertThat(history()).hasSize(18);
    }

    @Test
    void a_request_over_its_budget_gets_nothing_that_was_not_in_it() {
        for (int max = 5; max < 12; max += budgetStride()) {
            for (int first = 1; first < 9; first++) {
                for (int step = 0; step < 3; step++) {
                    checkBudget(max, first, step);
                }
            }
        }
    }

    private void checkBudget(int max, int first, int step) {
        String id = max + "-" + first + "-" + step;
        SlidingWindow window = SlidingWindow.withMaxMessages(max);
        use(Pinned.firstMessages(first).and(step == 0 ? window : window.step(step)));
        KeepsakeChatMemory other = keepsake.chatMemory(id);
        if (step == 1) {
            other.add(SystemMessage.from("s"));
        }
        for (int turn = 0; turn < 8; turn++) {
            other.add(user("" + turn), ai("" + turn));
        }
        List<ChatMessage> shown = other.messages();
        List<ChatMessage> asked = with(shown, user("new"));

        List<ChatMessage> sent = keepsake.requestBudget()
                .apply(ChatRequest.builder().messages(asked).build(), id)
                .messages();

        assertThat(asked).as(id).containsSubsequence(sent);
        assertThat(sent).as(id).endsWith(user("new")).hasSizeLessThanOrEqualTo(max);
        assertThat(sent.contains(user("0"))).as(id).isEqualTo(shown.contains(user("0")));
    }

    @Test
    void pinned_messages_are_those_that_a_view_begins_with() {
        use(Pinned.firstMessages(2).and(SlidingWindow.withMaxMessages(6)));
        addTurns(0, 8);
        List<ChatMessage> list = memory.messages();
        assertThat(list).containsExactly(user("0"), ai("0"), user("6"), ai("6"), user("7"), ai("7"));
        memory.set(list);
        list.subList(2, 4).clear();
        memory.set(list);
        addTurns(8, 10);
        List<ChatMessage> now = memory.messages();
        assertThat(now).containsExactly(user("0"), ai("0"), user("8"), ai("8"), user("9"), ai("9"));
        memory.clear();
        now.forEach(memory::add);
        assertThat(memory.messages()).isEqualTo(now);
        assertThat(history()).hasSize(20);
        memory.clear();
        addTurns(20, 28);
        assertThat(memory.messages()).containsExactly(user("20"), ai("20"), user("26"), ai("26"), user("27"), ai("27"));
    }

    private void use(ContextStrategy strategy) {
        keepsake = Keepsake.builder().messageLog(log).strategy(strategy).build();
        memory = keepsake.chatMemory("x");
    }

    private void addTurns(int from, int to) {
        for (int turn = from; turn < to; turn++) {
            memory.add(user("" + turn), ai("" + turn));
        }
    }

    private void addLoop(String task, int rounds) {
        memory.add(user(task));
        for (int round = 0; round < rounds; round++) {
            memory.add(calls("c" + round));
            memory.add(result("c" + round));
        }
    }

    private List<ChatMessage> history() {
        return Dialogue.history(keepsake.conversation("x"));
    }

    private static ToolExecutionResultMessage large(String id) {
        return ToolExecutionResultMessage.from(id, "tool", "many words ".repeat(40) + id);
    }

    private static ToolExecutionResultMessage cleared(String id) {
        return ToolExecutionResultMessage.from(id, "tool", ClearToolResults.MARKER);
    }

    private static List<ChatMessage> with(List<ChatMessage> list, ChatMessage... more) {
        List<ChatMessage> all = new ArrayList<>(list);
        all.addAll(List.of(more));
        return all;
    }
}
